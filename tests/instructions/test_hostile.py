"""Bad input never raises and never hangs: each is a skip or a finding that names the path."""

import os

import pytest

BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
LIMIT = 4 * 1024 * 1024

# -- things that are no files, in every place where a file is looked for -------------------------------------

PLACES = {
    "project": "proj/CLAUDE.md",
    "dot": "proj/.claude/CLAUDE.md",
    "local": "proj/CLAUDE.local.md",
    "above": "CLAUDE.md",
    "user": "home/.claude/CLAUDE.md",
    "managed": "managed/CLAUDE.md",
    "rule": "proj/.claude/rules/sub/r.md",
    "user-rule": "home/.claude/rules/r.md",
    "agents": "proj/AGENTS.md",
    "import": "proj/docs/a.md",
    "memory": "memory/MEMORY.md",
    "nested": "proj/a/CLAUDE.md",
    "nested-agents": "proj/a/AGENTS.md",
    "nested-rule": "proj/a/.claude/rules/r.md",
}


def too_large(place, path):
    place.write(path, b"")
    os.truncate(place.path(path), 10 * 1024 * 1024)


THINGS = {
    "folder": (lambda place, path: place.folder(path), "folder"),
    "fifo": (lambda place, path: place.fifo(path), "not-a-file"),
    "device": (lambda place, path: place.link(path, "/dev/zero"), "not-a-file"),
    "loop": (lambda place, path: place.link(path, os.path.basename(path)), "symlink-loop"),
    "dangling": (lambda place, path: place.link(path, "nothing"), "missing"),
    "10 MB": (too_large, "too-large"),
}


def look(place, where, version):
    """The view or the attachment in which a place would show."""
    options = {"version": version, "settings": {"autoMemoryDirectory": place.path("memory")}}
    if where == "import":
        place.write("proj/CLAUDE.md", "@docs/a.md")
    if where.startswith("nested"):
        return place.session(**options).read("a/x.ts")
    return place.load(**options)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("thing", THINGS)
@BOTH
def test_things_that_are_no_files(place, version, where, thing):
    if "agents" in where and version == "2.1.197":
        assert look(place, where, version).entries == ()  # nobody looks
        return
    make, reason = THINGS[thing]
    make(place, PLACES[where])
    view = look(place, where, version)
    path = place.path(PLACES[where])
    if thing == "folder" and "rule" in where:
        assert view.entries == ()  # a folder called r.md is entered, and is empty
        return
    if thing == "loop" and "rule" in where:
        reason = "missing"
    if thing == "device" and where == "import" and version == "2.1.325":
        reason = "outside-project"  # it is a link out
    assert place.reasons(view, path) == [reason]
    assert path not in {entry.path for entry in view.entries}


@pytest.mark.parametrize("thing", THINGS)
def test_things_that_are_no_files_are_findings(place, thing):
    make, _ = THINGS[thing]
    make(place, "proj/CLAUDE.md")
    assert place.codes(place.load(), place.path("proj/CLAUDE.md")) != []


@pytest.mark.parametrize("thing", ["file", "fifo", "dangling", "loop", "device"])
@pytest.mark.parametrize("path", ["proj/.claude/rules", "home/.claude/rules", "managed/.claude/rules"])
def test_things_in_place_of_a_rules_folder(place, path, thing):
    if thing == "file":
        place.write(path)
    else:
        THINGS[thing][0](place, path)
    view = place.load()
    assert place.path(path) in place.accounted(view)


@pytest.mark.parametrize("thing", ["file", "fifo", "dangling", "loop", "device"])
@pytest.mark.parametrize("path", ["proj/.claude", "home/.claude", "managed/.claude", "managed", "home"])
@BOTH
def test_things_in_place_of_an_agents_folder(place, path, thing, version):
    if os.path.isdir(place.path(path)):
        os.rmdir(place.path(path))
    if thing == "file":
        place.write(path)
    else:
        THINGS[thing][0](place, path)
    assert place.load(version=version).entries == ()


# -- contents ------------------------------------------------------------------------------------------------

CONTENTS = {
    "non-UTF-8": b"caf\xe9 \xff\xfe",
    "NUL": b"a\0b\0",
    "BOM": b"\xef\xbb\xbftext",
    "two BOMs": b"\xef\xbb\xbf\xef\xbb\xbf---\npaths: x\n---\ntext",
    "UTF-16": "text".encode("utf-16"),
    "only a BOM": b"\xef\xbb\xbf",
    "control characters": bytes(range(32)),
    "surrogates": b"\xed\xa0\x80\xed\xb0\x80",
    "overlong": b"\xc0\xaf" * 10,
    "4 MiB": b"x" * LIMIT,
    "one line end": b"\n",
    "CR": b"a\r---\r@b.md\r",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("where", ["project", "rule", "import", "agents", "memory", "nested"])
@BOTH
def test_contents(place, version, where, content):
    path = place.write(PLACES[where], content)
    view = look(place, where, version)
    if where == "agents" and version == "2.1.197":
        return
    assert path in place.accounted(view)
    for entry in view.entries:
        if entry.path == path and where != "memory":
            assert (entry.raw, entry.size) == (content.decode("utf-8", "replace"), len(content))


@pytest.mark.parametrize("kind", ["non-UTF-8", "NUL", "UTF-16"])
def test_bytes_that_are_no_text_are_findings(place, kind):
    """The agent shows U+FFFD, or a NUL, in their place and says nothing."""
    path = place.write("proj/CLAUDE.md", CONTENTS[kind])
    assert place.codes(place.load(), path) != []


def test_a_byte_order_mark_that_disables_something_is_a_finding(place):
    """claude-code@2.1.197: cont-fm-bom: frontmatter behind a BOM is text."""
    path = place.write("proj/CLAUDE.md", b"\xef\xbb\xbf---\ntitle: x\n---\ntext")
    assert place.codes(place.load(version="2.1.197"), path) != []


NESTED_YAML = "&a [x,x,x,x,x,x,x,x,x]"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)
FRONTS = {
    "invalid": "paths: [\n  - :\n\t}",
    "open quote": "paths: \"src/**\nother: 'x",
    "alias bomb": BOMB + "paths: *a9",
    "billion laughs in paths": "paths: " + "[" * 30 + "x" + "]" * 30,
    "100,000 brackets": "paths: " + "[" * 100_000,
    "100,000 braces": "paths: " + "{" * 100_000,
    "100,000 dashes": "paths:\n" + "- " * 100_000,
    "100,000 anchors": "paths: " + "&a " * 100_000,
    "unknown alias": "paths: *nothing",
    "tag": "paths: !!python/object/apply:os.system ['true']",
    "control characters": "paths: \x00\x01\x02",
    "two documents": "paths: x\n...\n%YAML 1.1\nother: y",
    "a scalar": "just text",
    "a list": "- a\n- b",
    "a number": "paths: 3",
    "a map": "paths: {a: {b: c}}",
    "long": "paths: " + "x" * 200_000,
    "many globs": "paths:\n" + "".join(f"  - 'src/{number}/**'\n" for number in range(5000)),
    "brace product": "paths: '" + "{a,b,c,d}" * 12 + "'",
    "deep braces": "paths: '" + "{a," * 5000 + "'",
    "many commas": "paths: '" + "," * 100_000 + "'",
    "stars": "paths: '" + "*" * 50_000 + "a'",
    "globstars": "paths: '" + "**/" * 20_000 + "a'",
    "open class": "paths: '" + "[a-" * 20_000 + "'",
    "bad range": "paths: '[z-a]*'",
    "backslashes": "paths: '" + "\\" * 50_001 + "'",
}


@pytest.mark.parametrize("front", FRONTS.values(), ids=FRONTS.keys())
@BOTH
def test_frontmatter(place, version, front):
    rule = place.write("proj/.claude/rules/r.md", f"---\n{front}\n---\nrule\n")
    file = place.write("proj/CLAUDE.md", f"---\n{front}\n---\nfile\n")
    session = place.session(version=version)
    view = session.start()
    assert {rule, file} <= place.accounted(view)
    attached = session.read("src/a/" + "a" * 200 + ".ts")
    assert {entry.path for entry in attached.entries} <= {rule}


@pytest.mark.parametrize("front", ["invalid", "alias bomb", "100,000 brackets", "unknown alias"])
def test_frontmatter_that_cannot_be_read_is_a_finding(place, front):
    path = place.write("proj/.claude/rules/r.md", f"---\n{FRONTS[front]}\n---\nrule\n")
    code = "frontmatter-repaired" if front == "unknown alias" else "frontmatter-invalid"
    assert code in place.codes(place.load(), path)


PIECES = {
    "brackets": "[",
    "closing brackets": "]",
    "images": "![",
    "parentheses": "(",
    "links": "[a](",
    "reference links": "[a]",
    "definitions": "[a]: ",
    "braces": "{",
    "angles": "<",
    "tags": "<a ",
    "open comments": "<!--",
    "closed comments": "<!-- x -->",
    "comment ends": "-->",
    "ats": "@",
    "imports": "@a.md ",
    "missing imports": "@x/y.md\n",
    "backticks": "`",
    "growing backticks": None,
    "stars": "*",
    "stars and text": "*a ",
    "underscores": "_a",
    "tildes": "~",
    "backslashes": "\\",
    "quotes": "> ",
    "lists": "- ",
    "indents": None,
    "headings": "# ",
    "tables": "|",
    "entities": "&",
    "entities to the end": "&#",
    "dashes": "---\n",
    "carriage returns": "\r",
    "NUL": "\0",
    "spaces": " ",
    "tabs": "\t@a",
    "ideographs": "世",
    "astral": "😀@",
    "fences": "```\n",
    "autolinks": "<http://",
    "mails": "a@b.c ",
}
SPECIAL = {
    "growing backticks": "".join("`" * number + "a" for number in range(1, 450)),
    "indents": "".join(" " * (number % 40) + "- a\n" for number in range(4000)),
}


@pytest.mark.parametrize("kind", PIECES)
@BOTH
def test_documents(place, version, kind):
    text = SPECIAL.get(kind) or PIECES[kind] * (100_000 // len(PIECES[kind]))
    path = place.write("proj/CLAUDE.md", "a <!-- b\n\n" + text)
    place.write("proj/a.md", "imported")
    view = place.load(version=version)
    assert path in place.accounted(view)


def test_a_hundred_thousand_brackets_are_delivered(place):
    text = "[" * 100_000 + " @a.md"
    place.write("proj/CLAUDE.md", text)
    assert place.load().entries[0].text == text
