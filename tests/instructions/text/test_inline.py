"""Imports in place of their tokens: what is a token, what is code, what stays."""

import re

import pytest
from hypothesis import given, strategies as st

import foretold
from foretold.compat import mink
from foretold.instructions.text.inline import MOST, _Spans, marks_of
from foretold.storage.tree import Disk


def paths(text):
    return [mark.path for mark in marks_of(text)[0] if mark.path]


def comments(text):
    return [text[mark.start : mark.end] for mark in marks_of(text)[0] if not mark.path]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@a.md", ["a.md"]),
        ("x @a.md y\n@./b\t@~/c @/d @_e @-f @9", ["a.md", "./b", "~/c", "/d", "_e", "-f", "9"]),
        ("me@example.com (@a.md) x@b", []),
        ("@ @@a @!a @#a @é", []),
        ("@a.md, @b.md. @c.md) @d.md]} @e.md;:", ["a.md", "b.md", "c.md", "d.md", "e.md"]),
        ("@...", []),
        ("@my\\ file.md @x.md#frag", ["my\\", "x.md#frag"]),
        ("`@a.md` ``@b.md`` @c.md", ["c.md"]),
        ("`` x ` @a.md `` @b.md", ["b.md"]),
        ("` @a.md", ["a.md"]),  # no span without an end
        ("` x\n\n@a.md ` y", ["a.md"]),  # nor across paragraphs
        ("\\` @a.md `", ["a.md"]),
        ("```\n@a.md\n```\n@b.md", ["b.md"]),
        ("~~~ts\n@a.md\n```\n@b.md\n~~~\n@c.md", ["c.md"]),
        ("````\n```\n@a.md\n````\n@b.md", ["b.md"]),
        ("```\n@a.md\n", []),  # to the end
        ("text\n\n    @a.md\n\n@b.md", ["b.md"]),
        ("text\n    @a.md", ["a.md"]),  # goes on with the paragraph
        ("- item\n\n  ```\n  @a.md\n  ```\n- @b.md", ["b.md"]),
        ("- item\n    @a.md", ["a.md"]),
        ("> ```\n> @a.md\n> ```\n> @b.md", ["b.md"]),
        ("<!-- @a.md --> @b.md", ["b.md"]),
        ("<!-- ` --> @a.md `", ["a.md"]),
        ("`<!--` @a.md -->", ["a.md"]),
        ("<!-- @a.md", ["a.md"]),
        ("@a.md<!-- hidden @b.md --> @c<d", ["a.md", "c<d"]),
        ("x <!-- hidden @b.md --> @c.md", ["c.md"]),
        ("-     @a.md\n- @b.md", ["b.md"]),
        (">     @a.md\n> @b.md", ["b.md"]),
        ("> \t\t@a.md\n", []),
        ("- a ` b\n- @b.md\n- c ` d\n", ["b.md"]),
        ("# the ` key\n@b.md\nand ` again\n", ["b.md"]),
        ("a ` b\n> @b.md ` c\n", ["b.md"]),
        ("a ` b\n```\n@a.md ` c\n```\n@b.md", ["b.md"]),
        ("\\\\` @a.md `", []),
        ("\\\\\\` @a.md `", ["a.md"]),
        ("```\r\n@a.md\r\n```\r\n@b.md\r\n", ["b.md"]),
    ],
)
def test_tokens(text, found):
    assert paths(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a <!-- b --> c", []),  # within a text
        ("<!-- b --> c", ["<!-- b -->"]),
        ("a\n  <!-- b -->\n<!-- c --> <!-- d --> e <!-- f -->", ["<!-- b -->", "<!-- c -->", "<!-- d -->"]),
        ("- <!-- a -->\n> 1. <!-- b -->\nx - <!-- c -->", ["<!-- a -->", "<!-- b -->"]),
        ("a <!-- b\n--> <!-- c -->\n<!-- d -->", ["<!-- d -->"]),
        ("`x` <!-- a -->\n@x.md <!-- b -->\n``` <!-- c -->\n```\n<!-- d -->", ["<!-- d -->"]),
        ("<!-- a\nb -->\n<!---->", ["<!-- a\nb -->", "<!---->"]),
        ("<!-- a <!-- b --> c -->", ["<!-- a <!-- b -->"]),
        ("`<!-- a -->` ", []),
        ("```\n<!-- a -->\n```\n<!-- b -->", ["<!-- b -->"]),
        ("<!-- open", []),
        ("<!-- a\n```\n-->\n@x", ["<!-- a\n```\n-->"]),
    ],
)
def test_comments(text, found):
    assert comments(text) == found


@pytest.mark.parametrize("tangle", ["> " * 17 + "x", "\n" * 30_000, "> " * 500])
def test_code_is_told_from_text_however_tangled(tangle):
    text = f"~~~\n@b.md <!-- keep -->\n```\n~~~\n@c.md\n{tangle}\n```\n@d.md"
    marks, is_told = marks_of(text)
    assert ([mark.path for mark in marks], is_told) == (["c.md"], False)


@given(st.text(alphabet="@a.`~<!->\n\t \r[]()*", max_size=60))
def test_marks_are_in_order_and_within_the_text(text):
    at = 0
    for mark in marks_of(text)[0]:
        assert at <= mark.start < mark.end <= len(text)
        assert text[mark.start : mark.end] in (f"@{mark.path}", text[mark.start : mark.end] if not mark.path else "")
        at = mark.end


@pytest.mark.parametrize("unit", ["@a ", "` ", "<!--", "``` ", "@a.md`", "- `@x`\n", "> @x\n", "<!-- -->", "~~~\n"])
def test_a_megabyte_of_marks_is_read(unit):
    text = unit * (1_000_000 // len(unit))
    marks, _ = marks_of(text)
    assert all(mark.end <= len(text) for mark in marks)


# -- what is put in place ------------------------------------------------------------------------------------


def inlined(place, text, **options):
    """A text with its imports, below the header that names its file."""
    place.write("proj/CLAUDE.md", text)
    found = mink.load_memory(place.proj, home=place.home, boundary="cwd", **options)
    return found.removeprefix(f"<!-- source: {place.proj}/CLAUDE.md -->\n")


def test_punctuation_behind_a_path_is_kept(place):
    place.write("proj/x.md", "X")
    assert inlined(place, "see @./x.md, and (it)") == "see X, and (it)\n"


def test_code_is_left_alone(place):
    place.write("proj/x.md", "X")
    text = "`@x.md <!-- a -->`\n\n```\n@x.md <!-- b -->\n```\n\n    @x.md\n\n@x.md <!-- c -->!\n"
    assert inlined(place, text) == text.replace("\n@x.md <!-- c -->!", "\nX <!-- c -->!")


def test_comments_go_in_imported_files_too(place):
    place.write("proj/x.md", "<!-- note -->\nX <!-- why --> Y")
    assert inlined(place, "<!-- c -->\na\n@x.md b") == "\na\n\nX <!-- why --> Y b\n"


def test_a_file_that_imports_itself_stands_once(place):
    assert inlined(place, "A @CLAUDE.md B") == "A  B\n"


def test_each_text_has_its_own_imports(place):
    place.write("proj/x.md", "X")
    place.write("proj/CLAUDE.local.md", "L @x.md @x.md")
    assert inlined(place, "P @x.md") == f"P X\n\n<!-- source: {place.proj}/CLAUDE.local.md -->\nL X\n"


def test_a_long_chain_of_imports(place):
    for number in range(3000):
        place.write(f"proj/f{number}.md", f"{number} @f{number + 1}.md")
    found = inlined(place, "@f0.md", max_hops=10_000)
    assert found == " ".join(map(str, range(3000))) + " @f3000.md\n"


def test_every_token_that_stays_is_a_skip_with_its_line(place):
    place.write("proj/deep/x.bin", b"a\0b")
    place.folder("proj/folder")
    place.write(
        "proj/CLAUDE.md",
        "1\n@none.md\n@folder\n@deep/x.bin\n@~nobody-of-this-name/x\n@" + "n" * 5000 + "\n@" + "m" * 300,
    )
    view = mink.view(place.proj, home=place.home, boundary="cwd")
    assert [(skip.reason, skip.line) for skip in view.skips if skip.parent] == [
        ("missing", 2),
        ("folder", 3),
        ("not-a-text-file", 4),
        ("unknown-user", 5),
        ("bad-name", 6),
        ("bad-name", 7),
    ]
    assert {finding.code for finding in view.findings} == {
        "import-missing",
        "import-extension",
        "unknown-user",
        "bad-name",
    }
    assert view.entries[0].text == view.entries[0].raw


def test_what_somebody_may_have_meant(place):
    for name in ("a", "b", "c", "d", "e"):
        place.write(f"proj/docs/{name}.md")
    text = "`@docs/a.md`\n```\n@docs/b.md\n```\n(@docs/c.md) me@docs/d.md <!-- @docs/e.md --> `@docs/none.md` `@cached`"
    place.write("proj/CLAUDE.md", text)
    view = mink.view(place.proj, home=place.home, boundary="cwd")
    assert [(place.short(skip.path), skip.reason, skip.line) for skip in view.skips] == [
        ("proj/docs/a.md", "in-code", 1),
        ("proj/docs/b.md", "in-code", 3),
        ("proj/docs/c.md", "not-an-import", 5),
        ("proj/docs/e.md", "in-code", 5),
    ]
    assert {finding.code for finding in view.findings} == {"import-in-code", "import-form"}


def test_what_stands_in_a_text_is_told(place):
    place.write("proj/x.md", "X @y.md")
    place.write("proj/y.md", "Y")
    place.write("proj/CLAUDE.md", "@x.md")
    (entry,) = mink.view(place.proj, home=place.home, boundary="cwd").entries
    assert entry.includes == (f"{place.proj}/x.md", f"{place.proj}/y.md")


def test_the_cap_is_told_once_a_file(place):
    place.write("proj/a.md", "@b.md " * 1000 + "@c.md")
    place.write("proj/b.md")
    place.write("proj/c.md")
    place.write("proj/CLAUDE.md", "@a.md")
    skips = mink.view(place.proj, 1, home=place.home, boundary="cwd").skips
    assert [(place.short(skip.path), skip.reason) for skip in skips] == [
        ("proj/b.md", "depth-cap"),
        ("proj/c.md", "depth-cap"),
    ]


def test_every_unknown_user_is_told(place):
    place.write("proj/CLAUDE.md", "@~nob-1/x @~nob-2/y @~nob-1/x")
    skips = mink.view(place.proj, home=place.home, boundary="cwd").skips
    assert [skip.path for skip in skips] == ["~nob-1/x", "~nob-2/y"]


def test_a_byte_order_mark_is_no_part_of_a_text(place):
    place.write("proj/x.md", "\ufeffX")
    assert inlined(place, "\ufeff@x.md y @x.md") == "X y\n"
    assert inlined(place, "\ufeff~~~\n@x.md\n~~~\n@x.md") == "~~~\n@x.md\n~~~\nX\n"
    assert mink.view(place.proj, home=place.home, boundary="cwd").findings == ()


def test_a_link_is_read_from_where_it_leads(place):
    place.write("shared/rules/base.md", "BASE @more.md")
    place.write("shared/rules/more.md", "MORE")
    place.link("proj/base.md", place.path("shared/rules/base.md"))
    assert inlined(place, "@base.md") == "BASE MORE\n"


def test_marks_are_not_looked_for_in_code():
    assert [mark.path for mark in marks_of("see @a.md, not `x @b.md`\n<!-- @c.md -->")[0]] == ["a.md", ""]


# -- texts made to be slow -------------------------------------------------------------------------------------


class CountingDisk(Disk):
    """A file system that counts what it is asked."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def read(self, path, limit):
        self.asked += 1
        return super().read(path, limit)

    def kind(self, path):
        self.asked += 1
        return super().kind(path)


INLINING = {"mink": "CLAUDE.md", "gemini-cli": "GEMINI.md", "qwen-code": "QWEN.md", "copilot-cli": "AGENTS.md"}


@pytest.mark.parametrize("agent", INLINING)
def test_a_missing_file_is_looked_for_once_however_often_it_is_named(place, agent):
    place.write(f"proj/{INLINING[agent]}", "@a " * 50_000 + "@b.md " * 50_000)
    disk = CountingDisk()
    view = foretold.load(place.proj, agent=agent, home=place.home, env={}, tree=disk)
    assert len(re.findall(r"@a |Import failed: a ", view.entries[0].text)) == 50_000
    assert disk.asked < 200
    assert len(view.findings) < 10


@pytest.mark.parametrize("agent", INLINING)
def test_so_many_different_files_are_not_looked_for(place, agent):
    text = " ".join(f"@a{number}.md" for number in range(MOST + 5_000))
    place.write(f"proj/{INLINING[agent]}", text)
    disk = CountingDisk()
    view = foretold.load(place.proj, agent=agent, home=place.home, env={}, tree=disk)
    assert disk.asked < 4 * MOST
    assert [each.message for each in view.findings if "more than 10,000 files" in each.message]


@given(st.text("``a \n", max_size=24))
def test_a_span_that_ends_anywhere_ends_as_the_expression_does(text):
    expression, spans, at = re.compile(r"(`+)([\s\S]*?)\1"), _Spans(text, bounded=False), 0
    while run := re.compile("`+").search(text, at):
        whole = expression.match(text, run.start())
        at = spans.end(*run.span())
        assert at == (whole.end() if whole else run.end())


@given(st.lists(st.sampled_from(["`", "a", "\n", " ", "# ", "> ", "- ", "\n\n", "\n# "]), max_size=24), st.data())
def test_a_paragraph_ends_where_it_does_whatever_was_asked_before(pieces, data):
    text = "".join(pieces)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = _Spans(text, bounded=True)
    assert [spans._paragraph_end(at) for at in places] == [
        _Spans(text, bounded=True)._paragraph_end(at) for at in places
    ]
