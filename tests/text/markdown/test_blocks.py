"""The Markdown of instruction files: what Claude Code was recorded to do, what `marked` was recorded to say (the
documents in the fixtures), where an `@` is told though nobody follows it, and texts that are no honest Markdown."""

import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from foretold.instructions.text.markdown import DENSE, TANGLED, Document, ImportMention, scan
from foretold.instructions.text.mentions import is_possible
from foretold.text.markdown.blocks import without_comments
from foretold.text.markdown.lines import html_end, kind_of

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "markdown.json")

#: text -> as it is shown (claude-code: the case of that name)
SHOWN = {
    "cont-c-block": ("a\n\n<!-- gone -->\n\nb\n", "a\n\nb\n"),
    "cont-c-tight": ("a\n<!-- gone? -->\nb\n", "a\nb\n"),
    "cont-c-only": ("<!-- all gone -->\n", ""),
    "cont-c-multi": ("a\n\n<!-- l1\nl2\n\nl4 -->\n\nb\n", "a\n\nb\n"),
    "cont-c-trail": ("a\n\n<!-- x --> tail\nnext\n\nb\n", "a\n\n tail\nnext\n\nb\n"),
    "cont-c-stack": ("a\n\n<!-- x -->\n<!-- y -->\n\nb\n", "a\n\nb\n"),
    "cont-c-unclosed": ("a\n\n<!-- open\n\nb\n", "a\n\n<!-- open\n\nb\n"),
    "cont-c-indent3": ("a\n\n <!-- one -->\n\n   <!-- three -->\n\nb\n", "a\n\nb\n"),
    "cont-c-nested": ("a\n\n<!-- x <!-- y --> z -->\n\nb\n", "a\n\n z -->\n\nb\n"),
    "cont-c-dashes": (
        "a\n\n<!--> b\n\n<!---> c\n\n<!-- d --!> e\n\n<!----> f\n\n<! -- g -->\n",
        "a\n\n<!--> b\n\n<!---> c\n\n f\n\n<! -- g -->\n",
    ),
    "cont-x-c-para-lazy": ("- a\n<!-- x -->\n- b\n", "- a\n- b\n"),
    "cont-c-spaces-after": ("a\n\n<!-- x -->   \n\n\n\nb\n", "a\n\nb\n"),
    "cont-x-crlf-inline": ("a <!-- i --> b\r\nc\r\n", "a <!-- i --> b\nc\n"),
    "cont-x-def-inline": ("[l]: http://x\n\na <!-- i --> b\n", "a <!-- i --> b\n"),
}
#: comments that stay (claude-code: cont-c-list, cont-c-quote, cont-c-span, cont-c-fence, cont-c-indent4, and 13.8)
KEPT = [
    "a <!-- in --> b\n",
    "- a\n- <!-- x -->\n- b\n  <!-- y -->\n- c\n\n  <!-- z -->\n",
    "> a\n> <!-- x -->\n>\n> <!-- y -->\n\nb\n",
    "a `<!-- keep -->` b\n\n`<!-- keep2 -->`\n",
    "a\n\n```html\n<!-- keep -->\n```\n\nb\n",
    "a\n\n    <!-- keep? -->\n\nb\n",
    "<div>\n<!-- x -->\n</div>\n",
    "\ufeff<!-- c -->\ntext\n",
    "a\n <!-- x -->\nb\n",
]
#: text -> what is imported (claude-code: the case of that name)
IMPORTED = {
    "imp-sentence": ("see @a.md and @b.md too, also @c.md\n", ["a.md", "b.md", "c.md"]),
    "imp-punct-trail": ("@a.md, @b.md. @c.md)\n", ["a.md,", "b.md.", "c.md)"]),
    "imp-punct-lead": ('(@a.md) [@b.md] "@c.md" :@d.md x@g.md /@h.md *@i.md\n', []),
    "imp-space-escape": ("@my\\ file.md\n@dir\\ x/b.md tail\n", ["my file.md", "dir x/b.md"]),
    "imp-fragment": ("@a.md#sec\n@b.md#\n@c.md\\#x\n", ["a.md", "b.md", "c.md"]),
    "imp-leadchars": (
        "@_a @-b @1c @.d @#e @!f @%g @(h) @[i] @$j @été @中文 @~x @~/y @/z\n",
        "_a -b 1c .d ~/y /z".split(),
    ),
    "imp-codespan": ("`@a.md` and ``@b.md`` and @c.md\n", ["c.md"]),
    "imp-link": ("[@a.md](http://x) [t](@b.md) <@c.md> ![@d.md](x.png) [@e.md]\n", ["a.md"]),
    "imp-emph": ("**@a.md** *@b.md* ~~@c.md~~ _@d.md_ ** @e.md **\n", ["a.md", "b.md", "d.md", "e.md"]),
    "imp-html": ("<div>\n@a.md\n</div>\n\n<b>@b.md</b>\n\ntext <i> @c.md </i> t\n", ["b.md", "c.md"]),
    "imp-escape": ("\\@a.md &#64;b.md \\\\@c.md x\\ @d.md\n", ["c.md", "d.md"]),
    "imp-hardbreak": ("@a.md  \n@b.md\\\n@c.md<br>\n@d.md <br> @e.md\n", ["a.md", "b.md", "c.md", "d.md", "e.md"]),
    "imp-nestcode": ("- x\n\n  ```\n  @a.md\n  ```\n- `@b.md` @c.md\n\n1. y\n\n       @e.md\n", ["c.md"]),
    "imp-footnote-def": ("[x]: @a.md\n\n[^1]: @b.md\n\n@c.md\n", ["c.md"]),
    "imp-double": ("@@a.md @b.md@c.md @ e.md\n", ["b.md@c.md"]),
    "imp-table": ("| x | y |\n|---|---|\n| @a.md |@b.md|\n", ["a.md"]),
    "the text of a list item is read as a whole": (
        "- x `a @b.md c`\n\n- **@d.md** <b @e.md >\n",
        ["b.md", "e.md", "d.md"],
    ),
    "but not behind a list in it": ("- x\n  - y\n\n  z `a @b.md c`\n", []),
    "a trailing escaped space": ("@a.md\\ `b`\n", ["a.md"]),
}

#: text -> why what stands in it is not followed
ELSEWHERE = {
    "`@docs/a.md`": "code-span",
    "```\n@docs/a.md\n```": "code-block",
    "    @docs/a.md": "code-block",
    "<div>\n@docs/a.md\n</div>": "html",
    '<i x="@docs/a.md">t</i>': "html",
    "<!-- @docs/a.md -->": "comment",
    "t <!-- @docs/a.md --> t": "comment",
    "[t](@docs/a.md)": "link-target",
    "![@docs/a.md](t)": "image",
    "[t]: @docs/a.md": "definition",
    "(@docs/a.md)": "punctuation-before",
    "„@docs/a.md“": "punctuation-before",
}


def imports(document):
    return [mention.path for mention in document.mentions if mention.region == "text"]


with open(FIXTURES, encoding="utf-8") as file:
    RECORDED = json.load(file)


@pytest.mark.parametrize(("text", "shown", "imported"), RECORDED, ids=range(len(RECORDED)))
def test_what_marked_was_recorded_to_say(text, shown, imported):
    document = scan(text)
    assert (document.text, imports(document), document.problem) == (shown, imported, None)


@pytest.mark.parametrize("case", SHOWN)
def test_comments_go(case):
    text, shown = SHOWN[case]
    assert scan(text) == Document(shown)


@pytest.mark.parametrize("text", KEPT)
def test_comments_that_stay(text):
    assert scan(text) == Document(text)


@pytest.mark.parametrize("case", IMPORTED)
def test_imports(case):
    text, imported = IMPORTED[case]
    assert imports(scan(text)) == imported
    assert imports(scan(text.replace("\n", "\r\n"))) == imported
    assert imports(scan(text.replace("\n", "\r"))) == imported


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_may_have_been_meant_is_told(text):
    line = text[: text.index("@")].count("\n") + 3
    assert scan(f"first\n\n{text}\n").mentions == (ImportMention("docs/a.md", line, ELSEWHERE[text]),)


@pytest.mark.parametrize("path", ["été/a.md", "~nobody/x", "$HOME/x.md", "{dir}/y", "@a.md"])
def test_a_bad_start_is_told(path):
    assert scan(f"see @{path}, please\n").mentions == (ImportMention(path, 1, "bad-start"),)


def test_what_nobody_meant_is_not_told():
    assert scan("`@dataclass` of a@b.com, https://x.org/@me.md, `@ x.md`\n").mentions == ()


def test_what_is_followed_is_not_told_twice():
    text = "`@a.md` @a.md and @a.md\n"
    assert scan(text) == Document(text, (ImportMention("a.md", 1, "text"),))


def test_lines():
    text = "# x\r\n\r@a.md\n\n- y\n  z @b.md\n\n  > q\n  > *@c.md*\n\n<!-- x\n--> @d.md\n@e.md `\n`@f.md\n"
    found = [(mention.path, mention.line) for mention in scan(text).mentions]
    assert found == [("a.md", 3), ("b.md", 6), ("c.md", 9), ("d.md", 12), ("e.md", 13), ("f.md", 14)]


def test_a_text_without_marks_is_not_parsed():
    code = (
        "import sys; from foretold.instructions.text.markdown import scan\n"
        "scan('*text* with `code`, <b> and [links](x)')\n"
        "print(sorted(name for name in sys.modules if 'pyromark' in name or '.md' in name or 'mentions' in name))\n"
        "scan('see @a.md, or me@example.com')\n"
        "print('pyromark' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nFalse\n"


# -- properties ----------------------------------------------------------------------------------------------------

PARTS = [
    *("@a.md", " @b.md", "<!--", "-->", "<!-- c -->", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "- ", "1. ", "> "),
    *("# ", "```", "~~~", "`", "*", "**", "_", "[", "]", "](", "[l]: u", "<b>", "<div>", "<?", "?>", "\\", "&amp;"),
    *("===", "---", "|", "word", "é", "\ufeff", "\x00", "\u2028", "\x85", "\ud800", "😀", "<", ">", "!["),
]
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=30).map("".join)


@given(texts)
def test_any_text_can_be_read(text):
    document = scan(text)
    assert document.problem is None
    rows = re.split("\r\n|\r|\n", text)
    for mention in document.mentions:
        assert 1 <= mention.line <= len(rows)
        assert "@" in text
    assert scan(text) == document


@given(texts)
def test_without_a_comment_the_text_is_untouched(text):
    text = text.replace("<!--", "")
    assert scan(text).text == text


@given(texts)
def test_only_comments_and_definitions_go(text):
    text = re.sub(r"-->|\]:|>", "", text) + "<!--"
    assert re.sub(r"\s", "", scan(text).text) == re.sub(r"\s", "", text)


@given(st.lists(st.sampled_from(["word", "é", "😀", "two words", "a.b", "1,000"]), min_size=1), st.integers(0, 3))
def test_a_comment_between_paragraphs_goes(words, blanks):
    before, after = " ".join(words) + "\n\n", "\n".join(words) + "\n"
    assert scan(f"{before}<!-- {after} -->\n" + "\n" * blanks + after).text == before + after


@given(st.lists(st.from_regex(r"[a-z]{1,5}/[a-z0-9-]{1,5}\.md", fullmatch=True), max_size=9, unique=True))
def test_imports_of_a_sentence(paths):
    assert imports(scan("see " + " and ".join("@" + path for path in paths) + "\n")) == paths


# -- texts that are no honest Markdown --------------------------------------------------------------------------------

HOSTILE = {
    "deep lists": ("- " * 40 + "a @b.md\n\n<!-- c -->\nd\n", TANGLED),
    "deep quotes": ("> " * 40 + "a @b.md\n\n<!-- c -->\nd\n", TANGLED),
    "deep levels": ("".join("  " * depth + "- a @b.md\n" for depth in range(40)) + "\n<!-- c -->\nd\n", TANGLED),
    "short lines": ("a\n\n" * 100_000 + "@b.md\n\n<!-- c -->\nd\n", TANGLED),
    "short items": ("- a\n" * 100_000 + "\n@b.md\n\n<!-- c -->\nd\n", TANGLED),
    "brackets": ("[" * 100_000 + " @b.md\n\n<!-- c -->\nd\n", DENSE),
    "emphasis": ("**a " * 50_000 + " @b.md\n\n<!-- c -->\nd\n", DENSE),
    "tags": ("<" * 100_000 + " @b.md\n\n<!-- c -->\nd\n", DENSE),
    "many imports": ("@b.md " + "".join(f"@{number:x} " for number in range(30_000)) + "\n\n<!-- c -->\nd\n", DENSE),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_what_cannot_be_read_as_markdown_has_a_problem(shape):
    text, problem = HOSTILE[shape]
    document = scan(text)
    assert document.problem == problem
    assert "b.md" in imports(document)
    assert len(document.mentions) <= 22_000
    assert re.sub(r"\s", "", document.text) == re.sub(r"\s|<!-- c -->", "", text)


@pytest.mark.parametrize(
    "unit", ["<!--", "@", "@a ", "`", "``a`", "\\", "&", "|", "~", "#", "\t", '"', "@x/y.md ", "\x00"]
)
def test_long_texts_that_can_be_read(unit):
    document = scan("lead @q.md\n\n" + unit * (100_000 // len(unit)) + "\n")
    assert document.problem is None
    assert imports(document)[0] == "q.md"


def test_what_a_line_begins():
    kinds = {"a": "", "": "blank", "- a": "list", "-": "list", "- ": "", "    a": "code", "<b>": "html", "<b>a": ""}
    assert {line: kind_of(line) for line in (*kinds, "***")} == {**kinds, "***": "rule"}


def test_what_ends_html():
    ends = {"<!-- a": "-->", "<PRE>": "</pre>", "</div>": "\n", "<x-y z='1'>": "\n", "<x-y> a": ""}
    assert {text: html_end(text) for text in ends} == ends


def test_html_without_its_comments():
    rests = {"<!-- a --> b <!-- c -->": " b ", "<div><!-- a -->": None, "<!--> a": "<!--> a"}
    assert {html: without_comments(html) for html in rests} == rests


def test_where_imports_are_possible():
    assert (is_possible("me@example.com @alice"), is_possible("me@example.com, (c) @ 2024")) == (True, False)


def test_a_comment_between_paragraphs():
    text = "Use tabs.\n\n<!-- why? -->\n\nSee @docs/style.md, or `@docs/lint.md`.\n"
    assert scan(text).text == "Use tabs.\n\nSee @docs/style.md, or `@docs/lint.md`.\n"
