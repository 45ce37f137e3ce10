"""Instructions through a conversation: what a touched file attaches, once, and in which form."""

import os

import pytest

from foretold.instructions.session import Attachment, Call
from foretold.types import Block, Entry, Skip

BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
NOTHING = Attachment((), ())


def nested(place):
    """A project with instructions at every level below it."""
    place.write("home/.claude/rules/u.md", "---\npaths: '*.ts'\n---\nuser rule\n")
    place.write("managed/.claude/rules/m.md", "---\npaths: '*.ts'\n---\nmanaged rule\n")
    place.write("proj/.claude/rules/p.md", "---\npaths: a/**\n---\nproject rule\n")
    place.write("proj/a/CLAUDE.md", "in a @note.md\n")
    place.write("proj/a/note.md", "note\n")
    place.write("proj/a/.claude/CLAUDE.md", "dot in a\n")
    place.write("proj/a/CLAUDE.local.md", "local in a\n")
    place.write("proj/a/.claude/rules/always.md", "rule in a\n")
    place.write("proj/a/.claude/rules/sub/cond.md", "---\npaths: b\n---\nwaiting in a\n")
    place.write("proj/a/b/CLAUDE.md", "  in b  \n")
    place.write("proj/a/b/x.ts")


def reads(*paths):
    return [Call("Read", {"file_path": path}) for path in paths]


# -- what is attached ----------------------------------------------------------------------------------------


def test_an_instruction_file_that_is_read_itself_has_that_as_its_reason(place):
    place.write("proj/a/CLAUDE.md", "in a\n")
    session = place.session(version="2.1.325")
    assert [skip.reason for skip in session.read("a/CLAUDE.md").skips] == ["read-itself"]


@BOTH
def test_the_order_of_one_read(place, version):
    nested(place)
    session = place.session(version=version)
    attached = session.read("a/b/x.ts")
    touched = place.path("proj/a/b/x.ts")
    assert [(place.short(entry.path), entry.reason, entry.layer) for entry in attached.entries] == [
        ("managed/.claude/rules/m.md", "path_glob_match", "managed"),
        ("home/.claude/rules/u.md", "path_glob_match", "user"),
        ("proj/a/CLAUDE.md", "nested_traversal", "project"),
        ("proj/a/note.md", "include", "project"),
        ("proj/a/.claude/CLAUDE.md", "nested_traversal", "project"),
        ("proj/a/CLAUDE.local.md", "nested_traversal", "local"),
        ("proj/a/.claude/rules/always.md", "nested_traversal", "project"),
        ("proj/a/.claude/rules/sub/cond.md", "path_glob_match", "project"),
        ("proj/a/b/CLAUDE.md", "nested_traversal", "project"),
        ("proj/.claude/rules/p.md", "path_glob_match", "project"),
    ]
    assert {entry.trigger for entry in attached.entries} == {touched}
    assert session.attached == list(attached.entries)


@BOTH
@pytest.mark.parametrize("path", ["a/b/x.ts", "./a/b/../b/x.ts", "{proj}/a/b/x.ts", "a/b/other.ts"])
def test_each_entry_once(place, version, path):
    nested(place)
    session = place.session(version=version)
    first = session.read("a/b/x.ts")
    second = session.read(path.format(proj=place.proj))
    assert (len(first.entries), second.entries, second.blocks) == (10, (), ())
    assert {skip.reason for skip in second.skips} <= {"already-attached", "not-yet-read"}
    assert session.attached == list(first.entries)


@BOTH
def test_a_deeper_read_adds_what_is_new(place, version):
    nested(place)
    session = place.session(version=version)
    assert place.told(session.read("a/y.txt")) == [
        "proj/a/CLAUDE.md",
        "proj/a/note.md",
        "proj/a/.claude/CLAUDE.md",
        "proj/a/CLAUDE.local.md",
        "proj/a/.claude/rules/always.md",
        "proj/.claude/rules/p.md",
    ]
    assert place.told(session.read("a/b/x.ts")) == [
        "managed/.claude/rules/m.md",
        "home/.claude/rules/u.md",
        "proj/a/.claude/rules/sub/cond.md",
        "proj/a/b/CLAUDE.md",
    ]


@BOTH
@pytest.mark.parametrize("path", ["top.txt", "../outside.txt", "/etc/hostname", "", ".", "..", "/"])
def test_files_that_add_nothing(place, version, path):
    nested(place)
    assert place.session(version=version).read(path).entries == ()


@BOTH
@pytest.mark.parametrize(
    "path",
    [
        "a\0b/x.ts",
        "b\0/" * 150,
        "a/" * 150 + "x.ts",
        "a" * 5000,
        "a/\ud800/x.ts",
        "\ud800/" * 150,
        "\n",
        "a/b/\x1b[31m.ts",
    ],
    ids=["nul", "deep-nul", "deep", "long", "surrogate", "deep-surrogate", "line", "escape"],
)
def test_impossible_paths_are_no_error(place, version, path):
    nested(place)
    assert isinstance(place.session(version=version).read(path), Attachment)


def test_a_rule_that_is_attached_is_not_also_skipped(place):
    nested(place)
    attached = place.session().read("a/b/x.ts")
    told = {entry.path for entry in attached.entries}
    assert [skip for skip in attached.skips if skip.path in told] == []


def test_a_rule_that_does_not_match_is_named(place):
    nested(place)
    attached = place.session().read("a/y.txt")
    assert attached.skips == (
        Skip(place.path("proj/a/.claude/rules/sub/cond.md"), "not-yet-read", "", "project", globs=("b",)),
    )


def test_what_is_skipped_in_a_nested_folder_has_a_reason(place):
    place.write("proj/a/CLAUDE.md", "@gone.md\n")
    place.folder("proj/a/CLAUDE.local.md")
    place.write("proj/a/.claude/CLAUDE.md", " \n")
    attached = place.session().read("a/x.ts")
    assert place.told(attached) == ["proj/a/CLAUDE.md"]
    assert attached.skips == (
        Skip(place.path("proj/a/gone.md"), "missing", "", "project", place.path("proj/a/CLAUDE.md"), 1),
        Skip(place.path("proj/a/.claude/CLAUDE.md"), "empty", "", "project"),
        Skip(place.path("proj/a/CLAUDE.local.md"), "folder", "", "local"),
    )


def test_nested_findings_are_told(place):
    """A missing import in a nested file is as much a finding as one at the start."""
    place.write("proj/a/CLAUDE.md", "@gone.md\n")
    assert place.found(place.session().read("a/x.ts")) == [("proj/a/CLAUDE.md", 1, "import-missing")]


def test_findings_of_nested_agents_md_are_told(place):
    place.write("proj/a/AGENTS.md", "---\npaths: [\n---\ntext\n")
    place.write("proj/b/CLAUDE.md", "---\npaths: [\n---\ntext\n")
    session = place.session()
    files, fallback = session.read("b/x.ts"), session.read("a/x.ts")
    assert [finding.code for finding in files.findings] == [finding.code for finding in fallback.findings]
    assert {place.short(finding.path) for finding in fallback.findings} == {"proj/a/AGENTS.md"}


# -- what the model has from the start -----------------------------------------------------------------------


@pytest.mark.parametrize(("version", "told"), [("2.1.197", ["proj/a/CLAUDE.md"]), ("2.1.325", [])])
def test_what_was_imported_at_the_start(place, version, told):
    """claude-code: nest-import-already."""
    place.write("proj/CLAUDE.md", "@a/CLAUDE.md\n")
    place.write("proj/a/CLAUDE.md", "in a\n")
    session = place.session(version=version)
    assert place.told(session.start()) == ["proj/CLAUDE.md", "proj/a/CLAUDE.md"]
    assert place.told(session.read("a/x.ts")) == told


@BOTH
def test_a_file_that_was_itself_read_is_not_attached(place, version):
    """claude-code: nest-read-claudemd, nest-read-claudemd-then."""
    place.write("proj/a/CLAUDE.md", "in a\n")
    session = place.session(version=version)
    assert session.read("a/CLAUDE.md").entries == ()
    assert session.read("a/x.ts").entries == ()


@BOTH
def test_an_agents_md_that_was_itself_read_is_not_attached(place, version):
    """claude-code@2.1.325: ag-nested-self."""
    place.write("proj/a/AGENTS.md", "in a\n")
    session = place.session(version=version)
    assert session.read("a/AGENTS.md").entries == ()
    assert session.read("a/x.ts").entries == ()


@pytest.mark.parametrize(
    ("version", "told"),
    [("2.1.197", []), ("2.1.325", ["proj/a/AGENTS.md", "proj/a/.claude/AGENTS.md", "proj/a/b/AGENTS.md"])],
)
def test_nested_agents_md(place, version, told):
    for path in ("a/AGENTS.md", "a/.claude/AGENTS.md", "a/b/AGENTS.md"):
        place.write(f"proj/{path}", path)
    assert place.told(place.session(version=version).read("a/b/x.ts")) == told


def test_starting_again_forgets(place):
    place.write("proj/a/CLAUDE.md", "in a\n")
    session = place.session()
    first = session.read("a/x.ts").entries
    assert session.read("a/x.ts").entries == ()
    session.start()
    assert session.attached == []
    assert session.read("a/x.ts").entries == first


def test_the_view_is_that_of_the_start(place):
    place.write("proj/CLAUDE.md", "before\n")
    session = place.session()
    view = session.view
    place.write("proj/CLAUDE.md", "after, and longer\n")
    assert (session.view is view, session.view.entries[0].text) == (True, "before\n")
    assert session.start().entries[0].text == "after, and longer\n"


# -- which tools ---------------------------------------------------------------------------------------------

TOOLS = [
    (Call("Read", {"file_path": "a/x.ts"}), True, True),
    (Call("Read", {"file_path": "a/gone.ts"}, "missing"), False, True),
    (Call("Read", {"file_path": "a/x.ts"}, "denied"), False, False),
    (Call("Write", {"file_path": "a/new.ts", "content": ""}), False, True),
    (Call("Write", {"file_path": "a/new.ts", "content": ""}, "denied"), False, False),
    (Call("Edit", {"file_path": "a/x.ts"}), False, True),
    (Call("Edit", {"file_path": "a/x.ts"}, "not-found"), False, False),
    (Call("NotebookEdit", {"notebook_path": "a/x.ipynb"}), False, True),
    (Call("Bash", {"command": "cat a/x.ts"}), False, True),
    (Call("Bash", {"command": "cat a/x.ts"}, "exit"), False, False),
    (Call("Bash", {"command": "cat a/gone.ts"}), False, False),
    (Call("Bash", {"command": "cat a/x.ts | wc"}), False, False),
    (Call("Grep", {"path": "a/x.ts", "pattern": "x"}), False, False),
    (Call("Glob", {"pattern": "a/*"}), False, False),
    (Call("Read", {}), False, False),
    (Call("Read", {"file_path": 3}), False, False),
    (Call("Bash", {}), False, False),
    (Call("Unknown", {"file_path": "a/x.ts"}), False, False),
]


@pytest.mark.parametrize(("call", "old", "new"), TOOLS, ids=lambda value: getattr(value, "tool", None))
def test_tools(place, call, old, new):
    place.write("proj/a/CLAUDE.md", "in a\n")
    place.write("proj/a/x.ts")
    found = [bool(place.session(version=version).use([call]).entries) for version in ("2.1.197", "2.1.325")]
    assert found == [old, new]


def test_a_folder_that_is_read_wakes_rules_but_not_its_own_file(place):
    """claude-code@2.1.325: rule-dirtarget, n325-read-dir."""
    place.write("proj/a/CLAUDE.md", "in a\n")
    place.write("proj/.claude/rules/r.md", "---\npaths: a\n---\nrule\n")
    call = Call("Read", {"file_path": "a"}, "is-a-folder")
    assert place.told(place.session().use([call])) == ["proj/.claude/rules/r.md"]
    assert place.told(place.session(version="2.1.197").use([call])) == []


def test_the_shell_keeps_its_folder(place):
    place.write("proj/a/CLAUDE.md", "in a\n")
    place.write("proj/a/x.ts")
    session = place.session()
    assert session.shell_folder == place.proj
    assert session.use([Call("Bash", {"command": "cd a"})]).entries == ()
    assert session.shell_folder == place.path("proj/a")
    session.use([Call("Bash", {"command": "cd ../nowhere"}, "exit")])
    assert session.shell_folder == place.path("proj/a")
    assert place.told(session.use([Call("Bash", {"command": "cat x.ts"})])) == ["proj/a/CLAUDE.md"]


def test_agents_md_follow_only_a_read(place):
    """claude-code@2.1.325: ag-nested-write, ag-nested-bash, ag-nested-edit, ag-nested-missing."""
    place.write("proj/a/AGENTS.md", "in a\n")
    place.write("proj/a/x.ts")
    session = place.session()
    for call in (
        Call("Write", {"file_path": "a/y.ts"}),
        Call("Edit", {"file_path": "a/x.ts"}),
        Call("Bash", {"command": "cat a/x.ts"}),
        Call("Read", {"file_path": "a/gone.ts"}, "missing"),
    ):
        assert session.use([call]).entries == ()
    assert place.told(session.read("a/x.ts")) == ["proj/a/AGENTS.md"]


# -- several calls of one turn -------------------------------------------------------------------------------


def two_folders(place):
    place.write("proj/a/CLAUDE.md", "in a\n")
    place.write("proj/b/CLAUDE.md", "in b")
    return place.path("proj/a/CLAUDE.md"), place.path("proj/b/CLAUDE.md")


def test_several_calls_of_one_turn(place):
    a, b = two_folders(place)
    old = place.session(version="2.1.197").use(reads("a/x", "b/x", "a/y"))
    new = place.session().use(reads("a/x", "b/x", "a/y"))
    assert place.told(old) == place.told(new) == ["proj/a/CLAUDE.md", "proj/b/CLAUDE.md"]
    assert old.blocks == (Block("system", "text", f"Contents of {a}:\n\nin a\n\n\nContents of {b}:\n\nin b"),)
    assert new.blocks == (
        Block("user", "text", f"<system-reminder>\nContents of {a}:\n\nin a\n\n</system-reminder>\n"),
        Block("user", "text", f"<system-reminder>\nContents of {b}:\n\nin b\n</system-reminder>"),
    )


def test_no_calls(place):
    assert place.session().use([]) == NOTHING
    assert place.session(version="2.1.197").use(iter(())) == NOTHING


@BOTH
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-5-20250929"])
def test_models_without_system_messages_have_it_in_the_result(place, version, model):
    a, b = two_folders(place)
    attached = place.session(version=version, model=model).use(reads("a/x", "b/x"))
    assert attached.blocks == (
        Block("user", "tool_result", f"\n\n<system-reminder>\nContents of {a}:\n\nin a\n\n</system-reminder>"),
        Block("user", "tool_result", f"\n\n<system-reminder>\nContents of {b}:\n\nin b\n</system-reminder>"),
    )


@pytest.mark.parametrize(
    ("model", "blocks"),
    [
        ("claude-opus-5-5", [("system", "text", "{text}")]),
        ("claude-sonnet-5", [("system", "text", "<system-reminder>\n{text}\n</system-reminder>")]),
        ("claude-haiku-4-5", [("user", "tool_result", "\n\n<system-reminder>\n{text}\n</system-reminder>")]),
    ],
)
def test_agents_md_by_model(place, model, blocks):
    """claude-code@2.1.325: ag-nested, ag-nested-sonnet5, ag-nested-haiku; joined by one line end."""
    first = place.write("proj/a/AGENTS.md", "one")
    second = place.write("proj/a/.claude/AGENTS.md", "two")
    text = f"tool.call hook additional context: Contents of {first}:\n\none\nContents of {second}:\n\ntwo"
    attached = place.session(model=model).read("a/x.ts")
    assert attached.blocks == tuple(Block(role, kind, said.format(text=text)) for role, kind, said in blocks)


def test_agents_md_of_two_calls_are_joined(place):
    first, second = place.write("proj/a/AGENTS.md", "one"), place.write("proj/b/AGENTS.md", "two")
    lead = "tool.call hook additional context: Contents of"
    (block,) = place.session().use(reads("a/x", "b/x")).blocks
    assert block == Block("system", "text", f"{lead} {first}:\n\none\n\n{lead} {second}:\n\ntwo")


# -- mentions ------------------------------------------------------------------------------------------------


def test_mentions_in_a_prompt(place):
    a, _ = two_folders(place)
    place.write("proj/a/x.ts")
    place.write("proj/a/y z.ts")
    for prompt in ("look at @a/x.ts please", '@"a/y z.ts"', "@a/x.ts", "@a/x.ts#L3-5", f"see\n@{place.proj}/a/x.ts"):
        old, new = place.session(version="2.1.197").prompt(prompt), place.session().prompt(prompt)
        assert old.blocks == (Block("system", "text", f"Contents of {a}:\n\nin a\n"),)
        assert new.blocks == (
            Block("user", "text", f"<system-reminder>\nContents of {a}:\n\nin a\n\n</system-reminder>"),
        )


@BOTH
@pytest.mark.parametrize("prompt", ["", "no mention", "me@a/x.ts", "@a", "@", "a/x.ts", '@"a/x.ts', "@\0"])
def test_prompts_that_attach_nothing(place, version, prompt):
    two_folders(place)
    place.write("proj/a/x.ts")
    assert place.session(version=version).prompt(prompt) == NOTHING


@pytest.mark.parametrize(("version", "told"), [("2.1.197", []), ("2.1.325", ["proj/a/CLAUDE.md"])])
def test_a_mention_of_a_file_that_is_not_there(place, version, told):
    two_folders(place)
    assert place.told(place.session(version=version).prompt("@a/gone.ts")) == told


def test_mentioned_files_are_attached_once(place):
    two_folders(place)
    place.write("proj/a/x.ts")
    place.write("proj/b/x.ts")
    session = place.session()
    assert place.told(session.mention("a/x.ts", "b/x.ts", "a/x.ts")) == ["proj/a/CLAUDE.md", "proj/b/CLAUDE.md"]
    assert session.mention("a/x.ts").entries == ()
    assert session.read("b/x.ts").entries == ()


def test_mentions_and_agents_md(place):
    """claude-code@2.1.325: ag-nested-mention."""
    path = place.write("proj/a/AGENTS.md", "one")
    place.write("proj/a/x.ts")
    (block,) = place.session().mention("a/x.ts").blocks
    said = f"prompt.mention hook additional context: Contents of {path}:\n\none"
    assert block == Block("user", "text", f"<system-reminder>\n{said}\n</system-reminder>")


# -- subagents -----------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("name", "told"),
    [("general-purpose", True), ("claude", True), ("my-agent", True), ("", True), ("Explore", False), ("Plan", False)],
)
def test_what_a_subagent_is_told(place, version, name, told):
    place.write("proj/CLAUDE.md", "project\n")
    session = place.session(version=version)
    subagent = session.subagent(name)
    assert subagent.view.text == (session.view.text if told else None)
    assert subagent.start().text == (session.view.text if told else None)


@BOTH
def test_a_subagent_has_its_own_conversation(place, version):
    place.write("proj/a/CLAUDE.md", "in a\n")
    place.write("proj/.claude/rules/r.md", "---\npaths: '*.ts'\n---\nrule\n")
    session = place.session(version=version)
    assert len(session.read("a/x.ts").entries) == 2
    subagent = session.subagent("general-purpose")
    assert place.told(subagent.read("a/x.ts")) == ["proj/a/CLAUDE.md", "proj/.claude/rules/r.md"]
    assert subagent.read("a/x.ts").entries == ()
    assert place.told(session.subagent("Explore").read("a/x.ts")) == ["proj/a/CLAUDE.md", "proj/.claude/rules/r.md"]
    assert session.read("a/x.ts").entries == ()


def test_a_subagent_starts_in_the_working_directory(place):
    place.folder("proj/a")
    session = place.session()
    session.use([Call("Bash", {"command": "cd a"})])
    assert session.subagent("claude").shell_folder == place.proj


# -- switches ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("args", [["--bare"], ["--safe-mode"]])
def test_nothing_is_attached_when_loading_is_off(place, version, args):
    nested(place)
    place.write("proj/a/AGENTS.md", "agents")
    attached = place.session(version=version, args=args).read("a/b/x.ts")
    assert (attached.entries, attached.blocks) == ((), ())


@BOTH
def test_excludes_hold_for_nested_files(place, version):
    nested(place)
    session = place.session(version=version, settings={"claudeMdExcludes": ["**/a/CLAUDE.md", "**/p.md"]})
    told = place.told(session.read("a/b/x.ts"))
    assert "proj/a/CLAUDE.md" not in told
    assert "proj/a/note.md" not in told
    assert "proj/.claude/rules/p.md" not in told
    assert "proj/a/b/CLAUDE.md" in told


@BOTH
def test_a_linked_folder_that_leads_out(place, version):
    """claude-code: nest-symlinkdir: as spelled; nothing if the folder's real path is outside."""
    place.write("outside/CLAUDE.md", "outside\n")
    place.write("proj/inside/CLAUDE.md", "inside\n")
    place.link("proj/out", "../outside")
    place.link("proj/in", "inside")
    session = place.session(version=version)
    assert session.read("out/x.ts").entries == ()
    assert place.told(session.read("in/x.ts")) == ["proj/in/CLAUDE.md"]


def test_files_that_come_and_go(place):
    """A conversation is long: the disk is asked each time."""
    session = place.session()
    assert session.read("a/x.ts").entries == ()
    path = place.write("proj/a/CLAUDE.md", "new\n")
    attached = session.read("a/x.ts")
    assert attached.entries == (
        Entry(
            path,
            "project",
            "new\n",
            "new\n",
            reason="nested_traversal",
            trigger=place.path("proj/a/x.ts"),
            size=4,
            folder=place.path("proj/a"),
        ),
    )
    os.remove(path)
    assert session.read("a/y.ts").entries == ()


# -- compaction and clearing ---------------------------------------------------------------------------------


def seen(place, *paths):
    """Files as an agent has read them, the last first: path, text, time of change."""
    found = []
    for path in map(place.path, paths):
        with open(path, encoding="utf-8") as file:
            found.insert(0, (path, file.read(), os.stat(path).st_mtime_ns // 1_000_000))
    return found


def after_a_read(place, version):
    """A session that has read seven files of a folder with instructions of its own, and a rule that they wake."""
    place.write("proj/CLAUDE.md", "root @note.md\n")
    place.write("proj/note.md", "note\n")
    place.write("proj/.claude/rules/c.md", "---\npaths: '*.txt'\n---\ncond\n")
    place.write("proj/sub/CLAUDE.md", "in sub\n")
    names = [f"proj/sub/x{number}.txt" for number in range(1, 8)]
    for number, name in enumerate(names, 1):
        place.write(name, "x\n")
        os.utime(place.path(name), (1_700_000_000 - 1000 * number,) * 2)
    os.utime(place.path("proj/sub/CLAUDE.md"), (1_700_000_000 - 5500,) * 2)
    os.utime(place.path("proj/.claude/rules/c.md"), (1_700_000_000 - 4500,) * 2)
    session = place.session(version=version)
    session.start()
    session.use(reads(*(place.path(name) for name in names)))
    return session, seen(place, *names)


@BOTH
def test_compaction_loads_the_start_again(place, version):
    """The agent's own hook calls it `compact`, except for imports."""
    session, read = after_a_read(place, version)
    place.write("proj/CLAUDE.md", "changed @note.md\n")
    survival = session.compact(read)
    assert [(place.short(each["file_path"]), each["load_reason"]) for each in survival.view.loaded] == [
        ("proj/CLAUDE.md", "compact"),
        ("proj/note.md", "include"),
    ]
    assert "changed" in survival.view.text
    assert (survival.changed, survival.assumed) == ((place.path("proj/CLAUDE.md"),), "")
    assert session.view is survival.view


@pytest.mark.parametrize(
    ("version", "files", "survived", "lost"),
    [
        # the time of an instruction file is that of its loading: it is among the newest
        ("2.1.197", ["c.md", "CLAUDE.md", "x1.txt", "x2.txt", "x3.txt"], ["CLAUDE.md", "c.md"], []),
        ("2.1.325", ["x1.txt", "x2.txt", "x3.txt", "x4.txt", "c.md"], ["c.md"], ["CLAUDE.md"]),
    ],
)
def test_what_survives_as_a_file(place, version, files, survived, lost):
    session, read = after_a_read(place, version)
    survival = session.compact(read)
    assert [os.path.basename(path) for path in survival.files.paths] == files
    assert [os.path.basename(entry.path) for entry in survival.survived] == survived
    assert [(os.path.basename(skip.path), skip.reason) for skip in survival.lost] == [(name, "lost") for name in lost]
    again = session.read(place.path("proj/sub/x7.txt"))
    assert [os.path.basename(entry.path) for entry in again.entries] == lost


def test_a_nested_file_of_another_agent_is_lost(place):
    place.write("proj/sub/AGENTS.md", "agents\n")
    place.write("proj/sub/x.txt")
    session = place.session(version="2.1.325")
    assert place.told(session.read("sub/x.txt")) == ["proj/sub/AGENTS.md"]
    survival = session.compact(seen(place, "proj/sub/x.txt"))
    assert [place.short(path) for path in survival.files.paths] == ["proj/sub/x.txt"]
    assert [place.short(skip.path) for skip in survival.lost] == ["proj/sub/AGENTS.md"]
    assert place.told(session.read("sub/x.txt")) == ["proj/sub/AGENTS.md"]


def test_the_order_of_what_was_loaded_in_one_step(place):
    """2.1.197: the folder that was loaded last comes first, its files in their order."""
    for path in ("a/CLAUDE.md", "a/b/CLAUDE.md", "a/b/CLAUDE.local.md", "a/b/.claude/rules/r.md", "a/b/x.txt"):
        place.write(f"proj/{path}", "text\n" if path.endswith("x.txt") else f"{path}\n")
    session = place.session(version="2.1.197")
    session.read("a/b/x.txt")
    assert [place.short(path) for path in session.compact().files.paths] == [
        "proj/a/b/CLAUDE.md",
        "proj/a/b/CLAUDE.local.md",
        "proj/a/b/.claude/rules/r.md",
        "proj/a/CLAUDE.md",
    ]


@BOTH
def test_compaction_that_knows_of_no_files(place, version):
    """Instruction files that were attached are known to the session itself; they come back, as they are few."""
    session, _ = after_a_read(place, version)
    survival = session.compact()
    assert {os.path.basename(path) for path in survival.files.paths} == {"CLAUDE.md", "c.md"}
    assert survival.lost == ()
    assert session.attached == list(survival.survived)
    assert session.compact().files.paths == survival.files.paths


@BOTH
def test_an_instruction_file_that_is_too_long_is_lost(place, version):
    place.write("proj/sub/CLAUDE.md", "word " * 10_000)
    place.write("proj/sub/x.py")
    session = place.session(version=version)
    assert len(session.read("sub/x.py").entries) == 1
    survival = session.compact(count=lambda text: len(text) // 4)
    (skip,) = survival.lost
    assert (place.short(skip.path), skip.reason, survival.survived) == ("proj/sub/CLAUDE.md", "lost", ())
    assert [skip.reason for skip in survival.files.skips] == ["too-large"]
    assert place.told(session.read("sub/x.py")) == ["proj/sub/CLAUDE.md"]


@BOTH
def test_clearing_begins_anew(place, version):
    session, _ = after_a_read(place, version)
    attached = list(session.attached)
    place.write("proj/note.md", "other\n")
    survival = session.clear()
    assert [each["load_reason"] for each in survival.view.loaded] == ["session_start", "include"]
    assert (survival.survived, survival.files, survival.assumed) == ((), None, "")
    assert survival.changed == (place.path("proj/note.md"),)
    assert [skip.path for skip in survival.lost] == [entry.path for entry in attached]
    assert len(session.read(place.path("proj/sub/x1.txt")).entries) == len(attached) == 2


def test_a_version_that_was_not_recorded(place):
    survival = place.session(version="2.2.0").compact()
    assert survival.assumed == "2.2.0 was not recorded; 2.1.325 was"


@pytest.mark.parametrize(
    ("agent", "name", "start", "assumed"),
    [
        ("codex", "AGENTS.md", "old", ""),  # sent again as it was
        ("opencode", "AGENTS.md", "new", ""),  # read for every request
        ("gemini-cli", "GEMINI.md", "old", "not recorded; the text of the start is assumed to stay as it was"),
        (
            "goose",
            "AGENTS.md",
            "new",
            "not recorded; assumed to load the instructions again, as for a new conversation",
        ),
    ],
)
def test_other_agents(place, agent, name, start, assumed):
    place.write(f"proj/{name}", "old\n")
    session = place.session(agent=agent, trust=True)
    session.start()
    place.write(f"proj/{name}", "new\n")
    survival = session.compact()
    assert (start in survival.view.text, survival.assumed) == (True, assumed)
    assert (survival.files, survival.changed == ()) == (None, start == "old")
    assert "new" in session.clear().view.text


def test_a_nested_file_of_opencode_is_lost_and_comes_again(place):
    place.write("proj/AGENTS.md")
    place.write("proj/sub/AGENTS.md", "in sub\n")
    place.write("proj/sub/x.txt")
    session = place.session(agent="opencode")
    call = Call("read", {"filePath": place.path("proj/sub/x.txt")})
    assert place.told(session.use([call])) == ["proj/sub/AGENTS.md"]
    assert session.use([call]).entries == ()
    assert [place.short(skip.path) for skip in session.compact().lost] == ["proj/sub/AGENTS.md"]
    assert place.told(session.use([call])) == ["proj/sub/AGENTS.md"]


def test_a_gone_file_of_the_start_is_told(place):
    path = place.write("proj/CLAUDE.md")
    session = place.session()
    session.start()
    os.remove(path)
    new = place.write("proj/CLAUDE.local.md")
    assert session.compact().changed == (new, path)


def test_a_kept_view_is_forgotten(place):
    """N-30: a view is kept until /clear or /compact."""
    place.write("proj/CLAUDE.md")
    view = place.load()
    assert place.load() is view
    session = place.session()
    session.compact()
    assert place.load() is not view
    view = place.load()
    session.clear()
    assert place.load() is not view
