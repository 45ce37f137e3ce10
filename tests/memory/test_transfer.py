"""Export and import: byte for byte, and nothing in a file is believed."""

import json
import os

import pytest

import foretold
from foretold.errors import ForetoldError
from foretold.memory.transfer import SCHEMA, apply_import, export, plan_import

SECRET = "gh" + "p_" + "a1B2" * 9


def opened(place, cwd):
    place.folder(cwd)
    return foretold.memory.open(place.path(cwd), home=place.home, managed=place.managed, env={})


def put(memories, file, data):
    path = f"{memories.place.store}/{file}"
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def bytes_of(memories):
    return {file: memories.own.folder.read(file).data for file in memories.own.folder.files()}


def document(*memories, **more):
    rows = [{"file": file, "text": text} for file, text in memories]
    return json.dumps({"schema": SCHEMA, "memories": rows, **more})


def arrivals(plan):
    return [(each.file, each.what, each.why) for each in plan]


@pytest.fixture
def stores(place):
    return opened(place, "here"), opened(place, "there")


def test_a_round_trip_is_equal_to_the_byte(stores):
    here, there = stores
    here.create("Tabs", type="feedback", description='a "quoted": line', body="Use tabs.\n\n- é世😀\n")
    for file, data in {
        "plain.md": b"no frontmatter, no line end",
        "auto/crlf.md": b"---\r\nname: crlf\r\n---\r\nline\r\n",
        "bom.md": b"\xef\xbb\xbf---\nname: bom\n---\nx\n",
        "odd.md": "\x00\x1b[31m \u2028 \u202e \x85 \ufffd".encode(),
        "empty.md": b"",
        "日本.md": b"x",
    }.items():
        put(here, file, data)
    put(here, "MEMORY.md", "# Mine\n\n- [Tabs](feedback_tabs.md) — in my words\n\nBy hand, é.\n".encode())
    text, findings = export(here.own, "/p")
    assert findings == []
    done = apply_import(plan_import(text, there.own), there.own)
    assert [each.what for each in done] == ["new"] * 7 + ["lines"]
    assert bytes_of(there) == bytes_of(here)
    assert there.index().endswith("\n\n# Mine\n\n\nBy hand, é.\n")
    again = plan_import(text, there.own)
    assert [each.what for each in again] == ["same"] * 7
    assert apply_import(again, there.own) == []


def test_what_is_left_out_is_named(stores):
    here, _ = stores
    put(here, "key.md", f"one\n{SECRET}\n".encode())
    put(here, "latin.md", b"caf\xe9")
    put(here, "good.md", b"good")
    put(here, "MEMORY.md", f"- [x](good.md) {SECRET}".encode())
    text, findings = export(here.own, "/p")
    assert [(each.path, each.line, each.code) for each in findings] == [
        ("key.md", 2, "credential"),
        ("latin.md", None, "not-utf8"),
        ("MEMORY.md", 1, "credential"),
    ]
    assert SECRET not in text + repr(findings)
    assert [(row["file"], row["text"]) for row in json.loads(text)["memories"]] == [("good.md", "good")]


def test_what_differs_stays_unless_it_is_replaced(stores):
    here, _ = stores
    put(here, "a.md", b"mine")
    plan = plan_import(document(("a.md", "theirs"), ("b.md", "new")), here.own)
    assert arrivals(plan) == [("a.md", "differs", ""), ("b.md", "new", "")]
    apply_import(plan, here.own)
    assert bytes_of(here) == {"a.md": b"mine", "b.md": b"new"}
    apply_import(plan_import(document(("a.md", "theirs")), here.own), here.own, replace=True)
    assert bytes_of(here)["a.md"] == b"theirs"
    assert here.restore("a").text == "mine"


LEADS_OUT = "it leads out of the folder"
UNSAFE = "it has a character that is not safe everywhere"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("../out.md", LEADS_OUT),
        ("/etc/x.md", LEADS_OUT),
        ("a/../../x.md", LEADS_OUT),
        ("a//b.md", LEADS_OUT),
        ("..\\x.md", "a part of it starts with '.'"),
        ("a\\..\\x.md", UNSAFE),
        ("%2e%2e/x.md", UNSAFE),
        ("C:x.md", UNSAFE),
        ("~/x.md", "a part of it starts with '~'"),
        (".hidden.md", "a part of it starts with '.'"),
        ("-rf.md", "a part of it starts with '-'"),
        ("a\x00.md", UNSAFE),
        ("a\x1b[31m.md", UNSAFE),
        ("a\ud800.md", UNSAFE),
        ("a/b/c/d/e/f/g/h/i.md", "it is more than 8 folders deep"),
        ("x" * 300 + ".md", "a part of it is longer than 255 bytes"),
        ("script.sh", "it does not end in .md"),
        ("", LEADS_OUT),
        ("MEMORY.md", "the index is made from the files"),
        ("memory.md", "the index is made from the files"),
    ],
    ids=range(20),
)
def test_hostile_names(stores, place, file, why):
    here, _ = stores
    plan = plan_import(document((file, "x"), ("good.md", "good")), here.own)
    assert arrivals(plan) == [(file, "refused", why), ("good.md", "new", "")]
    apply_import(plan, here.own, replace=True)
    assert bytes_of(here) == {"good.md": b"good"}
    assert sorted(os.listdir(place.root)) == ["here", "home", "proj", "there"]


def test_hostile_texts(stores):
    here, _ = stores
    plan = plan_import(
        document(("a.md", f"x {SECRET}"), ("b.md", "x" * (4 * 1024 * 1024 + 1)), ("c.md", "\ud800")), here.own
    )
    assert arrivals(plan) == [
        ("a.md", "refused", "it looks like a credential: GitHub token, line 1"),
        ("b.md", "refused", "it has 4,194,305 bytes; a memory has at most 4,194,304"),
        ("c.md", "refused", "its text has half of a surrogate pair"),
    ]
    assert apply_import(plan, here.own) == []
    assert arrivals(plan_import(document(index=f"by hand {SECRET}"), here.own)) == [
        ("MEMORY.md", "refused", "it looks like a credential: GitHub token")
    ]


def test_names_that_come_twice(stores):
    here, _ = stores
    put(here, "There.md", b"mine")
    plan = plan_import(document(("a.md", "1"), ("a.md", "2"), ("A.md", "3"), ("there.md", "4")), here.own)
    assert arrivals(plan) == [
        ("a.md", "new", ""),
        ("a.md", "refused", "it is in the file twice"),
        ("A.md", "refused", "it is in the file twice"),
        ("there.md", "refused", "There.md has its name"),
    ]
    apply_import(plan, here.own)
    assert bytes_of(here) == {"There.md": b"mine", "a.md": b"1"}


def test_a_failure_does_not_stop_the_rest(stores):
    here, _ = stores
    put(here, "x.txt", b"")
    plan = plan_import(document(("a.md", "1"), ("a.md/b.md", "2"), ("c.md", "3")), here.own)
    done = apply_import(plan, here.own)
    assert [(each.file, each.what) for each in done] == [("a.md", "new"), ("a.md/b.md", "failed"), ("c.md", "new")]
    assert bytes_of(here) == {"a.md": b"1", "c.md": b"3"}


NO_FILE = "this is not a file from `foretold memory export`: "
DAMAGED = "the file is damaged: every memory in it needs a `file` and a `text`"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", NO_FILE + "it is not JSON"),
        ("{", NO_FILE + "it is not JSON"),
        ("[" * 100_000, NO_FILE + "it is not JSON"),
        ("1" * 5000, NO_FILE + "it is not JSON"),
        ("[]", NO_FILE + "its schema is None"),
        ("3", NO_FILE + "its schema is None"),
        ('{"schema": "foretold.export/2"}', NO_FILE + "its schema is 'foretold.export/2'"),
        ('{"schema": ["x"]}', NO_FILE + "its schema is ['x']"),
        (json.dumps({"schema": SCHEMA}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": 3}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": ["a.md"]}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": [{"file": "a.md"}]}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": [{"file": "a.md", "text": None}]}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": [{"file": 1, "text": "x"}]}), DAMAGED),
        (json.dumps({"schema": SCHEMA, "memories": [], "index": 1}), DAMAGED),
    ],
    ids=range(15),
)
def test_files_that_are_none(stores, text, said):
    with pytest.raises(ForetoldError) as caught:
        plan_import(text, stores[0].own)
    assert str(caught.value) == said


def test_an_empty_one(stores):
    assert plan_import(document(), stores[0].own) == []
