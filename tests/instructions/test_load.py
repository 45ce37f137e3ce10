"""From a folder to a view, and how long a view is kept."""

import datetime
import os
import pathlib
import posixpath

import pytest

import foretold
from foretold.errors import ForetoldError, NotAFolder, UnknownAgent
from foretold.storage.tree import Fault, Item
from foretold.types import Block, Entry, Finding, Skip, Slot

HEADER = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions. IMPORTANT: "
    "These instructions OVERRIDE any default behavior and you MUST follow them exactly as written."
)
PROJECT = "(project instructions, checked into the codebase)"


# -- the view ------------------------------------------------------------------------------------------------


def test_a_view_of_one_file(place):
    path = place.write("proj/CLAUDE.md", "\nUse tabs.\n\n")
    view = place.load()
    assert view.entries == (Entry(path, "project", "\nUse tabs.\n\n", "\nUse tabs.\n\n", size=12, folder=place.proj),)
    assert view.text == f"{HEADER}\n\nContents of {path} {PROJECT}:\n\nUse tabs."
    assert view.slots == (
        Slot("before-prompt", Block("user", "text", f"<system-reminder>\n{view.text}\n</system-reminder>")),
    )
    assert view.messages == [
        {"role": "user", "content": [{"type": "text", "text": f"<system-reminder>\n{view.text}\n</system-reminder>"}]}
    ]
    assert (view.skips, view.findings, view.waiting, view.withheld) == ((), (), (), ())
    assert (view.dialect.name, view.assumed, view.tokens) == ("claude-code@2.1.325", False, (len(view.text) + 3) // 4)
    assert view.loaded == [{"file_path": path, "memory_type": "Project", "load_reason": "session_start"}]
    assert repr(view) == f"<View claude-code@2.1.325 of {place.proj}: 1 entries, 0 skips>"


def test_a_view_of_nothing(place):
    view = place.load()
    assert (view.entries, view.text, view.slots, view.messages, view.tokens) == ((), None, (), [], 0)
    assert (view.skips, view.findings, view.loaded) == ((), (), [])
    assert place.path("proj/CLAUDE.md") in view.absent
    assert place.path("home/.claude/CLAUDE.md") in view.absent


def test_the_older_version_sends_the_date_even_without_instructions(place):
    view = place.load(version="2.1.197")
    assert (view.text, len(view.messages)) == (None, 1)
    text = view.slots[0].block.text
    assert text.startswith(
        "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
        "# currentDate\nToday's date is 2026-01-02.\n\n      IMPORTANT: "
    )


def test_every_layer_in_its_order(place):
    place.write("managed/CLAUDE.md", "managed")
    place.write("managed/managed-settings.json", '{"claudeMd": "from settings"}')
    place.write("managed/.claude/rules/m.md", "managed rule")
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("home/.claude/rules/u.md", "user rule")
    place.write("CLAUDE.md", "above")
    place.write("CLAUDE.local.md", "local above")
    place.write("proj/CLAUDE.md", "project @docs/a.md")
    place.write("proj/docs/a.md", "imported")
    place.write("proj/.claude/CLAUDE.md", "dot")
    place.write("proj/.claude/rules/p.md", "rule")
    place.write("proj/CLAUDE.local.md", "local")
    view = place.load()
    assert [(entry.layer, entry.kind, place.short(entry.path), entry.depth) for entry in view.entries] == [
        ("managed", "file", "managed/CLAUDE.md", 0),
        ("managed", "setting", "<managed-settings>", 0),
        ("managed", "rule", "managed/.claude/rules/m.md", 0),
        ("user", "file", "home/.claude/CLAUDE.md", 0),
        ("user", "rule", "home/.claude/rules/u.md", 0),
        ("project", "file", "CLAUDE.md", 0),
        ("local", "file", "CLAUDE.local.md", 0),
        ("project", "file", "proj/CLAUDE.md", 0),
        ("project", "import", "proj/docs/a.md", 1),
        ("project", "file", "proj/.claude/CLAUDE.md", 0),
        ("project", "rule", "proj/.claude/rules/p.md", 0),
        ("local", "file", "proj/CLAUDE.local.md", 0),
    ]
    assert view.skips == ()


def test_what_is_not_loaded_has_a_reason(place):
    place.write("proj/CLAUDE.md", "@gone.md @CLAUDE.md @data.bin @../out.md\n\n@docs/a.md, then see `@docs/a.md`\n")
    for path in ("proj/data.bin", "out.md", "proj/docs/a.md"):
        place.write(path)
    place.write("proj/.claude/rules/cond.md", "---\npaths: '*.ts'\n---\nRule\n")
    place.write("proj/.claude/rules/empty.md", "<!-- nothing -->\n")
    place.write("proj/AGENTS.md", "agents")
    view = place.load()
    parent = place.path("proj/CLAUDE.md")
    wanted = {
        Skip(place.path("proj/gone.md"), "missing", "", "project", parent, 1),
        Skip(parent, "duplicate", parent, "project", parent, 1),
        Skip(place.path("proj/data.bin"), "not-a-text-file", "", "project", parent, 1),
        Skip(place.path("out.md"), "outside-project", "", "project", parent, 1),
        Skip(place.path("proj/docs/a.md,"), "missing", "", "project", parent, 3),
        Skip(place.path("proj/docs/a.md"), "in-code", "a code span", "project", parent, 3),
        Skip(place.path("proj/.claude/rules/cond.md"), "not-yet-read", "", "project", globs=("*.ts",)),
        Skip(place.path("proj/.claude/rules/empty.md"), "empty", "", "project"),
        Skip(place.path("proj/AGENTS.md"), "shadowed", f"by {parent}", "project"),
    }
    assert {skip._replace(detail="a code span") if skip.reason == "in-code" else skip for skip in view.skips} == wanted
    assert sorted(finding.code for finding in view.findings) == [
        "import-extension",
        "import-in-code",
        "import-missing",
        "import-punctuation",
        "outside-project",
    ]


def test_a_waiting_rule(place):
    path = place.write("proj/.claude/rules/api.md", "---\npaths: [src/**, '*.ts']\n---\nRule\n")
    view = place.load()
    assert view.entries == ()
    (rule,) = view.waiting
    assert (rule.base, rule.source.name) == (place.proj, ".claude/rules")
    assert rule.entry == Entry(
        path,
        "project",
        "Rule\n",
        "---\npaths: [src/**, '*.ts']\n---\nRule\n",
        kind="rule",
        reason="path_glob_match",
        globs=("src", "*.ts"),
        size=37,
        folder=place.proj,
    )


def test_managed_only_withholds_the_rest(place):
    place.write("managed/CLAUDE.md", "managed")
    path = place.write("proj/CLAUDE.md", "project")
    options = {"pluginConfigs": {"agents-md@builtin": {"options": {"instructionFiles": "managed-only"}}}}
    view = place.load(settings=options)
    assert place.told(view) == ["managed/CLAUDE.md"]
    assert [entry.path for entry in view.withheld] == [path]
    assert view.skips == (Skip(path, "withheld", "instructionFiles in --settings", "project"),)
    assert [each["file_path"] for each in view.loaded] == [place.path("managed/CLAUDE.md"), path]


def test_switched_off_files_are_named(place):
    place.write("proj/CLAUDE.md", "project")
    place.write("proj/CLAUDE.local.md", "local")
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("managed/CLAUDE.md", "managed")
    view = place.load(args=["--setting-sources", "user"])
    assert place.told(view) == ["managed/CLAUDE.md", "home/.claude/CLAUDE.md"]
    assert view.skips == (
        Skip(place.path("proj/CLAUDE.md"), "disabled", "--setting-sources leaves out project", "project"),
        Skip(place.path("proj/CLAUDE.local.md"), "disabled", "--setting-sources leaves out local", "local"),
    )
    view = place.load(args=["--safe-mode"])
    assert view.text is None
    assert [(place.short(skip.path), skip.reason, skip.detail) for skip in view.skips] == [
        ("managed/CLAUDE.md", "disabled", "--safe-mode"),
        ("home/.claude/CLAUDE.md", "disabled", "--safe-mode"),
        ("proj/CLAUDE.md", "disabled", "--safe-mode"),
        ("proj/CLAUDE.local.md", "disabled", "--safe-mode"),
        ("MEMORY.md", "disabled", "--safe-mode"),
    ]


def test_a_blank_managed_text_has_an_entry_without_text(place):
    """As recorded of the agent: only a text of no characters at all has none."""
    place.write("managed/managed-settings.json", '{"claudeMd": " \\n "}')
    assert [(entry.path, entry.text) for entry in place.load().entries] == [("<managed-settings>", " \n ")]


def test_a_folder_behind_a_link_without_the_file_is_no_dangling_link(place):
    """Nothing is wrong with a linked `.claude`, or a home behind a link, that has no CLAUDE.md."""
    place.folder("shared/rules")
    place.link("proj/.claude", "../shared")
    place.link("house", "home")
    view = place.load(home=place.path("house"))
    assert (view.skips, view.findings) == ((), ())


def test_a_dangling_link_is_named(place):
    path = place.link("proj/CLAUDE.md", "nothing")
    view = place.load()
    assert view.skips == (Skip(path, "missing", "the link is broken", "project"),)
    assert view.findings == (Finding(path, None, "dangling-link", f"{path}: the link is broken", "fix the link"),)


def test_where_the_agent_looked_and_found_nothing(place):
    place.folder("proj/.claude")
    absent = [place.short(path) for path in place.load().absent if path.startswith(place.root)]
    memory = [path for path in absent if path.endswith("MEMORY.md")]
    assert [path for path in absent if path not in memory] == [
        "managed/CLAUDE.md",
        "managed/.claude/rules",
        "home/.claude/CLAUDE.md",
        "home/.claude/rules",
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        ".claude/rules",
        "CLAUDE.local.md",
        "proj/CLAUDE.md",
        "proj/.claude/CLAUDE.md",
        "proj/.claude/rules",
        "proj/CLAUDE.local.md",
        "AGENTS.md",
        ".claude/AGENTS.md",
        "proj/AGENTS.md",
        "proj/.claude/AGENTS.md",
    ]
    assert len(memory) == 1


def test_the_memory_index_is_last(place):
    place.write("proj/CLAUDE.md", "project")
    memory = place.load().surroundings.memory
    os.makedirs(memory)
    with open(memory + "/MEMORY.md", "w", encoding="utf-8") as file:
        file.write("- [A](a.md) — x\n@nothing.md\n")
    view = place.load()
    assert view.entries[-1] == Entry(
        memory + "/MEMORY.md",
        "memory",
        "- [A](a.md) — x\n@nothing.md",
        "- [A](a.md) — x\n@nothing.md\n",
        kind="index",
        size=30,
        announced=False,
    )
    assert view.text.endswith(
        f"Contents of {memory}/MEMORY.md (user's auto-memory, persists across conversations):\n\n"
        "- [A](a.md) — x\n@nothing.md"
    )


# -- the arguments -------------------------------------------------------------------------------------------


def test_what_is_left_out_is_taken_from_the_process(place, monkeypatch):
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("proj/CLAUDE.md", "project")
    monkeypatch.chdir(place.proj)
    monkeypatch.setenv("HOME", place.home)
    monkeypatch.setenv("PATH", "/nowhere")
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "ANTHROPIC"))]:
        monkeypatch.delenv(name)
    view = foretold.load(managed=place.managed)
    assert place.told(view) == ["home/.claude/CLAUDE.md", "proj/CLAUDE.md"]
    assert view.surroundings.date == datetime.date.today().isoformat()
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1")
    assert foretold.load(managed=place.managed).entries == ()


def test_paths_may_be_objects_and_dates_too(place):
    place.write("proj/CLAUDE.md", "project")
    texts = {
        foretold.load(folder, **place.options(version="2.1.197", now=now, home=pathlib.Path(place.home))).slots
        for folder in (place.proj, pathlib.Path(place.proj), place.proj + "/", place.proj + "/../proj")
        for now in ("2026-01-02", datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 23, 59))
    }
    assert len(texts) == 1
    assert "Today's date is 2026-01-02." in texts.pop()[0].block.text


def test_the_working_directory_is_physical(place):
    place.write("proj/CLAUDE.md", "project")
    place.link("alias", "proj")
    assert place.load("alias").text == place.load("proj").text


def test_a_version_outside_of_the_history_is_assumed(place):
    found = [place.load(version=version) for version in ("2.1.250", "99.0.0")]
    assert [(view.assumed, view.dialect.version) for view in found] == [(False, "2.1.250"), (True, "2.1.325")]
    assert [view.choice.asked for view in found] == ["2.1.250", "99.0.0"]


@pytest.mark.parametrize("folder", ["missing", "proj/CLAUDE.md", "dangling", "nul\0", "x" * 300, "x/" * 3000])
def test_a_folder_that_is_none(place, folder):
    place.write("proj/CLAUDE.md")
    place.link("dangling", "nothing")
    with pytest.raises(NotAFolder, match="is not a folder") as error:
        place.load(folder)
    assert isinstance(error.value, ForetoldError)
    assert error.value.exit_code == 2


def test_an_agent_that_is_unknown(place):
    with pytest.raises(UnknownAgent, match="unknown agent 'emacs'; known agents: aider, amp, claude-code, "):
        place.load(agent="emacs")


# -- how long a view is kept ---------------------------------------------------------------------------------


def sample(place):
    place.write("proj/CLAUDE.md", "project @docs/a.md @docs/none.md")
    place.write("proj/docs/a.md", "imported")
    place.write("proj/.claude/rules/sub/r.md", "rule")
    place.write("proj/.claude/rules/cond.md", "---\npaths: x.ts\n---\nconditional")
    place.write("proj/target.md", "target")
    place.write("proj/other.md", "other target")
    place.link("proj/CLAUDE.local.md", "target.md")
    place.write("home/.claude/settings.json", "{}")
    place.write("home/.claude/CLAUDE.md", "user @~/outside.md")
    place.write("home/outside.md", "outside")
    return place.load()


def test_the_same_view_until_something_changes(place):
    view = sample(place)
    assert place.load() is view
    assert place.load("proj/../proj") is view


def test_looking_elsewhere_changes_nothing(place):
    view = sample(place)
    place.load("home")
    place.load(version="2.1.197")
    assert place.load() is view


@pytest.mark.parametrize(
    "options",
    [
        {"version": "2.1.197"},
        {"args": ["--bare"]},
        {"env": {"CLAUDE_CODE_SIMPLE": "1"}},
        {"settings": {"model": "x"}},
        {"model": "claude-haiku-4-5"},
        {"now": "2026-01-03"},
        {"add_dirs": ["x"]},
        {"home": "/nowhere"},
        {"managed": "/nowhere"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_question_has_another_view(place, options):
    view = sample(place)
    assert place.load(**options) is not view


def test_variables_that_the_agent_does_not_read_make_no_difference(place):
    view = sample(place)
    assert place.load(env={"EDITOR": "vi"}) is view


def retarget(place):
    os.remove(place.path("proj/CLAUDE.local.md"))
    place.link("proj/CLAUDE.local.md", "other.md")


CHANGES = {
    "a file is written": lambda place: place.write("proj/CLAUDE.md", "changed"),
    "an import is written": lambda place: place.write("proj/docs/a.md", "changed"),
    "a missing import appears": lambda place: place.write("proj/docs/none.md", "here"),
    "an import is removed": lambda place: os.remove(place.path("proj/docs/a.md")),
    "an import from elsewhere is written": lambda place: place.write("home/outside.md", "changed"),
    "a file is added": lambda place: place.write("CLAUDE.md", "above"),
    "a file is added to a new folder": lambda place: place.write("managed/CLAUDE.md", "managed"),
    "a dot folder is added": lambda place: place.write(".claude/CLAUDE.md", "dot above"),
    "a file is removed": lambda place: os.remove(place.path("home/.claude/CLAUDE.md")),
    "a rule is added": lambda place: place.write("proj/.claude/rules/new.md", "new"),
    "a rule is added below": lambda place: place.write("proj/.claude/rules/sub/new.md", "new"),
    "a rule is renamed": lambda place: os.rename(
        place.path("proj/.claude/rules/sub/r.md"), place.path("proj/.claude/rules/sub/q.md")
    ),
    "a waiting rule is written": lambda place: place.write("proj/.claude/rules/cond.md", "no longer"),
    "a link is retargeted": retarget,
    "a link's target is written": lambda place: place.write("proj/target.md", "changed target"),
    "a link is removed": lambda place: os.remove(place.path("proj/CLAUDE.local.md")),
    "settings are written": lambda place: place.write(
        "home/.claude/settings.json", '{"claudeMdExcludes": ["**/a.md"]}'
    ),
    "settings appear": lambda place: place.write("proj/.claude/settings.json", '{"claudeMdExcludes": ["**/a.md"]}'),
    "managed settings appear": lambda place: place.write("managed/managed-settings.d/a.json", '{"claudeMd": "text"}'),
    "the folder becomes a repository": lambda place: place.git("init -q"),
    "everything goes": lambda place: os.rename(place.path("proj/.claude"), place.path("proj/.old")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen(place, change):
    before = sample(place)
    change(place)
    after = place.load()
    assert after is not before
    foretold.invalidate()
    fresh = place.load()
    assert seen(after) == seen(fresh)


def seen(view):
    return (view.entries, view.skips, view.findings, view.absent, view.waiting, view.slots)


def test_a_file_of_the_same_size_and_time_is_seen(place):
    """`cp -p`, `rsync -t` and build tools restore the time of a file; its status change time is not theirs to set."""
    path = place.write("proj/CLAUDE.md", "aaaa")
    info = os.stat(path)
    assert place.load().entries[0].text == "aaaa"
    place.write("proj/CLAUDE.md", "bbbb")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert place.load().entries[0].text == "bbbb"


def test_files_that_are_rewritten_in_haste_are_seen(place):
    for number in range(50):
        place.write("proj/CLAUDE.md", f"text {number:3}")
        assert place.load().entries[0].text == f"text {number:3}"


def test_a_file_that_loses_its_rights_is_seen(place):
    """Nothing but its mode changes. Root may read it all the same, so it is enough that the view is not kept."""
    path = place.write("proj/CLAUDE.md", "aaaa")
    view = place.load()
    os.chmod(path, 0o000)
    assert place.load() is not view


def test_a_file_that_has_nothing_to_do_with_it_leaves_the_view(place):
    """An agent writes into its working directory all the time."""
    view = sample(place)
    place.write("proj/notes.txt", "unrelated")
    assert place.load() is view


@pytest.mark.parametrize("path", ["proj/CLAUDE.md", "proj/.claude/rules", "proj/.claude/settings.json", "proj/.git"])
def test_a_view_with_something_odd_in_it_is_kept_too(place, path):
    place.fifo(path)
    assert place.load() is place.load()


def test_invalidating_forgets(place):
    view = sample(place)
    foretold.invalidate()
    again = place.load()
    assert again is not view
    assert seen(again) == seen(view)


def test_only_some_views_are_kept(place):
    place.write("proj/CLAUDE.md", "project")
    first = place.load(model="0")
    for number in range(1, 70):
        place.load(model=str(number))
    assert place.load(model="69") is place.load(model="69")
    assert place.load(model="0") is not first


# -- another tree --------------------------------------------------------------------------------------------


class Files:
    """A tree made of a dictionary: path -> bytes, or a link as `(target,)`. All that the protocol asks for."""

    def __init__(self, files):
        self.files = files
        self.folders = {"/"}
        for path in files:
            while path != "/":
                path = posixpath.dirname(path)
                self.folders.add(path)

    def real(self, path):
        resolved = "/"
        for part in path.split("/")[1:]:
            resolved = posixpath.join(resolved, part) if part else resolved
            target = self.files.get(resolved)
            if isinstance(target, tuple):
                resolved = self.real(posixpath.normpath(posixpath.join(posixpath.dirname(resolved), target[0])))
        return resolved

    def read(self, path, limit):
        real = self.real(path)
        if real in self.folders:
            return Fault("folder")
        data = self.files.get(real)
        if data is None:
            return Fault("missing")
        return data if len(data) <= limit else Fault("too-large", f"{len(data)} bytes, the limit is {limit}")

    def scan(self, folder):
        folder = self.real(folder)
        if folder not in self.folders:
            return Fault("missing")
        inside = [path for path in (*self.folders, *self.files) if path != "/" and posixpath.dirname(path) == folder]
        return [Item(posixpath.basename(path), self._item(path)) for path in sorted(inside)]

    def _item(self, path):
        if path in self.folders:
            return "folder"
        return "link" if isinstance(self.files[path], tuple) else "file"

    def kind(self, path):
        real = self.real(path)
        if real in self.folders:
            return "folder"
        return "file" if isinstance(self.files.get(real), bytes) else "missing"


FILES = {
    "/etc/claude-code/CLAUDE.md": b"managed",
    "/home/me/.claude/CLAUDE.md": b"user",
    "/nowhere/repo/CLAUDE.md": b"project @docs/a.md @docs/none.md @/etc/claude-code/CLAUDE.md",
    "/nowhere/repo/docs/a.md": b"imported @b.md",
    "/nowhere/repo/docs/b.md": b"imported twice",
    "/nowhere/repo/.claude/rules/r.md": b"rule",
    "/nowhere/repo/.claude/rules/t.md": b"---\npaths: '*.ts'\n---\ntypescript",
    "/nowhere/repo/CLAUDE.local.md": ("docs/local.md",),
    "/nowhere/repo/docs/local.md": b"local",
    "/nowhere/repo/sub/CLAUDE.md": b"nested",
    "/nowhere/repo/sub/x.ts": b"",
    "/nowhere/repo/.git/HEAD": b"ref: refs/heads/main",
}
OPTIONS = {"agent": "claude-code@2.1.325", "home": "/home/me", "managed": "/etc/claude-code", "env": {}}


def test_a_dictionary_is_enough():
    view = foretold.load("/nowhere/repo", **OPTIONS, tree=Files(FILES))
    assert [entry.path for entry in view.entries] == [
        "/etc/claude-code/CLAUDE.md",
        "/home/me/.claude/CLAUDE.md",
        "/nowhere/repo/CLAUDE.md",
        "/nowhere/repo/docs/a.md",
        "/nowhere/repo/docs/b.md",
        "/nowhere/repo/.claude/rules/r.md",
        "/nowhere/repo/CLAUDE.local.md",
    ]
    assert [(skip.path, skip.reason) for skip in view.skips] == [
        ("/nowhere/repo/docs/none.md", "missing"),
        ("/etc/claude-code/CLAUDE.md", "outside-project"),
        ("/nowhere/repo/.claude/rules/t.md", "not-yet-read"),
    ]
    assert view.surroundings.git.top == "/nowhere/repo"


def test_a_session_over_a_dictionary():
    session = foretold.Session("/nowhere/repo", **OPTIONS, tree=Files(FILES))
    attached = session.read("sub/x.ts")
    assert [entry.path for entry in attached.entries] == [
        "/nowhere/repo/sub/CLAUDE.md",
        "/nowhere/repo/.claude/rules/t.md",
    ]


def test_a_dictionary_is_asked_every_time():
    files = dict(FILES)
    tree = Files(files)
    first = foretold.load("/nowhere/repo", **OPTIONS, tree=tree)
    files["/nowhere/repo/CLAUDE.md"] = b"changed"
    second = foretold.load("/nowhere/repo", **OPTIONS, tree=tree)
    assert (first.entries[2].text[:7], second.entries[2].text) == ("project", "changed")


def test_a_dictionary_without_the_folder():
    with pytest.raises(NotAFolder):
        foretold.load("/nowhere/else", **OPTIONS, tree=Files(FILES))
