"""Reading settings, flags and environment: what is broken is a finding and counts as empty."""

import pytest
from hypothesis import given, strategies as st

from foretold.dialects.settings_files import (
    LayeredSettings,
    SettingsScope,
    dig,
    is_off,
    is_on,
    parse_args,
    parse_json,
    read_json,
    without_json_comments,
)
from foretold.storage.tree import Disk
from foretold.types import Finding

SETTINGS = LayeredSettings(
    [
        SettingsScope("managed", "/m.json", {"a": 1, "list": ["x", 3, "y"], "deep": {"k": {"on": False}}}),
        SettingsScope("local", "/l.json", {"a": 2, "b": None, "list": "no list"}),
        SettingsScope("user", "/u.json", {"a": 3, "b": 4, "list": ["z"], "deep": {"k": {"on": True}}}),
    ],
    [],
)


def test_the_strongest_scope_wins():
    assert SETTINGS.first("a") == 1
    assert SETTINGS.first("a", within=("local", "user")) == 2
    assert SETTINGS.first("b") == 4
    assert SETTINGS.first("c") is None
    assert SETTINGS.first("a", within=("project",)) is None


def test_every_scope_that_has_a_value():
    found = [(scope.name, value) for scope, value in SETTINGS.defined("deep", "k", "on")]
    assert found == [("managed", False), ("user", True)]


def test_lists_are_joined_and_only_texts_count():
    assert SETTINGS.joined("list") == ("x", "y", "z")
    assert SETTINGS.joined("a") == ()


@pytest.mark.parametrize("value", [None, 1, "text", [1], {"a": []}, {"a": {"c": 1}}])
def test_digging_where_nothing_is(value):
    assert dig(value, "a", "b") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a": [1]}', {"a": [1]}),
        ('\ufeff{"a": 1}', {"a": 1}),
        (' \n{"a": NaN}', {"a": pytest.approx(float("nan"), nan_ok=True)}),
    ],
)
def test_json_that_is_an_object(text, value):
    findings = []
    assert parse_json(text, "/s.json", findings) == value
    assert findings == []


@pytest.mark.parametrize("text", ["[]", "null", "1", '"text"', "true"])
def test_json_that_is_no_object(text):
    findings = []
    assert parse_json(text, "/s.json", findings) == {}
    assert findings == [Finding("/s.json", None, "settings-invalid", "not a JSON object, so the agent ignores it")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{", 1),
        ('{"a": 1,\n "b" 2}', 2),
        ("// comment\n{}", 1),
        ('{"a": 1,}', 1),
        ("\0", 1),
        ("[" * 100_000, None),
        ('{"a":' * 100_000, None),
        ('{"a": ' + "9" * 5000 + "}", None),
    ],
    ids=["empty", "open", "second-line", "comment", "comma", "nul", "brackets", "objects", "digits"],
)
def test_json_that_cannot_be_read(text, line):
    findings = []
    assert parse_json(text, "/s.json", findings) == {}
    assert [(each.path, each.line, each.code, each.hint) for each in findings] == [
        ("/s.json", line, "settings-invalid", "fix the JSON")
    ]


@given(st.text())
def test_no_text_raises(text):
    findings = []
    assert isinstance(parse_json(text, "/s.json", findings), dict)


def test_files_that_are_no_files(place):
    place.folder("proj/folder")
    place.fifo("proj/fifo")
    place.link("proj/loop", "loop")
    findings = []
    for name in ("missing", "folder", "fifo", "loop"):
        assert read_json(Disk(), place.path("proj/" + name), findings) == {}
    assert [(place.short(each.path), each.code, each.message) for each in findings] == [
        ("proj/folder", "settings-unreadable", "settings cannot be read: folder"),
        ("proj/fifo", "settings-unreadable", "settings cannot be read: not-a-file"),
        ("proj/loop", "settings-unreadable", "settings cannot be read: symlink-loop"),
    ]


def test_bytes_that_are_not_utf8(place):
    findings = []
    assert read_json(Disk(), place.write("proj/s.json", b'{"a": "\xff"}'), findings) == {"a": "\ufffd"}
    assert findings == []


OPTIONS = {"--bare": "flag", "--model": "one", "--add-dir": "many"}


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ("", {}),
        ("--bare", {"--bare": []}),
        ("-p --bare hello", {"--bare": []}),
        ("--model opus --model haiku", {"--model": ["opus", "haiku"]}),
        ("--model=opus=x", {"--model": ["opus=x"]}),
        ("--model", {"--model": []}),
        ("--model --bare", {"--model": ["--bare"]}),
        ("--add-dir a b --bare c", {"--add-dir": ["a", "b"], "--bare": []}),
        ("--add-dir a --add-dir=b", {"--add-dir": ["a", "b"]}),
        ("--add-dir", {"--add-dir": []}),
        ("--unknown --model=x", {"--model": ["x"]}),
        ("--models x", {}),
    ],
)
def test_flags(args, found):
    assert parse_args(args.split(), OPTIONS) == found


@given(st.lists(st.sampled_from(["--bare", "--model", "--add-dir", "--model=x", "a", "-p", "--", ""])))
def test_no_command_line_raises(args):
    assert set(parse_args(args, OPTIONS)) <= set(OPTIONS)


@pytest.mark.parametrize("value", ["1", "true", "TRUE", " yes ", "on"])
def test_words_that_switch_on(value):
    assert (is_on(value), is_off(value)) == (True, False)


@pytest.mark.parametrize("value", ["0", "false", "No", " off"])
def test_words_that_switch_off(value):
    assert (is_on(value), is_off(value)) == (False, True)


@pytest.mark.parametrize("value", [None, "", "2", "maybe"])
def test_words_that_do_neither(value):
    assert (is_on(value), is_off(value)) == (False, False)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": "//", /* b */ "c": [1,], // d', '{"a": "//",  "c": [1], '),
        (r'{"a": "say \"hi\" // loud", "b": 1,}', r'{"a": "say \"hi\" // loud", "b": 1}'),
    ],
)
def test_json_without_its_comments(text, plain):
    assert without_json_comments(text) == plain


def test_single_values():
    assert dig({"a": {"b": 1}}, "a", "b") == 1
    assert parse_args(["--bare", "--add-dir", "a", "b", "-p"], OPTIONS) == {"--bare": [], "--add-dir": ["a", "b"]}
    assert (is_on("1"), is_on("false"), is_on(None)) == (True, False, False)
