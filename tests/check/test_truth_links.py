"""The family truth: links of Markdown, and the headings that they lead to."""

import os

import pytest
from tests.check.families import findings_of

PAGE = '# Deploy\n\n## 2. Rolling *back*, `now`\n\nText.\n\nUnderlined\n----------\n\n<a id="special"></a>\n'


@pytest.fixture
def pages(place):
    place.write("proj/docs/deploy.md", PAGE)
    place.write("proj/docs/img/a.png", "")
    return place


def said(place, text, path="CLAUDE.md"):
    place.write(f"proj/{path}", text + "\n")
    return [f"{each.line} {each.code} {each.message}" for each in findings_of(place, "truth", "claude-code")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [x](docs/nowhere.md).", "1 link-dead docs/nowhere.md: there is no such file"),
        ("See ![x](docs/img/b.png).", "1 link-dead docs/img/b.png: there is no such file"),
        ("See [x](./docs/nowhere.md 'a title').", "1 link-dead ./docs/nowhere.md: there is no such file"),
        ("One.\n\n[x]: docs/nowhere.md", "3 link-dead docs/nowhere.md: there is no such file"),
        ("See [`nowhere.md`](docs/nowhere.md).", "1 link-dead docs/nowhere.md: there is no such file"),
        ("See [x](mdc:docs/nowhere.md).", "1 link-dead docs/nowhere.md: there is no such file"),
        ("See [x](docs/nowhere/).", "1 link-dead docs/nowhere/: there is no such folder"),
        ("See [x](/docs/nowhere.md).", "1 link-dead /docs/nowhere.md: there is no such file"),
        (
            "See [x](docs/deploy.md#forward).",
            "1 heading-missing docs/deploy.md#forward: docs/deploy.md has no heading forward",
        ),
        ("# Top\n\nSee [x](#bottom).", "3 heading-missing #bottom: CLAUDE.md has no heading bottom"),
    ],
)
def test_a_link_that_leads_nowhere(pages, text, expected):
    assert said(pages, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "See [x](docs/deploy.md), [x](./docs/deploy.md), [x](/docs/deploy.md), [x](docs/), [x](mdc:docs/deploy.md).",
        "See [x](docs/deploy.md#rolling-back-now), [x](docs/deploy.md#2-rolling-back-now).",
        "See [x](docs/deploy.md#special).",
        "See [x](docs/deploy.md#underlined), [x](docs/deploy.md#deploy-1), [x](docs/deploy.md#rolling).",
        "# Top\n\nSee [x](#top) and [x](docs/deploy.md#L3).",
        "See [x](https://example.com/a.md), [x](mailto:a@b.c), [x](//example.com/a.md), [x](/api/users).",
        "See [x](path/to/file.md), [x](docs/<name>.md), [x](docs/{name}.md), [x](docs/your-page.md).",
        "Links look like this, for example: [x](docs/nowhere.md).",
        "`[x](docs/nowhere.md)` is a link.",
        "```md\n[x](docs/nowhere.md)\n```",
        "<!-- [x](docs/nowhere.md) -->",
        "We removed [x](docs/nowhere.md).",
        "See [x](../outside.md) and [x](docs/deploy%2Emd).",
    ],
)
def test_what_leads_somewhere_or_is_not_a_link(pages, text):
    assert said(pages, text) == []


def test_a_link_counts_from_its_own_folder_and_those_above(pages):
    pages.write("proj/web/docs/own.md", "# Own\n")
    text = "See [a](docs/own.md), [b](docs/deploy.md), [c](../docs/deploy.md), [d](docs/nowhere.md)."
    assert said(pages, text, "web/CLAUDE.md") == ["1 link-dead docs/nowhere.md: there is no such file"]


def test_a_link_counts_from_the_folder_of_each_name_of_its_file(pages):
    pages.write("proj/.ai/rules.md", "See [a](docs/deploy.md) and [b](notes.md).\n")
    pages.write("proj/.ai/notes.md", "# Notes\n")
    pages.link("proj/CLAUDE.md", ".ai/rules.md")
    assert findings_of(pages, "truth", "claude-code") == []


def test_a_link_to_a_page_that_git_moved(place):
    place.git("init -q .")
    place.write("proj/docs/guide.md", "# Guide\n" * 5)
    place.git("add -A")
    place.git("-c user.name=a -c user.email=a@b commit -q -m one")
    place.folder("proj/docs/more")
    place.git("mv docs/guide.md docs/more/guide.md")
    place.git("-c user.name=a -c user.email=a@b commit -q -m two")
    (found,) = said(place, "See [x](docs/guide.md).")
    assert found.startswith("1 link-dead docs/guide.md: moved to docs/more/guide.md (git ")


def test_a_skill_links_a_page_that_it_does_not_have(pages):
    pages.write("proj/CLAUDE.md", "Be brief.\n")
    pages.write("proj/.claude/skills/a/SKILL.md", "---\nname: a\n---\n\nSee [x](references/list.md), [y](own.md).\n")
    pages.write("proj/.claude/skills/a/own.md", "# Own\n")
    (found,) = findings_of(pages, "truth", "claude-code")
    assert (found.path, found.line, found.code) == (".claude/skills/a/SKILL.md", 5, "link-dead")


def test_a_page_that_cannot_be_read_may_have_any_heading(pages):
    os.remove(pages.path("proj/docs/deploy.md"))
    pages.fifo("proj/docs/deploy.md")
    assert said(pages, "See [x](docs/deploy.md#forward).") == []


def test_a_link_to_a_line_leads_to_its_file(pages):
    pages.write("proj/src/app.ts", "x\n")
    assert said(pages, "See [app](src/app.ts:113).") == []
