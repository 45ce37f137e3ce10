"""The scripts, targets and packages that the files of a repository define.

1. A script is looked for in the `package.json` files nearest to the document first, then in all: in a workspace any of
   them may be meant, unless the command names its folder.
2. A word after `pnpm` or `yarn` may be a program of a package: only if no dependency, no `bin` and no program that is
   known has such a name, it must be a script.
3. A target is looked for in the Makefile of the folder that the command names, else in those of the folders from the
   document up to the top, then in all. A Makefile is *open* if it may define targets that are not seen here: it
   includes what is not there, computes names, or has a rule for any name. Then nothing is said.
4. Where a repository has no such file at all, nothing is said either: the text is about another one.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cached_property

from foretold.check.project import Project
from foretold.check.truth.commands import Command
from foretold.memory.drift import vocabulary
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

MOST_FILES = 1_500  #: of one name that are read; in a repository with more, nothing is said
LARGEST = 1_000_000  #: bytes of a Makefile or package.json
MOST_NAMES = 500  #: among which one that is nearly the same is looked for
DEPTH = 5  #: Makefiles that include each other
#: programs of packages with other names: usual ones, from the `bin` of their package.json
PROGRAMS = frozenset(
    "tsc tsserver ng nest cap sb changeset graphql-codegen openapi-ts swc electron-forge vue-tsc vue-cli-service cdk"
    " sls rw run-s run-p npm-run-all ncu attw eas wdio rush sv mocha ava nyc depcheck rimraf shx cross-env only-allow"
    " np auto bob vsce ovsx web-ext expo-doctor env-cmd dotenv husky lint-staged knip turbo nx lerna".split()
)
_OLDEST = lazy(r"(?:>=|\^|~|=)?\s*v?(\d{1,3})(?:\.(?:\d+|x))*(?:\s*<=?\s*v?[\d.x]+)?")


class Lookup(NamedTuple):
    """Whether something is defined; if not, where was looked, and what is there that is nearly so."""

    is_there: bool = True
    is_sure: bool = False  #: that it is there; else that is only not known
    looked: tuple[str, ...] = ()
    close: str = ""


THERE = Lookup(is_sure=True)
UNKNOWN = Lookup()


class DefinedCommands:
    """What the files of a project define; each is read when it is needed, and once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._listed: dict[tuple[str, ...], list[str]] = {}

    def _list(self, *names: str) -> list[str]:
        """The files of a name, those nearest to the top first."""
        if names not in self._listed:
            ends = tuple(f"/{name}" for name in names)
            found = [path for path in self._project.files if path in names or path.endswith(ends)]
            self._listed[names] = sorted(found, key=lambda path: (path.count("/"), path))
        return self._listed[names]

    # -- scripts

    @cached_property
    def _packages(self) -> list[str]:
        return self._list("package.json")

    @cached_property
    def _parsed(self) -> dict[str, dict[str, object]]:
        return {}

    def _package(self, path: str) -> dict[str, object]:
        if path not in self._parsed:
            self._parsed[path] = _read_json(self._project, path)
        return self._parsed[path]

    @cached_property
    def _has_other_manifests(self) -> bool:
        return bool(self._list("package.yaml", "package.json5"))

    def find_script(self, command: Command, folder: str) -> Lookup:
        """Whether a package has a script."""
        paths = self._packages
        near = [path for path in paths if f"{folder}/".startswith(_folder_of(path))]
        if command.folder and not command.is_unsure:
            places = {_join("", command.folder), _join(folder, command.folder)}
            near = [path for path in paths if _folder_of(path).rstrip("/") in places]
        if not near or len(paths) > MOST_FILES or self._has_other_manifests:
            return UNKNOWN
        paths = near if command.folder and not command.is_unsure else [*reversed(near), *paths]
        for path in dict.fromkeys(paths):
            if command.name in _table(self._package(path), "scripts"):
                return THERE
        if command.is_loose and self._may_be_program(command.name, paths):
            return UNKNOWN
        if not all(map(self._package, near)):  # one that cannot be read may have it
            return UNKNOWN
        names = {name for path in near for name in _table(self._package(path), "scripts")}
        return Lookup(is_there=False, looked=tuple(dict.fromkeys(paths)), close=_closest(command.name, names))

    def _may_be_program(self, name: str, paths: Iterable[str]) -> bool:
        """Whether a package may bring a program of this name."""
        if name in PROGRAMS or name in vocabulary.TOOLS:
            return True
        for path in paths:
            package = self._package(path)
            keys = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
            if any(_resembles(name, each) for key in keys for each in _table(package, key)):
                return True
            own = package.get("bin")
            if name in (own if isinstance(own, dict) else ()) or (own and _resembles(name, str(package.get("name")))):
                return True
        return False

    # -- packages of a workspace

    def find_package(self, command: Command) -> Lookup:
        """Whether a package of the workspace has a name, or is in a folder of it."""
        name, paths = command.name, self._packages
        if len(paths) < 2 or len(paths) > MOST_FILES or self._has_other_manifests:
            return UNKNOWN
        names = {str(self._package(path).get("name", "")) for path in paths}
        last = {each.rpartition("/")[2] for each in names}
        folders = {posixpath.basename(_folder_of(path).rstrip("/")) for path in paths}
        if name in names or name in last or name in folders or name.rpartition("/")[2] in folders:
            return THERE
        if not all(map(self._package, paths)):
            return UNKNOWN
        return Lookup(is_there=False, looked=tuple(paths), close=_closest(name, names))

    # -- versions

    def find_node(self, folder: str) -> tuple[int, str, str]:
        """The oldest version of Node that the nearest package.json allows, what it says, and which one that is."""
        near = [path for path in self._packages if f"{folder}/".startswith(_folder_of(path))]
        for path in reversed(near):
            said = _table(self._package(path), "engines").get("node")
            found = _OLDEST.fullmatch(said.strip()) if isinstance(said, str) else None
            if found:
                return int(found[1]), found[0], path
        return 0, "", ""

    # -- targets

    def find_target(self, command: Command, folder: str) -> Lookup:
        """Whether a Makefile, justfile or Taskfile has a target."""
        names, read = _KINDS[command.tool]
        paths = self._list(*names)
        if not paths or len(paths) > MOST_FILES:
            return UNKNOWN
        near = [path for path in paths if f"{folder}/".startswith(_folder_of(path))]
        if command.folder:
            places = {_join("", command.folder), _join(folder, command.folder)}
            near = [path for path in paths if _folder_of(path).rstrip("/") in places]
        if not near:
            return UNKNOWN
        if "/" in command.name:  # `make lint/test` is short for two targets, as often as it is one
            return UNKNOWN
        known: set[str] = set()
        for path in near:
            made = self._read_targets(path, read)
            if made.is_open or made.makes(command.name):
                return UNKNOWN if made.is_open else THERE
            known |= made.names
        for path in paths:
            if path not in near and self._read_targets(path, read).makes(command.name):
                return THERE
        if self._has_file(command.name, near):
            return UNKNOWN
        return Lookup(is_there=False, looked=tuple(near), close=_closest(command.name, known))

    def _has_file(self, name: str, near: Iterable[str]) -> bool:
        """Whether there is a file that a target may stand for, or be made from."""
        places = [posixpath.normpath(_folder_of(path) + name) for path in near]
        starts = tuple(f"{place}." for place in places)
        kinds = (self._project.tree.kind(self._project.absolute(place)) for place in places)
        return any(kind != "missing" for kind in kinds) or any(each.startswith(starts) for each in self._project.files)

    @cached_property
    def _made(self) -> dict[str, Targets]:
        return {}

    def _read_targets(self, path: str, read: TargetReader) -> Targets:
        if path not in self._made:
            self._made[path] = read(self._project, path, 0)
        return self._made[path]


def _read_json(project: Project, path: str) -> dict[str, object]:
    text = project.read(project.absolute(path))
    try:
        value = json.loads(text) if text and len(text) <= LARGEST else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}


def _table(value: dict[str, object], key: str) -> dict[str, object]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _resembles(name: str, package: str) -> bool:
    """Whether a package may have a program of this name."""
    last = package.rpartition("/")[2]
    return name in package or (len(last) > 2 and last in name)


def _closest(name: str, names: Iterable[str]) -> str:
    near = sorted(each for each in set(names) if each and abs(len(each) - len(name)) <= len(name))
    close = get_close_matches(name, near[:MOST_NAMES], 1, 0.6)
    return close[0] if close else ""


def _folder_of(path: str) -> str:
    """The folder of a file with a slash at its end; empty for the top."""
    folder = posixpath.dirname(path)
    return f"{folder}/" if folder else ""


def _join(folder: str, inside: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, inside))
    return "" if path == "." else path


# -- what files define


class Targets(NamedTuple):
    """What one file can make."""

    names: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()  #: with one `%`
    is_open: bool = False

    def makes(self, name: str) -> bool:
        if name in self.names:
            return True
        ends = (pattern.partition("%")[::2] for pattern in self.patterns)
        return any(name.startswith(head) and name.endswith(tail) for head, tail in ends)


_RULE = lazy(r"^([^\s#:=][^:=#\n]*)::?(?![:=])", re.MULTILINE)
_INCLUDE = lazy(r"^[ \t]*[-s]?include[ \t]+(.+)$", re.MULTILINE)
_COMPUTED = lazy(r"^[ \t]*(?:\$\(eval|\$\(call|\$\(foreach|define\b|\.DEFAULT\s*:)", re.MULTILINE)


def _read_makefile(project: Project, path: str, depth: int) -> Targets:
    """The targets of a Makefile and of those that it includes."""
    text = project.read(project.absolute(path))
    if text is None or len(text) > LARGEST or depth > DEPTH or _COMPUTED.search(text):
        return Targets(is_open=True)
    text = text.replace("\\\n", " ")
    names: set[str] = set()
    patterns: list[str] = []
    for found in _RULE.finditer(text):
        for name in found[1].replace("&", " ").split():
            if "$" in name or name.count("%") > 1 or name == "%":
                return Targets(is_open=True)
            patterns.append(name) if "%" in name else names.add(name)
    for line in re.findall(r"^\.PHONY\s*:(.*)$", text, re.MULTILINE):
        names |= {*line.split()}
    for found in _INCLUDE.finditer(text):
        for name in found[1].partition("#")[0].split():
            inner = _read_included(project, path, name, depth)
            if inner.is_open:
                return inner
            names |= inner.names
            patterns += inner.patterns
    return Targets(frozenset(names), tuple(patterns))


def _read_included(project: Project, path: str, name: str, depth: int) -> Targets:
    if name.rpartition("/")[2].startswith(".env") or name.endswith(".env"):
        return Targets()
    inside = posixpath.normpath(_folder_of(path) + name)
    is_known = not any(char in name for char in "$*?[") and inside in project.file_set
    return _read_makefile(project, inside, depth + 1) if is_known else Targets(is_open=True)


_RECIPE = lazy(r"^@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)", re.MULTILINE)
_ALIAS = lazy(r"^alias[ \t]+([A-Za-z_][\w-]*)[ \t]*:=", re.MULTILINE)


def _read_justfile(project: Project, path: str, _: int) -> Targets:
    text = project.read(project.absolute(path))
    if text is None or len(text) > LARGEST or re.search(r"^(?:import|mod|set[ \t]+fallback)\b", text, re.MULTILINE):
        return Targets(is_open=True)
    return Targets(frozenset({*_RECIPE.findall(text), *_ALIAS.findall(text)}))


def _read_taskfile(project: Project, path: str, _: int) -> Targets:
    text = project.read(project.absolute(path))
    if text is None or len(text) > LARGEST or re.search(r"^includes[ \t]*:", text, re.MULTILINE):
        return Targets(is_open=True)
    tasks = text.partition("\ntasks:")[2]
    names = re.findall(r"^[ \t]{1,8}['\"]?([\w:*-]{1,200})['\"]?:", tasks, re.MULTILINE)
    is_open = not names or any("*" in name for name in names) or "aliases:" in tasks
    return Targets(frozenset(names), is_open=is_open)


TargetReader = Callable[[Project, str, int], Targets]
_KINDS: dict[str, tuple[tuple[str, ...], TargetReader]] = {
    "make": (("Makefile", "makefile", "GNUmakefile"), _read_makefile),
    "just": (("justfile", "Justfile", ".justfile"), _read_justfile),
    "task": (("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"), _read_taskfile),
}
