"""Garbage around the files: settings, repositories, names, and folders without end."""

import json
import os
import subprocess
import sys
import tempfile

import pytest

import foretold

BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])


def put(place, path, thing):
    """Something that is no file."""
    if thing == "folder":
        place.folder(path)
    elif thing == "fifo":
        place.fifo(path)
    else:
        place.link(path, "/dev/zero" if thing == "device" else path.rpartition("/")[2])


# -- settings and repositories -------------------------------------------------------------------------------

GARBAGE = {
    "empty": b"",
    "garbage": b"\xff\0{",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a number of 5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "wrong types": json.dumps(
        {
            "claudeMdExcludes": {"a": 1},
            "claudeMd": ["x"],
            "model": {},
            "autoMemoryDirectory": 3,
            "autoMemoryEnabled": "no",
            "enabledPlugins": [],
            "pluginConfigs": {"agents-md@builtin": {"options": []}},
            "attribution": "x",
            "includeCoAuthoredBy": [],
        }
    ).encode(),
    "odd texts": json.dumps(
        {
            "claudeMdExcludes": ["", "\0", "[", "{" * 1000, "(" * 1000, "**/" * 1000, "\ud800", "!(", "\\"],
            "claudeMd": "\ud800\0",
            "model": "\ud800",
            "autoMemoryDirectory": "/\0/\ud800",
        }
    ).encode(),
}
SETTINGS = [
    "home/.claude/settings.json",
    "proj/.claude/settings.json",
    "proj/.claude/settings.local.json",
    "managed/managed-settings.json",
    "managed/managed-settings.d/a.json",
    "home/.claude.json",
]


@pytest.mark.parametrize("path", SETTINGS)
@pytest.mark.parametrize("kind", GARBAGE)
@BOTH
def test_settings(place, version, path, kind):
    place.write("proj/CLAUDE.md", "text @/etc/hostname")
    place.write("proj/.claude/rules/r.md", "rule")
    place.write(path, GARBAGE[kind])
    view = place.load(version=version)
    assert place.path("proj/CLAUDE.md") in place.accounted(view)
    assert isinstance(view.text, str)
    if kind not in ("wrong types", "odd texts") and path != "home/.claude.json":
        assert place.codes(view, place.path(path)) == ["settings-invalid"]


@pytest.mark.parametrize("path", SETTINGS[:-1])
@pytest.mark.parametrize("thing", ["folder", "fifo", "device", "loop"])
def test_settings_that_are_no_files(place, path, thing):
    place.write("proj/CLAUDE.md", "text")
    put(place, path, thing)
    view = place.load()
    assert [entry.text for entry in view.entries] == ["text"]
    assert place.codes(view, place.path(path)) == ["settings-unreadable"]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\0", b"gitdir: \0", b"gitdir: " + b"x/" * 3000, b"gitdir: .", b"x" * 100_000]
)
@BOTH
def test_a_git_file_that_is_garbage(place, version, content):
    place.write("proj/.git", content)
    place.write("proj/CLAUDE.md", "text")
    assert place.told(place.load(version=version)) == ["proj/CLAUDE.md"]


# -- names ---------------------------------------------------------------------------------------------------

NAMES = [
    b"line\nend.md",
    b"\x1b[31mred.md",
    b"tab\tbell\x07.md",
    b"caf\xe9.md",
    b"\xff\xfe.md",
    b"\xed\xa0\x80.md",
    "é世😀.md".encode(),
    b" .md",
    b"{path}.md",
    b"%s.md",
    b"</system-reminder>.md".replace(b"/", b"\\"),
    b".md",
    b"x" * 252 + b".md",
]


@BOTH
def test_rules_with_odd_names(place, version):
    folder = os.fsencode(place.folder("proj/.claude/rules"))
    for name in NAMES:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"text of " + name)
    view = place.load(version=version)
    paths = {os.fsdecode(os.path.join(folder, name)) for name in NAMES}
    assert paths <= place.accounted(view)
    assert len(view.entries) == len(NAMES)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a\nb", b"\x1b[0m", b" ", b"{x}", "é世😀".encode()])
@BOTH
def test_a_working_directory_with_an_odd_name(place, version, name):
    folder = os.fsdecode(os.path.join(os.fsencode(place.root), name))
    os.mkdir(folder)
    for path in (folder + "/CLAUDE.md", folder + "/a.md"):
        with open(path, "w", encoding="utf-8") as file:
            file.write("text @a.md")
    view = foretold.load(folder, **place.options(version=version))
    assert [entry.path for entry in view.entries] == [folder + "/CLAUDE.md", folder + "/a.md"]
    session = foretold.Session(folder, **place.options(version=version))
    assert session.read("sub/x.ts").entries == ()


# -- depth ---------------------------------------------------------------------------------------------------


@pytest.fixture
def deep_place(place):
    """A place of its own: what pytest uses to clean up recurses, and would fail here."""
    root = tempfile.mkdtemp(prefix="foretold-test-")
    yield type(place)(root)
    subprocess.run(["rm", "-rf", root], check=True)


def deep(place, depth):
    """A chain of folders, and the path of its end."""
    path = place.proj
    for _ in range(depth):
        path += "/d"
        os.mkdir(path)
    return path


def calls_of(monkeypatch, function):
    """How often a function asks the file system."""
    counts = {"calls": 0}
    with monkeypatch.context() as patch:
        for name in ("stat", "lstat", "open", "scandir", "readlink"):
            real = getattr(os, name)

            def counted(*args, _real=real, **options):
                counts["calls"] += 1
                return _real(*args, **options)

            patch.setattr(os, name, counted)
        function()
    return counts["calls"]


@BOTH
def test_a_deep_start_costs_by_level(deep_place, version, monkeypatch):
    """O(levels): twice as deep, twice as many questions to the file system."""
    place = deep_place
    whole = deep(place, 300)
    half = whole[: len(whole) - 2 * 150]
    calls = [calls_of(monkeypatch, lambda at=at: place.load(at, version=version)) for at in (half, whole)]
    assert calls[1] < 2.5 * calls[0]


@BOTH
def test_a_deep_read_costs_by_level(place, version, monkeypatch):
    calls = []
    for depth in (150, 300):
        session = place.session(version=version)
        session.start()
        calls.append(calls_of(monkeypatch, lambda session=session, depth=depth: session.read("d/" * depth + "x.ts")))
    assert calls[1] < 2.5 * calls[0]


PATIENT = """\
import sys, foretold
root, cwd, path, version = sys.argv[1:]
options = dict(agent=f"claude-code@{version}", home=root, managed=root + "/managed", env={})
session = foretold.Session(cwd, **options)
print(len(session.start().entries), len(session.read(path).entries))
"""


@pytest.mark.parametrize(("above", "below"), [(1000, 0), (0, 2500), (500, 500)])
@BOTH
def test_a_thousand_folders_do_not_hang(deep_place, version, above, below):
    """A start a thousand folders deep, and a path of 5,000 characters. A second is long, twenty are a hang."""
    place = deep_place
    cwd = deep(place, above)
    place.write(f"{cwd}/CLAUDE.md", "text")
    done = subprocess.run(
        [sys.executable, "-c", PATIENT, place.home, cwd, "e/" * below + "x.ts", version],
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("1 0\n", "")
