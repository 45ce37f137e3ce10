"""The code-assist interface: files, the text of the system prompt, memory entries."""

import os
import subprocess
import sys
from dataclasses import MISSING, fields
from enum import StrEnum
from pathlib import Path

import pytest

import foretold
from foretold.compat import code_assist
from foretold.compat.code_assist import MemoryEntry, MemoryFileInfo, MemoryType
from foretold.errors import NotAFolder


def files(place, root="proj", **options):
    root = None if root is None else place.path(root)
    return code_assist.get_memory_files(root, home=place.home, managed=place.managed, **options)


def told(place, found):
    return [(place.short(file.path), file.source) for file in found]


def test_order_and_sources(place):
    for name in ("managed/CLAUDE.md", "managed/.claude/CLAUDE.md", "home/.claude/CLAUDE.md", "extra/CLAUDE.md"):
        place.write(name)
    for name in ("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/b.md", ".claude/rules/a.md", "CLAUDE.local.md"):
        place.write(f"proj/{name}")
    assert told(place, files(place, additional_dirs=[place.path("extra")])) == [
        ("managed/CLAUDE.md", "managed"),
        ("managed/.claude/CLAUDE.md", "managed"),
        ("home/.claude/CLAUDE.md", "user"),
        ("proj/CLAUDE.md", "project"),
        ("proj/.claude/CLAUDE.md", "project"),
        ("proj/.claude/rules/a.md", "project"),
        ("proj/.claude/rules/b.md", "project"),
        ("proj/CLAUDE.local.md", "local"),
        ("extra/CLAUDE.md", "project"),
    ]
    assert told(place, files(place, None)) == [
        ("managed/CLAUDE.md", "managed"),
        ("managed/.claude/CLAUDE.md", "managed"),
        ("home/.claude/CLAUDE.md", "user"),
    ]
    assert told(place, files(place, None, include_managed=False, include_user=False)) == []


def test_every_field(place):
    place.write("proj/CLAUDE.md", "ü\n")
    place.write("proj/.claude/rules/r.md", "---\npaths: '*.ts'\n---\nR\n")
    place.write("home/.claude/CLAUDE.md", "U")
    user, project, rule = files(place)
    assert user == MemoryFileInfo(place.path("home/.claude/CLAUDE.md"), "U", "user", False, None, 1, [])
    assert project == MemoryFileInfo(place.path("proj/CLAUDE.md"), "ü\n", "project", True, "CLAUDE.md", 2, [])
    # frontmatter is text to it, and its rules always apply
    assert (rule.content, rule.is_root, rule.relative_path) == (
        "---\npaths: '*.ts'\n---\nR\n",
        False,
        ".claude/rules/r.md",
    )


def test_the_accidental_name_in_the_users_folder(place):
    """C-04: `~/.claude/.claude/CLAUDE.md` was looked for by mistake."""
    place.write("home/.claude/.claude/CLAUDE.md")
    assert files(place) == []


def test_no_walk_and_no_imports(place):
    place.write("CLAUDE.md")
    place.write("proj/CLAUDE.md", "@x.md <!-- c -->")
    place.write("proj/x.md", "X")
    assert [file.content for file in files(place)] == ["@x.md <!-- c -->"]


def test_bytes_that_are_not_utf8_are_an_error_of_the_file(place):
    """C-24, C-25: they raised, and `errors` was never filled."""
    place.write("proj/CLAUDE.md", b"caf\xe9")
    place.write("proj/CLAUDE.local.md", "L")
    bad, good = files(place)
    assert (bad.content, bad.errors) == ("caf\ufffd", ["bytes that are not UTF-8 are sent as U+FFFD"])
    assert (good.content, good.errors) == ("L", [])


def test_a_folder_given_twice_is_loaded_once(place):
    """C-26: the project root as an additional folder was loaded twice."""
    place.write("proj/CLAUDE.md")
    place.write("x/CLAUDE.md")
    extra = [place.proj, place.path("x"), place.path("x"), place.path("nowhere"), place.write("x/file")]
    assert told(place, files(place, additional_dirs=extra)) == [
        ("proj/CLAUDE.md", "project"),
        ("x/CLAUDE.md", "project"),
    ]
    found = code_assist.view(place.proj, additional_dirs=extra, home=place.home, managed=place.managed)
    assert ("proj/CLAUDE.md", "duplicate") in place.skipped(found)


def test_a_folder_that_is_not_there(place):
    """Nobody starts there: the name is mistyped."""
    for function in (files, lambda place, root: code_assist.view(place.path(root))):
        with pytest.raises(NotAFolder, match="nowhere is not a folder"):
            function(place, "nowhere")


def test_without_a_root_it_is_the_current_folder(place, monkeypatch):
    place.write("proj/CLAUDE.md")
    monkeypatch.chdir(place.proj)
    found = code_assist.get_memory_files(home=place.home, managed=place.managed)
    assert told(place, found) == [("proj/CLAUDE.md", "project")]


def test_what_is_not_loaded_is_named(place):
    place.write("proj/CLAUDE.md", "")
    place.fifo("proj/.claude/CLAUDE.md")
    place.write("proj/.claude/rules/sub/x.md")
    found = code_assist.view(place.proj, include_managed=False, include_user=False, home=place.home)
    assert place.skipped(found) == [
        ("proj/CLAUDE.md", "empty"),
        ("proj/.claude/CLAUDE.md", "not-a-file"),
        ("proj/.claude/rules/sub", "not-walked"),
    ]


GIVEN = [
    MemoryFileInfo("/m", "M\n", "managed"),
    MemoryFileInfo("/u", "\n  U\n\n", "user"),
    MemoryFileInfo("/e", "", "user"),  # C-27: a header with nothing below it
    MemoryFileInfo("/l", "L", "local"),
]


def test_a_text_is_directly_under_its_header():
    """C-11 to C-13: the sample of the document has no line between them, and one between files."""
    assert code_assist.build_claude_md_context(GIVEN) == (
        "Contents of /m (organization-managed instructions):\nM\n\n"
        "Contents of /u (user's private global instructions for all projects):\n\n  U\n\n"
        "Contents of /l:\nL"
    )
    assert code_assist.build_claude_md_context([]) == ""


def test_the_layout_of_the_program():
    assert code_assist.build_claude_md_context(GIVEN, layout="program") == (
        "Contents of /m (organization-managed instructions):\n\nM\n\n\n"
        "Contents of /u (user's private global instructions for all projects):\n\n\n  U\n\n\n\n"
        "Contents of /l:\n\nL"
    )


def test_the_block_of_the_program():
    """It has a line of its own instead of the sentence."""
    block = code_assist.build_system_prompt_block(memory_files=GIVEN[3:], layout="program")
    assert block.text == "# claudeMd\nContents of /l:\n\nL"


@pytest.mark.parametrize("build", [code_assist.build_claude_md_context, code_assist.build_system_prompt_block])
def test_a_layout_that_is_not_there(build):
    with pytest.raises(ValueError, match="the layout is 'programm'; it can be document, program"):
        build(GIVEN, layout="programm")


def test_the_block_of_the_system_prompt():
    """C-14: the documents promise the sentence, and nothing before it; the program forgot it."""
    block = code_assist.build_system_prompt_block([MemoryFileInfo("/p/CLAUDE.md", "P")])
    sentence = (
        "Codebase and user instructions are shown below. Be sure to adhere to these instructions. IMPORTANT: "
        "These instructions OVERRIDE any default behavior and you MUST follow them exactly as written."
    )
    assert sentence == code_assist.MEMORY_INSTRUCTION_PROMPT
    assert block.to_dict() == {
        "type": "text",
        "text": f"{sentence}\n\nContents of /p/CLAUDE.md:\nP",
        "cache_control": {"type": "ephemeral"},
    }
    assert code_assist.build_system_prompt_block([]) is None


def test_the_prompt_of_every_message_is_made_from_the_files_as_they_are(place):
    """C-09: what is kept between messages is given up as soon as a file changes, appears or vanishes."""

    def text():
        block = code_assist.build_system_prompt_block(files(place))
        return block.text.partition("\n\n")[2] if block else None

    assert text() is None
    path = place.write("proj/CLAUDE.md", "ONE")
    assert text() == f"Contents of {path}:\nONE"
    assert text() == f"Contents of {path}:\nONE"
    place.write("proj/CLAUDE.md", "TWO!")
    local = place.write("proj/CLAUDE.local.md", "L")
    assert text() == f"Contents of {path}:\nTWO!\n\nContents of {local}:\nL"
    os.remove(path)
    assert text() == f"Contents of {local}:\nL"


def test_the_engine_says_the_same(place):
    place.write("proj/CLAUDE.md", "P")
    found = code_assist.view(place.proj, home=place.home, managed=place.managed)
    block = code_assist.build_system_prompt_block(files(place))
    assert [(slot.block.role, slot.block.text) for slot in found.slots] == [("system", block.text)]


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/p/CLAUDE.md", True),
        ("CLAUDE.local.md", True),
        (Path("/p/.claude/rules/a/b.md"), True),
        ("C:\\p\\.claude\\rules\\a.md", True),  # C-29
        ("/p/.claude/rulesX/a.md", False),  # C-29
        ("/p/MYCLAUDE.md", False),
        ("/p/.claude/rules/a.txt", False),
        ("/p/README.md", False),
    ],
)
def test_is_it_a_memory_file(path, is_one):
    assert code_assist.is_memory_file_path(path) is is_one


def test_only_files_of_that_name():
    """C-28: the original compared the end of the path."""
    given = [MemoryFileInfo(path) for path in ("/p/CLAUDE.md", "CLAUDE.md", "/p/MYCLAUDE.md", "/p/CLAUDE.local.md")]
    assert [file.path for file in code_assist.get_claude_mds(given)] == ["/p/CLAUDE.md", "CLAUDE.md"]


def test_large_files(place):
    place.write("proj/CLAUDE.md", "ü" * 40_000)
    place.write("proj/CLAUDE.local.md", "x" * 40_001)
    assert [file.source for file in code_assist.get_large_memory_files(files(place))] == ["local"]
    assert code_assist.MAX_MEMORY_CHARACTER_COUNT == 40_000


def test_what_the_documents_warn_about(place):
    """C-35, C-37, C-38: long files, secrets that would be sent, a local file that git would share."""
    place.git("init -q .")
    place.write("proj/CLAUDE.md", "Use tabs.\nThe key is AKIAIOSFODNN7EXAMPLQ.\n")
    place.write("proj/.claude/rules/long.md", "x" * 40_001)
    place.write("proj/CLAUDE.local.md", "Mine.")
    found = code_assist.check_memory_files(files(place))
    assert [(place.short(each.path), each.line, each.code) for each in found] == [
        ("proj/.claude/rules/long.md", None, "instructions-long"),
        ("proj/CLAUDE.md", 2, "instructions-credential"),
        ("proj/CLAUDE.local.md", None, "local-not-ignored"),
    ]
    assert "AKIA" not in found[1].message
    assert all(each.hint for each in found)
    seen = code_assist.view(place.proj, home=place.home, managed=place.managed)
    assert list(seen.findings) == found
    assert [file.errors for file in files(place)] == [[], [], []]
    assert list(foretold.load(place.proj, agent="code-assist", home=place.home).findings) == found
    assert [each.code for each in foretold.load(place.proj, home=place.home, env={}).findings] == []
    place.write("proj/.gitignore", "CLAUDE.local.md\n")
    assert [each.code for each in code_assist.check_memory_files(files(place))][2:] == []
    seen = code_assist.view(place.proj, home=place.home, managed=place.managed)
    assert [each.code for each in seen.findings][2:] == []


def test_the_example_that_prints(place):
    """C-32"""
    path = place.write("proj/CLAUDE.md", "Use tabs.")
    assert [f"{f.source}: {f.path} ({f.size} chars)" for f in files(place)] == [f"project: {path} (9 chars)"]


# -- the module paths of the documents --------------------------------------------------------------------------

IMPORTS = """
from code_assist.memory.memory_types import MemoryType
from code_assist.config.claude_md import get_memory_files
from code_assist.memory.memory_scan import scan_memory_files
from code_assist.memory.memory_scan import parse_memory_frontmatter
from code_assist.config.constants import get_memory_dir
from code_assist.config.claude_md import get_memory_files, get_large_memory_files
from code_assist.config.claude_md import build_claude_md_context, MemoryFileInfo
from code_assist.memory.memory_types import MemoryEntry
from code_assist.memory.paths import get_memory_dir as get_memory_dir_of_the_program
""".strip().splitlines()


@pytest.mark.parametrize("line", IMPORTS)
def test_only_the_name_of_the_package_changes(line):
    """C-52: in a process of its own, so that no other import has prepared it."""
    changed = line.replace("from code_assist.", "from foretold.compat.code_assist.")
    subprocess.run([sys.executable, "-c", changed], check=True)


def test_a_name_is_the_same_wherever_it_is_imported_from():
    from foretold.compat.code_assist.config import claude_md, constants
    from foretold.compat.code_assist.memory import memory_scan, memory_types, paths

    assert claude_md.get_memory_files is code_assist.get_memory_files
    assert claude_md.MemoryFileInfo is MemoryFileInfo
    assert constants.get_memory_dir is code_assist.get_memory_dir
    assert constants.get_memory_dir.__name__ == "get_memory_dir"
    assert constants.MAX_MEMORY_CHARACTER_COUNT is claude_md.MAX_MEMORY_CHARACTER_COUNT
    assert memory_scan.scan_memory_files is code_assist.scan_memory_files
    assert memory_types.MemoryType is MemoryType
    assert paths.get_memory_dir is code_assist.paths.get_memory_dir


# -- memory entries ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("---\nname: a\n---", {"name": "a"}),  # C-31: a newline was needed behind it
        ("\ufeff---\nname: a\n---\n", {"name": "a"}),  # C-31
        ("---\n---\nb", {}),
        ("---\nname: 'it''s: b'\n# note: c\n\nplain\n---\n", {"name": "it''s: b"}),  # C-31: comments became keys
        ("---\r\nname: a\r\n---\r\nb", {"name": "a"}),
        ("---\nname: a\n", {}),
        ("", {}),
    ],
)
def test_memory_frontmatter(text, values):
    assert code_assist.parse_memory_frontmatter(text) == values


def test_entries(place):
    folder = "home/.claude/projects/fake/memory"
    place.write(f"{folder}/b.md", "---\nname: B\ndescription: d\ntype: FEEDBACK\n---\n\n body \n")
    place.write(f"{folder}/a.md", "just text")
    place.write(f"{folder}/MEMORY.md", "index")
    place.write(f"{folder}/sub/c.md")
    place.write(f"{folder}/d.txt")
    found = code_assist.scan_memory_files("/fake", home=place.home)
    assert found == [
        MemoryEntry("a", "", MemoryType.USER, "just text", place.path(f"{folder}/a.md")),
        MemoryEntry("B", "d", MemoryType.FEEDBACK, "body", place.path(f"{folder}/b.md")),  # C-20: any case of letters
    ]


def test_the_documented_folder_is_read_too(place):
    """C-34: it never was."""
    place.write("home/.claude/projects/-fake/note.md", "---\ntype: reference\n---\nX")
    (entry,) = code_assist.scan_memory_files("/fake", home=place.home)
    assert (entry.name, entry.type, entry.content) == ("note", "reference", "X")


def test_entries_that_cannot_be_read(place):
    folder = "home/.claude/projects/fake/memory"
    place.write(f"{folder}/bad.md", b"caf\xe9")
    place.link(f"{folder}/none.md", "nowhere")
    findings = []
    (entry,) = code_assist.scan_memory_files("/fake", home=place.home, findings=findings)
    assert entry.content == "caf\ufffd"
    assert [(place.short(each.path), each.code) for each in findings] == [
        (f"{folder}/bad.md", "not-utf8"),
        (f"{folder}/none.md", "missing"),
    ]


def test_a_byte_order_mark(place):
    place.write("home/.claude/projects/fake/memory/a.md", "\ufefftext")
    assert [entry.content for entry in code_assist.scan_memory_files("/fake", home=place.home)] == ["text"]


def test_a_project_is_named_by_its_whole_path(place, monkeypatch):
    place.write("home/.claude/memory/secret.md")
    place.write("home/.claude/projects/memory/secret.md")
    monkeypatch.chdir(place.proj)
    for root in ("..", ".", "", "/a/../../.."):
        assert code_assist.scan_memory_files(root, home=place.home) == []
    assert code_assist.get_memory_dir("/p/", home="/h") == code_assist.get_memory_dir("/p", home="/h")


def test_no_folder_is_needed_for_what_is_not_of_a_folder(place, monkeypatch):
    monkeypatch.chdir(place.folder("gone"))
    os.rmdir(place.path("gone"))
    place.write("home/.claude/CLAUDE.md")
    assert told(place, files(place, None)) == [("home/.claude/CLAUDE.md", "user")]
    assert len(files(place, "proj", additional_dirs=["x"])) == 1


def test_a_single_folder_is_one(place):
    place.write("x/CLAUDE.md")
    assert told(place, files(place, additional_dirs=place.path("x"))) == [("x/CLAUDE.md", "project")]


def fields_of(kind):
    return [
        (field.name, field.default if field.default_factory is MISSING else field.default_factory())
        for field in fields(kind)
    ]


def test_a_memory_entry_has_the_documented_defaults():
    """C-23"""
    assert fields_of(MemoryEntry) == [
        ("name", ""),
        ("description", ""),
        ("type", MemoryType.USER),
        ("content", ""),
        ("file_path", ""),
    ]
    assert MemoryEntry() == MemoryEntry("", "", MemoryType.USER, "", "")


def test_a_memory_file_has_the_documented_defaults():
    """C-24"""
    assert fields_of(MemoryFileInfo) == [
        ("path", ""),
        ("content", ""),
        ("source", ""),
        ("is_root", False),
        ("relative_path", None),
        ("size", 0),
        ("errors", []),
    ]
    one, other = MemoryFileInfo(), MemoryFileInfo("x")
    one.errors.append("damaged")
    assert (one.source, other.source, other.errors) == ("", "", [])


def test_the_types_are_texts():
    """C-22"""
    assert issubclass(MemoryType, StrEnum)
    assert [(kind.name, kind.value) for kind in MemoryType] == [
        ("USER", "user"),
        ("FEEDBACK", "feedback"),
        ("PROJECT", "project"),
        ("REFERENCE", "reference"),
    ]
    assert f"[{MemoryType.USER}]" == "[user]"


def test_an_unknown_type_is_the_users():
    assert MemoryEntry("a", type="nonsense").type is MemoryType.USER
    assert MemoryEntry("a", type="project").type is MemoryType.PROJECT


@pytest.mark.parametrize(
    ("root", "documented", "read"),
    [
        ("/home/user/project", "-home-user-project", "home-user-project/memory"),
        ("C:\\my app", "C:-my app", "C--my-app/memory"),
        (Path("/a.b/ü c"), "-a.b-ü c", "a.b-ü-c/memory"),
    ],
)
def test_where_entries_lie(root, documented, read):
    assert code_assist.get_memory_dir(root, home="/h") == Path("/h/.claude/projects", documented)
    assert code_assist.paths.get_memory_dir(root, home="/h") == Path("/h/.claude/projects", read)
