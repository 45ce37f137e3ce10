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
HOOKS = "answer detached kept log notes scene settings speech wire".split()
ALWAYS = {
    *("foretold", "foretold.cli", "foretold.cli.hook", "foretold.types", "foretold.tree", "foretold.ours"),
    *("foretold.serve", "foretold.serve.hooks", *(f"foretold.serve.hooks.{name}" for name in HOOKS)),
}
REGULAR = {
    *("re", "re._casefix", "re._compiler", "re._constants", "re._parser", "_sre", "enum", "copyreg", "sre_compile"),
    *("sre_constants", "sre_parse"),
}
GLOBS = {"foretold.instructions", *(f"foretold.instructions.{name}" for name in "codeunits gitignore".split())}
GLOBS |= {"foretold.patterns"}
SHELL = {"foretold.dialects", "foretold.dialects.world", "foretold.dialects.table"}
SHELL |= {f"foretold.instructions.{name}" for name in "shell shellwords".split()}
RECALL = {
    f"foretold.memory.{name}" for name in "about cache excerpt glance note postings recall rendered scoring".split()
}
RECALL |= {f"foretold.memory.{name}" for name in "selector stamps terms".split()}
RECALL |= {"foretold.memory", "foretold.frontmatter", "foretold.instructions", "foretold.instructions.escape"}
DATABASE = {"sqlite3", "sqlite3.dbapi2", "_sqlite3", "datetime", "_datetime", "math", "bisect", "_bisect"}
DATABASE |= {"_sha256", "_sha2", "heapq", "_heapq", "contextlib"}
CREDENTIALS = {
    "foretold.credentials",
    "foretold.memory",
    "foretold.memory.note",
    "foretold.frontmatter",
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
        hooks("prompt", "book", "masked") | {"foretold.credentials"} | RECALL | DATABASE | REGULAR,
    ),
    "command": ("UserPromptSubmit", {"prompt": "/x"}, hooks("prompt", "book")),
    "start": ("SessionStart", {"source": "startup"}, hooks("session_start", "lost", "told")),
    "compact": ("SessionStart", {"source": "compact"}, hooks("session_start", "lost", "told")),
    "before": ("PreToolUse", TOOL, hooks("before_tool", "touched")),
    "after": (
        "PostToolUse",
        TOOL,
        hooks("after_tool", "book", "named", "told", "touched") | GLOBS | SHELL | REGULAR,
    ),
    "compaction": ("PreCompact", {}, hooks("before_compaction")),
    "stop": ("Stop", {}, hooks("turn_end")),
    "end": ("SessionEnd", {"reason": "exit"}, hooks("turn_end")),
    "loaded": (
        "InstructionsLoaded",
        {"file_path": "/x/CLAUDE.md", "load_reason": "session_start"},
        hooks("loaded", "told"),
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
    more = {"foretold.serve.hooks.before_tool", "foretold.serve.hooks.touched"} | CREDENTIALS | REGULAR
    assert " ".join(sorted(modules - ALWAYS - STANDARD - more)) == ""
