"""What each agent is given in a tree, and when: a map that can be compared with that of another state of the tree.

1. A place is an agent and a folder in which it starts (`Project.starts`). What it is given there comes `always`, at the
   start; as a `listed` name; when a file in a folder is touched (`touch`); or when one is touched whose path patterns
   match (`match`).
2. Paths are seen from the top of the tree. A text counts by its digest: that of what the model sees, not of the file.
3. A text that the agent's budget cuts has the bytes that are lost, the line from which on they are, and the first
   heading among them.
4. The order in which texts come is left out: many agents take files as the file system lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice, title_of_agent
from foretold.instructions.discover.rule_conditions import written_patterns
from foretold.instructions.view import View, Waiting
from foretold.storage.digest import digest_of
from foretold.storage.tree import Fault
from foretold.types import Entry, NamedTuple

SHORT = 16  #: characters of a digest
MAX_FILE = 64 * 1024 * 1024  #: bytes of a file that may be cut
MOST_PATTERNS = 3  #: that are named
MAX_HEADING = 80  #: characters
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.{0,200})")
_FENCE = re.compile(r"[ >]{0,20}(```|~~~)")


class CutText(NamedTuple):
    """What a budget takes from the end of a file."""

    lost: int  #: bytes
    line: int  #: the first line that is not whole
    heading: str = ""  #: the first one that is lost


class Delivery(NamedTuple):
    """A text that an agent is given, and when."""

    path: str  #: as the agent shows it, from the top of the tree
    when: str  #: always, listed, touch, match
    scope: tuple[str, ...]  #: the folder of touched files; or the folder that patterns are seen from, and the patterns
    layer: str
    digest: str
    tokens: int
    cut: CutText | None = None
    file: str = ""  #: where the text really is
    parent: str = ""  #: the file that imports it
    includes: tuple[str, ...] = ()  #: files whose text is in it
    written: tuple[str, ...] = ()  #: the patterns as their author wrote them: the agent may shorten `web/**` to `web`

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that has a part in the text."""
        return tuple(dict.fromkeys((self.path, self.file, *self.includes)))

    @property
    def condition(self) -> tuple[str, ...]:
        return (self.when, *self.scope)


class Place(NamedTuple):
    """What an agent is given that starts in a folder."""

    agent: str  #: with its version
    folder: str  #: from the top of the tree, which is empty
    tokens: int  #: at every start
    deliveries: tuple[Delivery, ...]


class DeliveryMap(NamedTuple):
    """What all agents are given in all places of a tree."""

    places: tuple[Place, ...]

    def find(self, path: str) -> list[tuple[Place, Delivery]]:
        """Where a file, seen from the top of the tree, is given; files that are put into others count, too."""
        return [(place, each) for place in self.places for each in place.deliveries if path in each.files]


def map_deliveries(project: Project) -> DeliveryMap:
    """The map of a project.

    >>> import os, tempfile
    >>> from foretold.check import CheckOptions, Project
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> for place in map_deliveries(Project(folder, CheckOptions(home=""))).places:
    ...     print(place.agent, [(each.path, each.when, each.tokens) for each in place.deliveries])
    claude-code@2.1.325 [('CLAUDE.md', 'always', 3)]
    """
    return project.remember(("deliveries",), lambda: DeliveryMap(tuple(_list_places(project))))


def _list_places(project: Project) -> Iterator[Place]:
    for choice in project.choices:
        for folder in project.starts(choice):
            view = project.view(choice, folder)
            found = [*_list_start(view, project)]
            if folder == project.top:
                found += _list_nested(view, choice, project)
            inside = "" if folder == project.top else project.relative(folder)
            ordered = sorted(found, key=lambda each: (each.path, each.condition, each.digest))
            yield Place(view.dialect.name, inside, view.tokens, tuple(ordered))


def _list_start(view: View, project: Project) -> Iterator[Delivery]:
    for entry in () if view.refusal else view.entries:
        when = "listed" if entry.is_listed else "always"
        cut = _find_cut(entry, view, project)
        yield _describe(entry, project, when)._replace(cut=cut)
    for rule in view.waiting:
        yield _describe_rule(rule, view, project)


def _list_nested(view: View, choice: DialectChoice, project: Project) -> Iterator[Delivery]:
    """What touched files bring; what the model has from the start is not given again, where the agent is so."""
    given = {entry.path for entry in (*view.entries, *view.withheld) if not entry.is_listed}
    known = given if choice.dialect.again == "new" else set()
    nested = project.nested(choice)
    for entry in nested.entries:
        if entry.path not in known:
            folder = (entry.trigger or "").rpartition("/")[0]
            yield _describe(entry, project, "touch", (_relative(project, folder),))
    for rule in nested.waiting:
        yield _describe_rule(rule, view, project)


def _describe_rule(rule: Waiting, view: View, project: Project) -> Delivery:
    found = _describe(rule.entry, project, "match", (_relative(project, rule.base), *rule.entry.globs))
    return found._replace(written=tuple(written_patterns(rule.entry, view.dialect.rules)))


def _describe(entry: Entry, project: Project, when: str, scope: tuple[str, ...] = ()) -> Delivery:
    show = project.relative
    return Delivery(
        show(entry.path),
        when,
        scope,
        entry.layer,
        digest_of(entry.text.encode("utf-8", "replace"))[:SHORT],
        entry.tokens,
        None,
        show(project.tree.real(entry.path)),
        show(entry.parent or ""),
        tuple(map(show, entry.includes)),
    )


def _relative(project: Project, folder: str) -> str:
    return "" if folder == project.top else project.relative(folder)


def _find_cut(entry: Entry, view: View, project: Project) -> CutText | None:
    """What is lost of an entry, if it is of the layer whose bytes are limited."""
    if entry.layer != view.dialect.budget or view.surroundings.budget is None or entry.is_listed:
        return None
    data = project.tree.read(entry.path, MAX_FILE)
    if isinstance(data, Fault) or len(data) <= entry.size:
        return None
    line = data.count(b"\n", 0, entry.size) + 1
    text = data.decode("utf-8", "replace")
    return CutText(len(data) - entry.size, line, find_heading(text, line))


def find_heading(text: str, line: int) -> str:
    """The first heading in a line or after it, code left out; empty if there is none.

    >>> find_heading("# A\\n```\\n# comment\\n```\\n## B ##\\n", 2)
    'B'
    """
    fence = ""
    for number, row in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(row)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        elif number >= line and not fence and (found := _HEADING.match(row)):
            return found[1].rstrip("# \t\r")[:MAX_HEADING] or found[1].strip()[:MAX_HEADING]
    return ""


# For people


def describe_when(delivery: Delivery) -> str:
    """When a text comes, in words.

    >>> describe_when(Delivery("a.md", "match", ("", "src/**"), "project", "", 1))
    'when a file that matches src/** is touched'
    """
    if delivery.when == "touch":
        return f"when a file in {delivery.scope[0] or 'the top folder'} is touched"
    if delivery.when == "match":
        written = delivery.written or delivery.scope[1:]
        patterns = ", ".join(written[:MOST_PATTERNS]) + (", …" if len(written) > MOST_PATTERNS else "")
        base = f" in {delivery.scope[0]}" if delivery.scope[0] else ""
        return f"when a file{base} that matches {patterns} is touched"
    return "only its name" if delivery.when == "listed" else "always"


def describe_deliveries(project: Project, path: str) -> list[str]:
    """A line for each agent that is in use: when it is given a file, and what that costs.

    >>> import os, tempfile
    >>> from foretold.check import CheckOptions, Project
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> describe_deliveries(Project(folder, CheckOptions(home="")), os.path.join(folder, "CLAUDE.md"))
    ['Claude Code: always, 3 tokens']
    """
    found = map_deliveries(project).find(project.relative(path))
    lines = []
    for choice in project.choices:
        own = [(place, each) for place, each in found if place.agent == choice.dialect.name]
        said = _summarize(own) if own else "not delivered"
        lines.append(f"{title_of_agent(choice.dialect.agent)}: {said}")
    return lines


def _summarize(found: list[tuple[Place, Delivery]]) -> str:
    """When a file is given to one agent: at its best; and where it is cut."""
    order = ("always", "touch", "match", "listed")
    place, best = min(found, key=lambda each: (order.index(each[1].when), len(each[0].folder)))
    count = f"{best.tokens:,} token{'' if best.tokens == 1 else 's'}"
    where = f" if it starts in {place.folder}" if place.folder else ""
    said = f"{describe_when(best)}{where}, {count}"
    cut = next((each.cut for _, each in found if each.cut), None)
    if cut is None:
        return said
    inside = next(place.folder for place, each in found if each.cut)
    where = f"cut after line {cut.line - 1:,}" if cut.line > 1 else "cut in line 1"
    return f"{said}; {where}" + (f" if it starts in {inside}" if inside else "")
