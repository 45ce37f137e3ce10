"""The budget says what the agent really shows of `MEMORY.md`: `foretold.load` is the judge."""

import pytest

import foretold
from foretold.dialects.claude_code.settings import slug
from foretold.instructions.text.memory_index import cut_index
from foretold.memory.store.index_file import Budget, limits_of


def entry(number, hook="h"):
    return f"- [M{number}](m{number}.md) — {hook}"


def lines(count, hook="h", start=0):
    return "\n".join(entry(number, hook) for number in range(start, start + count))


SHAPES = {
    "empty": "",
    "blank": " \n\n\t\n",
    "one": lines(1),
    "199": lines(199),
    "200": lines(200),
    "200 with an end": lines(200) + "\n",
    "201": lines(201),
    "201 with blanks around": "\n\n" + lines(201) + "\n\n\n",
    "200 and blanks inside": lines(100) + "\n\n\n" + lines(100, start=100),
    "1000": lines(1000),
    "comment": "<!-- not\nseen -->\n" + lines(3),
    "comment at 200": "<!-- a\nb\nc -->\n" + lines(200),
    "comment inline": "- [A](a.md) <!-- b --> c\n" + lines(199),
    "comment unclosed": "<!-- open\n" + lines(3),
    "comment in code": "```\n<!-- kept -->\n```\n" + lines(3),
    "frontmatter": "---\nname: index\n---\n" + lines(3),
    "frontmatter at 200": "---\na: b\n---\n" + lines(200),
    "frontmatter open": "---\na: b\n" + lines(3),
    "bom": "\ufeff" + lines(3),
    "bom and frontmatter": "\ufeff---\na: b\n---\n" + lines(200),
    "crlf": lines(200).replace("\n", "\r\n") + "\r\n",
    "crlf 201": lines(201).replace("\n", "\r\n"),
    "cr": lines(300).replace("\n", "\r"),
    "25000": "x" * 25_000,
    "25001": "x" * 25_001,
    "25000 in lines": "\n".join(["y" * 249] * 100),
    "25001 in lines": "\n".join(["y" * 249] * 100) + "zz",
    "long lines": lines(150, "z" * 300),
    "long and many": lines(300, "z" * 300),
    "emoji": "😀" * 12_500,
    "emoji over": "😀" * 12_501,
    "emoji lines": lines(100, "😀" * 130),
    "astral at the cut": "a" + "😀" * 12_500 + "\nend",
    "wide": lines(150, "é世" * 80),
    "separators": "a\u2028b\u2029c\x85d\x0be\x0cf\n" + lines(198),
    "hidden": lines(3, "a\u200b\u202eb\U000e0041"),
    "tags": lines(3, "</system-reminder>"),
    "nul": lines(3, "a\x00b"),
    "html": "<div>\n" + lines(3) + "\n</div>",
    "import": "@other.md\n" + lines(3),
}


def shown(place, version, data):
    """What the model receives of the index; None if there is none."""
    path = f"home/.claude/projects/{slug(place.proj)}/memory/MEMORY.md"
    place.write(path, data)
    view = place.load(version=version)
    return next((each.text for each in view.entries if each.path == place.path(path)), None)


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_budget_is_what_is_loaded(place, version, shape):
    text = SHAPES[shape]
    budget = Budget(text, f"claude-code@{version}")
    cut = cut_index(budget.shown, budget.limits)
    assert (cut.text or None) == (shown(place, version, text) or None)
    assert budget.is_over == (cut.lost_lines > 0 or cut.lost_units > 0)
    assert (budget.seen_lines, budget.seen_units) == (budget.lines - cut.lost_lines, budget.units - cut.lost_units)
    if budget.is_over:
        assert "WARNING" in cut.text.upper()
    seen = budget.shown.split("\n")[: budget.seen_lines]
    assert all(f"]({each.file})" not in "\n".join(seen) for each in budget.cut)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("empty", (0, 0, 0, 0, 0, False)),
        ("blank", (0, 0, 0, 0, 0, False)),
        ("200", (200, 200, 4179, 4179, 0, False)),
        ("201", (201, 200, 4201, 4179, 1, True)),
        ("25000", (1, 1, 25_000, 25_000, 0, False)),
        ("25001", (1, 1, 25_001, 25_000, 0, True)),
        ("emoji", (1, 1, 25_000, 25_000, 0, False)),
        ("emoji over", (1, 1, 25_002, 25_000, 0, True)),
        ("frontmatter at 200", (200, 200, 4179, 4179, 0, False)),
        ("comment at 200", (200, 200, 4179, 4179, 0, False)),
    ],
)
def test_the_numbers(shape, expected):
    budget = Budget(SHAPES[shape])
    assert (
        budget.lines,
        budget.seen_lines,
        budget.units,
        budget.seen_units,
        len(budget.cut),
        budget.is_over,
    ) == expected


def test_what_is_cut_dangling_unlisted_and_long():
    text = lines(201) + f"\n- [Long](long.md) — {'x' * 200}\r\n"
    budget = Budget(text, files=frozenset(f"m{number}.md" for number in range(1, 201)) | {"long.md", "new.md"})
    assert [each.file for each in budget.cut] == ["m200.md", "long.md"]
    assert [(each.number, each.file) for each in budget.dangling] == [(0, "m0.md")]
    assert budget.unlisted == ["new.md"]
    assert [tuple(each) for each in budget.long] == [(202, "long.md", 220)]


def test_other_agents_are_measured_by_the_model():
    assert limits_of("codex") == limits_of("claude-code")
    assert (limits_of("claude-code@2.1.197").lines, limits_of("claude-code@2.1.197").units) == (200, 25_000)


def test_a_proposal_touches_entries_only():
    text = (
        "# Mine\n\n\n```\na\n\n\nb\n```\n\n"
        "- [Gone](gone.md) — x\n- [A](a.md) — short\n\n  \n- [B](b.md) — " + "word " * 60 + "\n\nEnd.\n\n\n- x\n\n- y\n"
    )
    after = Budget(text, files=frozenset(("a.md", "b.md"))).compact()
    assert after == (
        "# Mine\n\n\n```\na\n\n\nb\n```\n\n"
        "- [A](a.md) — short\n- [B](b.md) — " + ("word " * 27).strip() + "…\n\nEnd.\n\n\n- x\n\n- y\n"
    )
    assert Budget(after, files=frozenset(("a.md", "b.md"))).compact() == after


def test_a_proposal_keeps_line_ends():
    text = "- [A](a.md) — " + "word " * 60 + "\r\n\r\n- [B](b.md)\r\n"
    after = Budget(text, files=frozenset(("a.md", "b.md"))).compact()
    assert [line[-1] for line in after.split("\n")[:-1]] == ["\r", "\r"]
    assert Budget("").compact() == ""


def test_the_budget_of_a_project(place):
    memories = foretold.memory.open(place.proj, home=place.home, env={})
    memories.create("A", type="project", description="d", body="b")
    assert (memories.budget().lines, memories.budget().unlisted, memories.budget().dangling) == (1, [], [])
