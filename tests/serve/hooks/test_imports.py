"""Which modules a hook imports, event by event: a list, so that nobody adds one without seeing what it costs."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

import foretold

HOUSE = os.path.dirname(os.path.abspath(foretold.__file__))

#: what a bare start without `site` does not have, and every hook needs
STANDARD = {
    *("__future__", "_abc", "abc", "_collections", "_collections_abc", "collections", "collections.abc", "_operator"),
    *(
        "operator",
        "itertools",
        "keyword",
        "reprlib",
        "_weakref",
        "_stat",
        "stat",
        "errno",
        "genericpath",
        "os",
        "os.path",
    ),
    *("posixpath", "posix", "gc", "time", "marshal", "_signal", "_json", "_blake2", "_functools", "functools", "types"),
    *("_thread", "encodings.utf_16_le", "fcntl"),
}
HOOKS = "agent_protocols background cache context dispatch events json log said_before settings".split()
ALWAYS = {
    *(
        "foretold",
        "foretold.imports",
        "foretold.cli",
        "foretold.cli.hook",
        "foretold.types",
        "foretold.storage.tree",
        "foretold.paths",
    ),
    *("foretold.storage", "foretold.storage.lock", "foretold.storage.tree"),
    *("foretold.serve", "foretold.serve.hooks", *(f"foretold.serve.hooks.{name}" for name in HOOKS)),
}
REGULAR = {
    *("re", "re._casefix", "re._compiler", "re._constants", "re._parser", "_sre", "enum", "copyreg", "sre_compile"),
    *("sre_constants", "sre_parse"),
}
GLOBS = {"foretold.text"} | {f"foretold.text.globs{name}" for name in ("", ".early_ignore", ".npm_ignore", ".utf16")}
GLOBS |= {"foretold.text.patterns"}
SHELL = {"foretold.dialects", "foretold.dialects.surroundings", "foretold.dialects.schema"}
SHELL |= {"foretold.instructions", "foretold.instructions.discover", "foretold.instructions.discover.shell_reads"}
SHELL |= {"foretold.dialects.claude_code", "foretold.dialects.claude_code.shell_reads"}
SHELL |= {"foretold.text.shell", "foretold.text.shell.parse"}
RECALL = {f"foretold.memory.recall.{name}" for name in "cache file_stamps index query ranking".split()}
RECALL |= {f"foretold.memory.recall.{name}" for name in "recall relevance render spelling supersession".split()}
RECALL |= {"foretold.memory.recall", "foretold.memory.note", "foretold.errors", "foretold.storage.digest"}
RECALL |= {"foretold.text", "foretold.instructions.render"}
RECALL |= {
    "foretold.memory",
    "foretold.text.frontmatter",
    "foretold.instructions",
    "foretold.instructions.render.escape",
}
DATABASE = {"sqlite3", "sqlite3.dbapi2", "_sqlite3", "datetime", "_datetime", "math", "bisect", "_bisect"}
DATABASE |= {"_sha256", "_sha2", "heapq", "_heapq", "contextlib"}
if sys.version_info >= (3, 12):
    DATABASE |= {"warnings"}  # sqlite3.dbapi2 itself imports it, to deprecate its default adapters
MASKING = {"foretold.secrets", "foretold.secrets.forms", "foretold.secrets.masking"}
CREDENTIALS = {
    "foretold.secrets",
    "foretold.text",
    "foretold.storage.digest",
    "foretold.errors",
    "foretold.secrets.forms",
    "foretold.memory",
    "foretold.memory.note",
    "foretold.memory.write_policy",
    "foretold.text.frontmatter",
    "_sha256",
    "_sha2",
}


def hooks(*names):
    return {f"foretold.serve.hooks.{name}" for name in names}


TOOL = {"tool_name": "Bash", "tool_input": {"command": "sed -i s/a/b/ src/x.ts"}}
#: event, payload, and what it needs besides
CASES = {
    "prompt": (
        "UserPromptSubmit",
        {"prompt": "how do we deploy?"},
        hooks("events.prompt_submit", "path_index") | MASKING | RECALL | DATABASE | REGULAR,
    ),
    "command": ("UserPromptSubmit", {"prompt": "/x"}, hooks("events.prompt_submit", "path_index")),
    "start": (
        "SessionStart",
        {"source": "startup"},
        hooks("events.session_start", "events.rules_here"),
    ),
    "compact": (
        "SessionStart",
        {"source": "compact"},
        hooks("events.session_start", "events.rules_here"),
    ),
    "before": ("PreToolUse", TOOL, hooks("events.pre_tool", "events.touched_files")),
    "after": (
        "PostToolUse",
        TOOL,
        hooks("events.post_tool", "path_index", "events.rules_here", "events.touched_files") | GLOBS | SHELL | REGULAR,
    ),
    "compaction": ("PreCompact", {}, hooks("events.pre_compact")),
    "stop": ("Stop", {}, hooks("events.turn_end")),
    "end": ("SessionEnd", {"reason": "exit"}, hooks("events.turn_end")),
    "loaded": (
        "InstructionsLoaded",
        {"file_path": "/x/CLAUDE.md", "load_reason": "session_start"},
        hooks("events.instructions_loaded", "events.rules_here"),
    ),
}

CODE = """\
import sys
before = set(sys.modules)
sys.path[:0] = sys.argv[1:3]
sys.argv[1:] = sys.argv[3:]
import foretold.cli, os
def leave(code):
    os.write(2, " ".join(sorted(set(sys.modules) - before)).encode())
    left(code)
left, os._exit = os._exit, leave
foretold.cli.run()
"""


def imported(place, base, event, payload):
    """The modules that a hook imports, when what it looks up was worked out before."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CODE, os.path.dirname(HOUSE), sysconfig.get_path("purelib"), "hook", event],
        env={"HOME": place.home, "PATH": "/nowhere"},
        input=json.dumps({**base, **payload}),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, set(done.stderr.split())


def warm(hooks, event, payload):
    """A place in which everything was worked out; the answer of the first call."""
    hooks.agent = "claude-code"
    hooks.place.managed = ""
    hooks.remember("project_deploys.md", "when we deploy", "On Tuesdays, with `src/x.ts`.")
    hooks.place.write("proj/CLAUDE.md", "Use tabs.\n")
    hooks.place.write("proj/.claude/rules/ts.md", '---\npaths: "src/**/*.ts"\n---\nValidate.\n')
    hooks.place.write("proj/src/x.ts")
    hooks.ask("SessionStart", source="startup", session="warm")
    hooks.work()
    return hooks.raw(event, session="warm", **payload)


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_hook_imports_what_is_listed(hooks, case):
    event, payload, more = CASES[case]
    first = warm(hooks, event, payload)
    said, modules = imported(hooks.place, hooks.base(event, "cold"), event, payload)
    assert bool(said) == bool(first)
    assert " ".join(sorted(modules - ALWAYS - STANDARD - more)) == ""
    assert {"typing", "dataclasses", "pathlib", "json", "argparse", "subprocess", "inspect"} & modules == set()


def test_a_memory_that_is_written_adds_the_search_for_credentials(hooks):
    path = hooks.place.path(f"{hooks.memory}/a.md")
    payload = {"tool_name": "Write", "tool_input": {"file_path": path, "content": "Use tabs."}}
    warm(hooks, "PreToolUse", payload)
    _, modules = imported(hooks.place, hooks.base("PreToolUse", "cold"), "PreToolUse", payload)
    more = {"foretold.serve.hooks.events.pre_tool", "foretold.serve.hooks.events.touched_files"} | CREDENTIALS | REGULAR
    assert " ".join(sorted(modules - ALWAYS - STANDARD - more)) == ""
