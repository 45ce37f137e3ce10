"""The house stands: arrows point one way, heavy modules stay out, the start of a command imports what is listed."""

import ast
import glob
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
import types

import pytest

import foretold

HOUSE = os.path.dirname(os.path.abspath(foretold.__file__))

#: rooms and modules by storey: what stands on a line may use its own line and those above, never those below
STOREYS = (
    ("types", "errors", "paths", "extras", "imports"),
    ("text", "storage", "secrets", "git", "models", "findings"),
    ("dialects",),
    ("instructions",),
    ("sessions",),
    ("memory", "files"),
    ("context",),
    ("harness",),
    ("proof", "check", "compat", "adapters"),
    ("serve", "cli", "__main__"),
)
STOREY = {room: number for number, rooms in enumerate(STOREYS) for room in rooms}

#: modules that cost too much on the paths that must start fast
HEAVY = {"typing", "dataclasses", "pathlib", "importlib.metadata", "inspect", "enum", "subprocess", "asyncio"}
FAST = ("types", "errors", "text", "dialects", "instructions")


def modules():
    """Every module of the house: dotted name -> syntax tree."""
    found = {}
    for folder, _, names in os.walk(HOUSE):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                dotted = os.path.relpath(path, os.path.dirname(HOUSE))[:-3].replace(os.sep, ".")
                with open(path, encoding="utf-8") as file:
                    found[dotted.removesuffix(".__init__")] = ast.parse(file.read(), path)
    return found


HOUSE_MODULES = modules()


def parse_imports(name, tree, *, at_run_time=False):
    """The modules that a module imports, anywhere in it; `__import__` with a text counts up to its last fixed dot."""
    found = set()
    package = name if is_package(name) else name.rpartition(".")[0]
    for node in walk(tree, at_run_time=at_run_time):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1] + [base][: bool(base)])
            found |= {
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in HOUSE_MODULES else base for alias in node.names
            }
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
            "__import__",
            "import_module",
        ):
            found |= {fixed_part(node.args[0])} - {""}
    return found


def walk(tree, *, at_run_time):
    """All nodes; at run time without the bodies of `if TYPE_CHECKING`."""
    if at_run_time and isinstance(tree, ast.If) and getattr(tree.test, "id", "") == "TYPE_CHECKING":
        for node in tree.orelse:
            yield from walk(node, at_run_time=True)
        return
    yield tree
    for node in ast.iter_child_nodes(tree):
        yield from walk(node, at_run_time=at_run_time)


def fixed_part(node):
    """The module that a computed name is in, as far as its text is fixed."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value).rpartition(".")[0]
    return ""


def is_package(name):
    return os.path.isdir(os.path.join(os.path.dirname(HOUSE), *name.split(".")))


def room_of(name):
    return name.split(".")[1] if "." in name else ""


GRAPH = {
    name: {used for used in parse_imports(name, tree) if used.split(".")[0] == "foretold"}
    for name, tree in HOUSE_MODULES.items()
}


def cycle_in(graph):
    """One cycle of a graph, or nothing."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        path.append(node)
        for other in sorted(graph.get(node, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(node)
        return []

    return next((found for found in map(visit, sorted(graph)) if found), [])


def test_the_graph_is_seen():
    """The reader of imports finds plain, lazy and computed ones; else the tests below would prove nothing."""
    assert "foretold.storage.tree" in GRAPH["foretold.instructions.load"]
    assert "foretold.dialects" in GRAPH["foretold.dialects.registry"]  # __import__(f"foretold.dialects.{…}")
    assert "foretold.instructions.session" in GRAPH["foretold.cli.explain"]  # inside a function
    assert "foretold.cli" in GRAPH["foretold.cli"]  # __import__(f"foretold.cli.{…}")


def test_every_room_has_a_storey():
    assert {room_of(name) for name in HOUSE_MODULES} - {""} <= set(STOREY)


def test_arrows_point_one_way():
    wrong = [
        f"{name} -> {used}"
        for name, all_used in GRAPH.items()
        for used in all_used
        if room_of(name) and room_of(used) and STOREY[room_of(used)] > STOREY[room_of(name)]
    ]
    assert wrong == []


def test_types_and_errors_import_nothing_of_ours():
    assert (GRAPH["foretold.types"], GRAPH["foretold.errors"]) == (set(), set())


def test_instructions_need_no_other_room_of_their_storey():
    rooms = {room_of(used) for name, all_used in GRAPH.items() if room_of(name) == "instructions" for used in all_used}
    assert rooms & {"memory", "sessions", "files", "context"} == set()


def test_no_module_imports_itself_through_others():
    """At run time: a name that only a type checker looks up makes no cycle."""
    graph = {
        name: parse_imports(name, tree, at_run_time=True) - {name} - packages_of(name)
        for name, tree in HOUSE_MODULES.items()
        if name != "foretold"  # it names everything, lazily
    }
    assert " -> ".join(cycle_in(graph)) == ""


def packages_of(name):
    """The packages a module is in: importing a name from them (`COMMANDS` of `cli`) is no arrow upwards."""
    parts = name.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def test_no_room_imports_itself_through_others():
    rooms = {}
    for name, all_used in GRAPH.items():
        if room_of(name):
            rooms.setdefault(room_of(name), set()).update({room_of(used) for used in all_used} - {room_of(name), ""})
    assert " -> ".join(cycle_in(rooms)) == ""


@pytest.mark.parametrize("dependency", ["pyromark", "ryaml"])
def test_a_dependency_is_behind_one_module(dependency):
    users = [
        name
        for name, tree in HOUSE_MODULES.items()
        if any(used.split(".")[0] == dependency for used in parse_imports(name, tree))
    ]
    assert len(users) == 1, users


def test_only_the_known_dependencies_are_imported():
    known = {"foretold", "pyromark", "ryaml", *sys.stdlib_module_names}
    used = {
        (used.split(".")[0], name)
        for name, tree in HOUSE_MODULES.items()
        for used in parse_imports(name, tree)
        if used.split(".")[0] not in known
    }
    assert used == EXTRAS


#: dependencies that an extra brings, and who imports them
EXTRAS = {
    ("agents", "foretold.adapters.openai_agents"),
    ("anthropic", "foretold.adapters.anthropic_memory"),
    ("anthropic", "foretold.models.anthropic"),
    ("anyio", "foretold.adapters.anthropic_memory"),
    ("anyio", "foretold.adapters.claude_store"),
    ("anyio", "foretold.serve.mcp.server"),
    ("claude_agent_sdk", "foretold.adapters.claude_store"),
    ("deepagents", "foretold.adapters.deepagents"),
    ("google", "foretold.adapters.google_adk"),
    ("langchain", "foretold.adapters.langchain"),
    ("langchain_core", "foretold.adapters.langchain"),
    ("litellm", "foretold.adapters.plain"),
    ("lsprotocol", "foretold.serve.lsp.server"),
    ("mcp", "foretold.serve.mcp.server"),
    ("numpy", "foretold.memory.recall.vectors"),
    ("openai", "foretold.models.openai"),
    ("pydantic_ai", "foretold.adapters.pydantic_ai"),
    ("pygls", "foretold.serve.lsp.server"),
    ("wordllama", "foretold.memory.recall.vectors"),
}


def test_nothing_heavy_on_the_fast_paths():
    heavy = [
        f"{name} -> {used}"
        for name, tree in HOUSE_MODULES.items()
        if room_of(name) in FAST or name in ("foretold", "foretold.cli", "foretold.cli.show", "foretold.cli.options")
        for used in parse_imports(name, tree, at_run_time=True) & HEAVY
    ]
    assert heavy == []


# -- what a process really imports ---------------------------------------------------------------------------

#: our modules that `show` needs
OURS = {
    *("foretold", "foretold.imports", "foretold.cli", "foretold.cli.options", "foretold.cli.show"),
    *("foretold.errors", "foretold.types", "foretold.storage", "foretold.storage.tree"),
    *("foretold.text", "foretold.text.frontmatter", "foretold.text.globs", "foretold.text.globs.utf16"),
    *("foretold.dialects", "foretold.dialects.registry", "foretold.dialects.schema", "foretold.dialects.surroundings"),
    *("foretold.dialects.settings_files", "foretold.dialects.claude_code"),
    *(f"foretold.dialects.claude_code.{name}" for name in "changes instructions settings".split()),
    *(f"foretold.dialects.releases{name}" for name in ("", ".history", ".played")),
    *(f"foretold.instructions{name}" for name in ("", ".advice", ".engine", ".load", ".view")),
    "foretold.instructions.discover",
    *(f"foretold.instructions.discover.{name}" for name in "fallback locate rule_conditions rules".split()),
    "foretold.instructions.text",
    *(f"foretold.instructions.text.{name}" for name in "imports markdown memory_index read".split()),
    "foretold.instructions.render",
    *(f"foretold.instructions.render.{name}" for name in "blocks escape parts".split()),
}

#: and those it needs only for a text with imports or comments, for exclude patterns, for YAML that is not plain
MARKDOWN = {f"foretold.text.markdown{name}" for name in ("", ".blocks", ".inline", ".lines")}
MARKDOWN |= {"foretold.instructions.intent", "foretold.instructions.text.mentions"}
MARKDOWN |= {"pyromark", "pyromark._options", "pyromark._pyromark", "pyromark._theme"}
MARKDOWN |= {"foretold.text.patterns"}
EXCLUDES = {"foretold.text.globs.picomatch", "foretold.text.patterns"}
YAML = {"ryaml", "ryaml._ryaml", "typing", "_typing", "typing.io", "typing.re", "contextlib"}

#: the standard library under `re`, `argparse` and `collections`; names differ a little between Python versions
STANDARD = {
    "__future__",
    *("_abc", "abc", "_collections", "_collections_abc", "collections", "collections.abc", "_functools", "functools"),
    *("_operator", "operator", "itertools", "keyword", "reprlib", "heapq", "_heapq", "copyreg", "types", "_weakref"),
    *("_sre", "sre_compile", "sre_constants", "sre_parse", "re", "re._casefix", "re._compiler", "re._constants"),
    *("re._parser", "enum", "_stat", "stat", "errno", "genericpath", "os", "os.path", "posixpath", "posix"),
    *("argparse", "gettext", "_locale", "locale", "time", "_thread", "warnings", "_warnings"),
    *("encodings.utf_16_le", "gc"),
}
JSON = {"json", "json.decoder", "json.encoder", "json.scanner", "_json"}

SHOW = """\
import sys
before = set(sys.modules)
sys.path[:0] = sys.argv[1:3]
from foretold.cli import main
main(sys.argv[3:])
sys.stdout.flush()
print("\\0" + " ".join(sorted(set(sys.modules) - before)))
"""


def listed(names):
    return " ".join(sorted(names))


def imported_by_show(place):
    return imported_by("show", "-C", place.proj, "--home", place.home, "--managed", place.managed)


def imported_by(*words):
    """The modules that a command imports beyond those of a bare interpreter without `site`."""
    packages = sysconfig.get_path("purelib")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW, os.path.dirname(HOUSE), packages, *words],
        env={"HOME": words[words.index("--home") + 1], "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("\0")[2].split())


def test_show_of_plain_files_imports_what_is_listed(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    assert listed(imported_by_show(place) - OURS - STANDARD) == ""


def test_show_of_nothing_imports_what_is_listed(place):
    assert listed(imported_by_show(place) - OURS - STANDARD) == ""


def test_show_with_plain_frontmatter_needs_no_yaml(place):
    place.write("proj/CLAUDE.md", "---\ntitle: Our rules\n---\nUse tabs.\n")
    place.write("proj/.claude/rules/a.md", "---\npaths:\n  - 'src/**'\n  - lib/*.ts\n---\nRule.\n")
    assert listed(imported_by_show(place) - OURS - STANDARD) == ""


def test_show_with_other_frontmatter_adds_yaml(place):
    place.write("proj/CLAUDE.md", "---\nhooks: {a: [b]}\n---\nUse tabs.\n")
    assert listed(imported_by_show(place) - OURS - STANDARD - YAML) == ""


def test_show_with_settings_adds_json(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("home/.claude/settings.json", '{"model": "opus"}')
    assert listed(imported_by_show(place) - OURS - STANDARD - JSON) == ""


def test_show_with_excludes_adds_globs(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("home/.claude/settings.json", '{"claudeMdExcludes": ["**/no/*.md"]}')
    assert listed(imported_by_show(place) - OURS - STANDARD - JSON - EXCLUDES) == ""


def test_show_with_imports_and_comments_adds_markdown(place):
    place.write("proj/CLAUDE.md", "See @a.md\n\n<!-- note -->\n")
    place.write("proj/a.md", "A\n")
    assert listed(imported_by_show(place) - OURS - STANDARD - MARKDOWN) == ""


def test_show_never_imports_what_is_heavy(place):
    place.write("proj/CLAUDE.md", "See @a.md\n\n<!-- note -->\n")
    place.write("proj/a.md", "---\ntitle: x\n---\nA\n")
    place.write("home/.claude/settings.json", "{}")
    place.write("proj/.claude/rules/a.md", "---\npaths: '*.ts'\n---\nRule.\n")
    assert listed(imported_by_show(place) & (HEAVY - {"enum"})) == ""


#: our modules that every command of a group needs
GROUP = {
    *("foretold", "foretold.imports", "foretold.errors", "foretold.types", "foretold.storage", "foretold.storage.tree"),
    *(f"foretold.cli{name}" for name in ("", ".json", ".options", ".output")),
    *(f"foretold.dialects{name}" for name in ("", ".schema", ".settings_files", ".surroundings")),
    *("foretold.dialects.claude_code", "foretold.dialects.claude_code.settings"),
    *("foretold.dialects.releases", "foretold.dialects.releases.history"),
}

#: and those that `sessions list` needs: the readers of all agents, but no archive, no search, no instructions
SESSIONS_LIST = GROUP | {
    *(f"foretold.cli.sessions{name}" for name in ("", ".list", ".options")),
    *(f"foretold.sessions{name}" for name in ("", ".catalog", ".model", ".relocate", ".relocate.project_folder")),
    *(f"foretold.sessions.{name}" for name in "archive archive.retention exporters exporters.formatting".split()),
    *(f"foretold.sessions.formats{name}" for name in ("", ".fields", ".jsonl", ".readers")),
    *(f"foretold.sessions.formats.claude{name}" for name in ("", ".reader", ".records")),
    *(f"foretold.sessions.formats.codex{name}" for name in ("", ".reader", ".records", ".zstd")),
    *(f"foretold.sessions.formats.gemini{name}" for name in ("", ".reader", ".records")),
    *(f"foretold.sessions.formats.opencode{name}" for name in ("", ".database", ".reader", ".records")),
}

#: those that `memory add` needs: the store and what the agent sees of the index, but no loading of instructions
MEMORY_ADD = GROUP | {
    *(f"foretold.cli.memory{name}" for name in ("", ".add", ".options")),
    *("foretold.dialects.registry", "foretold.dialects.releases.played"),
    *(f"foretold.dialects.claude_code.{name}" for name in "changes instructions".split()),
    *(f"foretold.instructions{name}" for name in ("", ".render", ".render.escape")),
    *(f"foretold.instructions.text{name}" for name in ("", ".markdown", ".memory_index")),
    *(f"foretold.memory{name}" for name in ("", ".location", ".note", ".project", ".write_policy")),
    *(f"foretold.memory.format{name}" for name in ("", ".write", ".yaml")),
    "foretold.memory.store",
    *(f"foretold.memory.store.{name}" for name in "inbox index_file journal".split()),
    *(f"foretold.memory.store.{name}" for name in "store team transaction".split()),
    *("foretold.paths", "foretold.secrets", "foretold.secrets.forms", "foretold.text", "foretold.text.frontmatter"),
    *(f"foretold.storage.{name}" for name in "append_log atomic digest dirfd folder kernel lock names".split()),
}


def ours(modules):
    return {name for name in modules if name.split(".")[0] == "foretold"}


def test_listing_sessions_imports_what_is_listed(place):
    """With a session that is new: one that its agent will delete soon is looked up in the archive."""
    folder = os.path.join("home/.claude/projects", re.sub("[^a-zA-Z0-9]", "-", place.proj))
    record = {"type": "user", "uuid": "a", "sessionId": "1", "cwd": place.proj, "message": {"content": "Hello"}}
    place.write(f"{folder}/11111111-2222-4333-8444-555555555555.jsonl", json.dumps(record) + "\n")
    found = imported_by("sessions", "list", "-C", place.proj, "--home", place.home)
    assert listed(ours(found) ^ SESSIONS_LIST) == ""


def test_adding_a_memory_imports_what_is_listed(place):
    words = ("Tabs", "-t", "user", "-d", "indent with tabs", "-b", "Use tabs.")
    found = imported_by("memory", "add", *words, "-C", place.proj, "--home", place.home, "--managed", place.managed)
    assert listed(ours(found) ^ MEMORY_ADD) == ""
    assert listed(found & {"asyncio", "dataclasses", "pathlib", "subprocess", "tempfile", "typing"}) == ""


def test_importing_foretold_imports_nothing_else():
    code = "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import foretold; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, os.path.dirname(HOUSE)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["__future__", "foretold", "foretold.imports"]


ROOMS = {"check", "compat", "context", "files", "memory", "sessions"}


@pytest.mark.parametrize("name", sorted(set(dir(foretold)) - ROOMS))
def test_every_public_name_is_there(name):
    assert getattr(foretold, name).__name__ == name
    assert name in dir(foretold)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'foretold' has no attribute 'lode'"):
        foretold.lode  # noqa: B018


@pytest.mark.parametrize("room", ["context", "files", "memory", "sessions"])
def test_a_name_of_a_room_is_never_one_of_its_modules(room):
    """Importing a module makes it an attribute of its room: a function of the same name would be gone."""
    package = importlib.import_module(f"foretold.{room}")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"foretold.{room}.{module.name}")
    assert [name for name in dir(package) if isinstance(getattr(package, name), types.ModuleType)] == []


def test_no_group_has_a_possessive_quantifier():
    """Up to Python 3.11.4 `(?:ab)*+` is wrong if the group can backtrack (CPython gh-106052); `[ab]*+` is fine."""
    wrong = []
    for folder, _, names in os.walk(HOUSE):
        for name in filter(lambda name: name.endswith(".py"), names):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found = re.findall(r".*\)(?:[*+?]|\{[0-9,]*\})\+.*", file.read())
            wrong += [f"{name}: {line.strip()}" for line in found]
    assert wrong == []


# -- the house ---------------------------------------------------------------------------------------------------


def test_a_folder_has_at_most_fifteen_modules():
    crowded = {}
    for folder, folders, names in os.walk(HOUSE):
        folders[:] = [name for name in folders if name != "__pycache__"]
        modules_here = [name for name in names if name.endswith(".py")]
        if len(modules_here) > 15:
            crowded[os.path.relpath(folder, HOUSE)] = len(modules_here)
    assert crowded == {}
    assert len([name for name in os.listdir(HOUSE) if name not in ("__pycache__", "py.typed")]) <= 26


def test_a_public_class_name_is_there_once():
    """Outside of `compat`, whose names are those of other systems."""
    places = {}
    for name, tree in HOUSE_MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and room_of(name) != "compat":
                places.setdefault(node.name, []).append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_function_is_longer_than_fifty_lines():
    long = [
        f"{name}.{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for name, tree in HOUSE_MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno >= 50
    ]
    assert long == []


#: reads that are not opened with `open_regular`, each for a reason
OPENED_OTHERWISE = {
    "foretold.cli.memory.doctor": "`memory import FILE`: the user names it, and a pipe of the shell is welcome",
    "foretold.cli.memory.erase": "`memory erase --text-from FILE`: the same",
    "foretold.extras": "files of an installed Python; this module stands below `storage`",
    "foretold.harness.tools.process": "files of the kernel under /proc, which never block",
    "foretold.memory.recall.file_stamps": "a folder, with O_DIRECTORY: nothing else is opened",
    "foretold.memory.store.large_index": "a descriptor of `open_regular` that follows no link",
    "foretold.secrets.erasure.scrub": "without waiting; what is not a regular file is left alone, not an error",
    "foretold.serve.install.leftovers": "our own lock, which is made if it is missing",
    "foretold.serve.mcp.server": "standard input, and /dev/null",
}
#: only a descriptor of a new file (O_EXCL) or of a device of the system is opened
MADE_NEW = (
    "foretold.cli",
    "foretold.cli.sessions.archive",
    "foretold.memory.recall.cache",
    "foretold.memory.store.team",
)
DATABASES = (
    "foretold.memory.recall.cache",
    "foretold.memory.recall.table",
    "foretold.sessions.formats.opencode.database",
)
DATABASES += ("foretold.sessions.fulltext.index",)


READERS = ("os.open", "io.open", "os.fdopen", "tomllib.load", "shutil.copyfile", "shutil.copy2")


def find_reads(tree):
    """Calls that open something to read it, without `open_regular`: it could be a pipe, a device, or endless."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        words = {word.arg: ast.unparse(word.value) for word in call.keywords}
        if name == "open":
            mode = ast.unparse(call.args[1]) if len(call.args) > 1 else words.get("mode", "")
            if not {*mode} & {*"wax"} and words.get("opener") != "open_regular":
                yield ast.unparse(call)
        elif name in (
            "os.open",
            "io.open",
            "os.fdopen",
            "tomllib.load",
            "shutil.copyfile",
            "shutil.copy2",
        ) or name.endswith((".read_text", ".read_bytes")):
            yield ast.unparse(call)


def test_a_bare_read_is_found():
    bare = "open(a)\nopen(a, 'rb')\nos.open(a, b)\np.read_text()\nopen(a, opener=os.open)"
    good = "open(a, 'w')\nopen(a, 'ab')\nopen(a, 'rb', opener=open_regular)\nself.open(a)"
    assert len(list(find_reads(ast.parse(bare)))) == 5
    assert list(find_reads(ast.parse(good))) == []


def test_every_read_opens_a_regular_file_without_waiting():
    """`storage` does it itself; `proof` runs developers' cases in folders that it makes."""
    found = {
        name: reads
        for name, tree in HOUSE_MODULES.items()
        if room_of(name) not in ("storage", "proof") and name not in MADE_NEW
        if (reads := list(find_reads(tree)))
    }
    assert found.keys() == OPENED_OTHERWISE.keys(), found


def test_every_database_is_asked_about_before_it_is_opened():
    found = [
        name
        for name, tree in HOUSE_MODULES.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "sqlite3.connect"
        if ast.unparse(call.args[0]) != "':memory:'"
    ]
    assert {*found} == {*DATABASES}
    for name in DATABASES:
        assert "require_regular(" in ast.unparse(HOUSE_MODULES[name])


def test_scripts_import_what_there_is():
    """Scripts that no test runs, such as benches, would break unnoticed."""
    root = os.path.dirname(os.path.dirname(HOUSE))
    lost = []
    for path in glob.glob(os.path.join(root, "[bdes]*", "*.py")):  # bench, docs, examples, sample
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "foretold":
                lost += [
                    f"{os.path.relpath(path, root)}: {node.module}.{alias.name}"
                    for alias in node.names
                    if f"{node.module}.{alias.name}" not in HOUSE_MODULES
                    and (node.module not in HOUSE_MODULES or not has_name(HOUSE_MODULES[node.module], alias.name))
                ]
    assert lost == []


def has_name(tree, name):
    """Whether a module has a name: defined, imported, or in the table of names that are imported when they are used."""
    for node in ast.walk(tree):
        if name in (getattr(node, "name", ""), getattr(node, "id", ""), getattr(node, "asname", "")):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name in node.value.split():
            return True
    return False


#: a path of the repository, or a module in one of the rooms, in backticks
CITED = re.compile(
    rf"`((?:src/foretold|docs|tests|bench|examples|sample|plugin)/[\w./@-]+|(?:{'|'.join(STOREY)})/[\w/]+\.py)`"
)


def test_every_path_that_a_docstring_cites_exists():
    root = os.path.dirname(os.path.dirname(HOUSE))
    modules_here = {f"{name.removeprefix('foretold.').replace('.', '/')}.py" for name in HOUSE_MODULES}
    lost = []
    for name, tree in HOUSE_MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                for path in CITED.findall(ast.get_docstring(node) or ""):
                    is_module = any(module == path or module.endswith(f"/{path}") for module in modules_here)
                    if not is_module and not glob.glob(os.path.join(root, path.rstrip("."))):
                        lost.append(f"{name}: {path}")
    assert lost == []
