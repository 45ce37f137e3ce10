"""A tree that is checked: its files, the agents that work there, and what each of them is given in its folders.

1. The tree is walked once; files that git tracks in folders that it ignores are added. Every folder that has
   instruction files, or is named by one, is a place where an agent can start or read; nothing depends on the number of
   other files but the walk and the search for what texts claim.
2. The agents are those whose files are in the tree (`dialects.registry.SIGNS`), in the version that is asked for, else
   the one that the tree pins (`dialects.releases.pinned`), else the newest that is known. What is installed on this
   machine does not matter: CI and a laptop agree.
3. An agent that brings more when a file is touched is asked once, at the top, and about every file below
   (`instructions.explain`). One that only looks when it starts is asked in every folder that has files of its own.
4. Folders of fixtures, of dependencies and those that settings exclude are left out, and counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property, partial

from foretold.check.memo import Memo
from foretold.dialects.registry import SIGNS, DialectChoice, choose, make_request
from foretold.dialects.releases.pinned import PinnedVersions, VersionSource, find_pins, may_pin
from foretold.dialects.surroundings import LoadRequest
from foretold.errors import NotAFolder
from foretold.git.runner import GitRepository
from foretold.instructions.discover.inventory import Inventory, NameTable, WalkLimits, list_names, take_inventory
from foretold.instructions.explain import NestedFiles, find_nested
from foretold.instructions.load import load_view
from foretold.instructions.view import View
from foretold.storage.layers import CachingDisk, ChangedTree
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeVar

    from foretold.dialects.schema import Dialect
    from foretold.storage.layers import FileChange

    Value = TypeVar("Value")
    Item = TypeVar("Item", bound=Hashable)

LIMITS = WalkLimits(folders=60_000, names=1_500_000, found=20_000)
NOWHERE = "/dev/null/home"  #: the home where nobody's files count: nothing can be there
MAX_TEXT = 4 * 1024 * 1024  #: bytes of a file that is checked
#: folders whose instruction files are data of tests, copies, or templates for other repositories
FIXTURES = re.compile(
    r"(?:^|/)(?:(?:test|tests|__tests__|spec|specs|e2e)/(?:[^/]+/)*(?:fixtures?|data|testdata|cases|snapshots|resources|"
    r"samples?|golden|repos?)|__?fixtures?__?|fixtures?|testdata|test-data|test_data|test-fixtures|__snapshots__|"
    r"templates?|third_party|vendor|vendored|node_modules|site-packages|\.git)(?:/|$)",
    re.IGNORECASE,
)


#: folders that agents have in a project: nobody works there
AGENT_FOLDERS = frozenset(sign for signs in SIGNS.values() for sign in signs if sign[0] == "." and "/" not in sign)


class CheckOptions(NamedTuple):
    """What a check is asked about. Settings of the repository fill in what is left out."""

    agents: tuple[str, ...] = ()  #: names, perhaps with versions; empty: those that are in use
    home: str | None = None  #: None: that of the process; empty: nobody's
    managed: str | None = None
    env: Mapping[str, str] | None = None
    exclude: tuple[str, ...] = ()  #: patterns as in .gitignore, of paths that are not checked
    include_fixtures: bool = False


class AgentView(NamedTuple):
    """What one agent is given when it starts in a folder."""

    agent: str  #: with its version
    folder: str
    view: View


class Project:
    """A tree that is checked. Everything is computed when it is first asked for, and once."""

    def __init__(
        self, top: str | os.PathLike[str], options: CheckOptions | None = None, tree: Tree | None = None
    ) -> None:
        self.top = os.path.realpath(top)
        self.options = options or CheckOptions()
        self.tree: Tree = tree if tree is not None else CachingDisk()
        if self.tree.kind(self.top) != "folder":
            raise NotAFolder(f"{top} is not a folder; give the folder of a project")
        self._views: dict[tuple[str, str], View] = {}
        self._nested: dict[str, NestedFiles] = {}
        self._requests: dict[str, LoadRequest] = {}
        self._texts: dict[str, str | None] = {}
        self._checked: dict[str, bool] = {}
        self.memo = Memo()

    def with_changes(self, changes: Mapping[str, FileChange]) -> Project:
        """The same project, if some files were different."""
        other = Project(self.top, self.options, ChangedTree(self.tree, changes))
        if not any(may_pin(self.relative(path)) for path in changes):
            other.pins = self.pins  # a lock may have megabytes, and fixes are tried by the hundred
        return other

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """What is computed from files of the tree, once; again, if what `compute` brings along is another (`memo`)."""
        return self.memo.remember(key, compute)

    def remember_list(self, key: Hashable, find: Callable[..., Iterable[Value]], *arguments: object) -> list[Value]:
        """What a function finds with these arguments, as a list that is remembered."""
        return self.memo.remember(key, partial(_collect, find, *arguments))

    def remember_each(self, name: str, items: Iterable[Item], judge: Callable[[Item], Value]) -> Iterator[Value]:
        """What is computed from each of some items, mostly paths, in their order; `judge` reads the files itself."""
        return self.memo.remember_each(name, items, judge)

    # -- files

    @cached_property
    def inventory(self) -> Inventory:
        """Every file of the tree, and which of them may be instructions for some agent."""
        tables = [list_names(choice.dialect) for choice in self._known]
        found = take_inventory(self.tree, self.top, tables, LIMITS, every=True)
        listed = frozenset(found.files)
        rest = [path for path in self.indexed if path not in listed]
        there = [path for path in rest if self.tree.kind(self.absolute(path)) != "missing"]
        return found.add_files(self.top, there, tables) if there else found

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files and links of the tree, as paths below its top."""
        return self.inventory.files

    @cached_property
    def file_set(self) -> frozenset[str]:
        return frozenset(self.files)

    @cached_property
    def git(self) -> GitRepository | None:
        """The repository that the tree is in, if there is one."""
        return GitRepository.of(self.top)

    @cached_property
    def indexed(self) -> tuple[str, ...]:
        """The files in git's index, below the top."""
        found = self.git.indexed() if self.git else None
        return tuple(found.files) if found else ()

    @cached_property
    def tracked(self) -> frozenset[str] | None:
        """The files that git tracks, below the top; None if that is not known."""
        found = self.git.tracked() if self.git else None
        return frozenset(found.files) if found else None

    def is_checked(self, path: str) -> bool:
        """Whether findings about a file count: it is in the tree, and not left out."""
        known = self._checked.get(path)
        if known is None:
            known = self._checked[path] = self._is_checked(path)
        return known

    def _is_checked(self, path: str) -> bool:
        if not is_inside(path, self.top):
            return False
        inside = path[len(self.top.rstrip("/")) + 1 :]
        if self._excludes is not None and self._excludes.matches(inside):
            return False
        return self.options.include_fixtures or not FIXTURES.search(inside.rpartition("/")[0])

    @cached_property
    def _excludes(self):  # type: ignore[no-untyped-def]
        from foretold.text.globs.npm_ignore import IgnoreMatcher

        return IgnoreMatcher(list(self.options.exclude)) if self.options.exclude else None

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Instruction files that are not checked."""
        return tuple(path for path in self.inventory.paths if not self.is_checked(path))

    def relative(self, path: str) -> str:
        """A path as it is shown: from the top, if it is below it."""
        base = self.top.rstrip("/") + "/"
        return path[len(base) :] if path.startswith(base) else path

    def absolute(self, inside: str) -> str:
        """The path of a file that is given from the top."""
        return f"{self.top.rstrip('/')}/{inside}"

    def read(self, path: str) -> str | None:
        """The text of a file; None if it cannot be read, or is too large."""
        if path not in self._texts:
            data = self.tree.read(path, MAX_TEXT)
            self._texts[path] = None if isinstance(data, Fault) else data.decode("utf-8", "replace")
        return self._texts[path]

    # -- agents

    @cached_property
    def _known(self) -> list[DialectChoice]:
        """The dialects of all agents that may be in use."""
        return [self._choose(name) for name in self.options.agents or tuple(SIGNS)]

    def _choose(self, name: str) -> DialectChoice:
        """The dialect of an agent: of the version that is asked for, else of the one that the tree pins."""
        agent, _, version = name.lower().partition("@")
        pin = None if version else self.pins.find(agent)
        return choose(f"{pin.agent}@{pin.version}" if pin else name)

    @cached_property
    def pins(self) -> PinnedVersions:
        """The versions of agents that the tree pins."""
        return find_pins(self.tree, self.top)

    def pin_of(self, agent: str) -> VersionSource | None:
        """Where the version of an agent comes from, if the tree pins it and no other was asked for."""
        asked = [name.lower().partition("@") for name in self.options.agents]
        is_asked = any(name == agent and version for name, _, version in asked)
        return None if is_asked else self.pins.find(agent)

    @cached_property
    def choices(self) -> tuple[DialectChoice, ...]:
        """The agents that are checked for, with their versions."""
        if self.options.agents:
            return tuple(self._known)
        return tuple(choice for choice in self._known if self._is_used(choice.dialect.agent))

    def _is_used(self, agent: str) -> bool:
        """Whether the tree has a file that only this agent, or it above all, reads."""
        return any(self._has_sign(sign) for sign in SIGNS[agent])

    def _has_sign(self, sign: str) -> bool:
        """Whether some file that is checked has this name, or is in a folder of this name."""
        for end in ("/", "\n"):
            at = self._listing.find(f"/{sign}{end}")
            while at >= 0:
                start = self._listing.rfind("\n", 0, at) + 2
                if self.is_checked(self.absolute(self._listing[start : self._listing.index("\n", at)])):
                    return True
                at = self._listing.find(f"/{sign}{end}", at + 1)
        return False

    @cached_property
    def _listing(self) -> str:
        """All files as one text, in which a name is found faster than path by path: `/a\\n/b/c\\n`."""
        return "".join([f"/{path}\n" for path in self.files])

    @property
    def home(self) -> str:
        return self.request.home

    @cached_property
    def request(self) -> LoadRequest:
        """The question to the first agent; those to others differ only in the agent."""
        return self._make_request(self._known[0] if self._known else choose())

    def _make_request(self, choice: DialectChoice) -> LoadRequest:
        """The question to an agent at the top, made once: what it asks of the machine does not change in a check."""
        if choice.dialect.name in self._requests:
            return self._requests[choice.dialect.name]
        options = self.options
        home = NOWHERE if options.home == "" else options.home
        managed = NOWHERE if options.home == "" and options.managed is None else options.managed
        env = {} if options.env is None and options.home == "" else options.env
        _, request = make_request(self.top, choice.dialect.name, home=home, managed=managed, env=env)
        self._requests[choice.dialect.name] = request = request._replace(trust=True)
        return request

    # -- what agents are given

    def view(self, choice: DialectChoice, folder: str = "") -> View:
        """What an agent is given that starts in a folder of the tree; at its top, if none is named."""
        folder = folder or self.top
        key = (choice.dialect.name, folder)
        if key not in self._views:
            self._views[key] = load_view(self.tree, choice, self._make_request(choice)._replace(cwd=folder))
        return self._views[key]

    def nested(self, choice: DialectChoice) -> NestedFiles:
        """What becomes of the instruction files that an agent does not get at the top."""
        name = choice.dialect.name
        if name not in self._nested:
            self._nested[name] = find_nested(self.view(choice), self.tree, self.inventory)
        return self._nested[name]

    def starts(self, choice: DialectChoice) -> list[str]:
        """The folders in which an agent is asked: the top; and those with its files, if it looks only at its start."""
        if choice.dialect.touch and not choice.dialect.touch_asked:
            return [self.top]
        return self.remember(("starts", choice.dialect.name), partial(self._list_starts, choice.dialect))

    def _list_starts(self, dialect: Dialect) -> list[str]:
        names = list_names(dialect)
        own = (path for path in self.inventory.select(names) if self.is_checked(path))
        holders = (_holder(path, names) for path in own)
        known = (folder for folder in holders if AGENT_FOLDERS.isdisjoint(self.relative(folder).split("/")))
        return list(dict.fromkeys([self.top, *known]))

    def views(self) -> Iterator[AgentView]:
        """What every agent is given in every folder in which it is asked."""
        for choice in self.choices:
            for folder in self.starts(choice):
                yield AgentView(choice.dialect.name, folder, self.view(choice, folder))

    def _list_own(self, choice: DialectChoice) -> list[str]:
        return [*self.inventory.select(list_names(choice.dialect))]

    @cached_property
    def instruction_files(self) -> tuple[str, ...]:
        """Every file of the tree that some agent is given, imported ones too, or would be but for a fault."""
        found: dict[str, None] = {}
        for choice in self.choices:
            found.update(dict.fromkeys(self.remember(("own", choice.dialect.name), partial(self._list_own, choice))))
        for each in self.views():
            found.update(dict.fromkeys(entry.path for entry in each.view.entries if entry.kind != "setting"))
            found.update(dict.fromkeys(rule.entry.path for rule in each.view.waiting))
        return tuple(path for path in found if self.is_checked(path) and self.tree.kind(path) == "file")


def _collect(find: Callable[..., Iterable[Value]], *arguments: object) -> list[Value]:
    return [*find(*arguments)]


def _holder(path: str, names: NameTable) -> str:
    """The folder that an instruction file speaks for."""
    rules = names.find_rules(path)
    if rules:
        return rules[0]
    for name in sorted(names.files, key=len, reverse=True):
        if path.lower().endswith(f"/{name.lower()}"):
            return path[: -len(name) - 1] or "/"
    return os.path.dirname(path)
