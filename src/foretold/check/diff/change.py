"""What a change does to what each agent is given, and to the findings of a check.

1. Both sides are asked about the same agents: those that are in use on either. A folder that only one side starts in is
   compared with the nearest folder above it that the other side starts in: an agent is given the same there.
2. A file that an agent was given and is not given any more is *removed*, if it is gone; *moved*, if its text has
   another path now; *unreachable*, if it is there, and its name or an import asks for it; else it was *dropped*: the
   change took out the import.
3. A file that an agent is given now is *delivered*. One that comes at another time is *rescoped*, one with another text
   is *changed*. The same change in several folders is one.
4. What a budget cuts off is a change by itself: a file may lose its end because another one grew.
5. Each side is asked as the release that it pins (`releases`): a change of the pin counts like a change of files.
6. Where only some paths are asked about, both sides are looked at as a whole. Reported are files and findings there,
   and what sessions that start there cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from foretold.check.delivered import CutText, Delivery, Place, map_deliveries
from foretold.check.diff.base import Base, EarlierTree, find_base, open_base
from foretold.check.diff.findings import ChangeScope, compare_findings
from foretold.check.diff.releases import ReleaseChange, compare_pins
from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.run import is_among
from foretold.check.settings import CheckSettings
from foretold.dialects.registry import DialectChoice
from foretold.errors import BadArgument
from foretold.instructions.discover.inventory import list_names
from foretold.instructions.explain import describe_skip
from foretold.storage.tree import is_inside
from foretold.types import NamedTuple

KINDS = ("unreachable", "removed", "dropped", "delivered", "moved", "rescoped", "changed")


class ChangedDelivery(NamedTuple):
    """A file that an agent is given otherwise than before."""

    kind: str  #: one of `KINDS`
    agent: str  #: with its version
    path: str  #: from the top of the tree
    folders: tuple[str, ...]  #: the agent starts in one of these; the top is empty
    before: tuple[Delivery, ...]
    after: tuple[Delivery, ...]
    reason: str = ""  #: why it is unreachable; of a delivered file that was there before, what happened to it
    other: str = ""  #: the path that a moved file had before


class ChangedCut(NamedTuple):
    """A file of which a budget cuts off another part than before."""

    agent: str
    path: str
    folders: tuple[str, ...]
    before: CutText | None
    after: CutText | None

    @property
    def is_worse(self) -> bool:
        return (self.after.lost if self.after else 0) > (self.before.lost if self.before else 0)


class ChangedCost(NamedTuple):
    """What the instructions of an agent cost in every session that starts in a folder."""

    agent: str
    folder: str
    before: int
    after: int


class ChangeReport(NamedTuple):
    """The answer of `foretold check --diff`."""

    project: Project
    base: Base
    costs: tuple[ChangedCost, ...]
    deliveries: tuple[ChangedDelivery, ...]
    cuts: tuple[ChangedCut, ...]
    new: tuple[CheckFinding, ...]
    fixed: tuple[CheckFinding, ...]
    cut: str = ""  #: why not everything was looked at
    known: int = 0  #: new findings that a baseline has, and that are left out
    releases: tuple[ReleaseChange, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether something does not arrive any more, or there is a new error or warning."""
        is_lost = any(each.kind == "unreachable" for each in self.deliveries) or any(
            each.is_worse for each in self.cuts
        )
        return is_lost or any(each.severity in ("error", "warning") for each in self.new)


def compare_with(
    project: Project,
    asked: str,
    settings: CheckSettings | None = None,
    scope: ChangeScope | None = None,
    env: Mapping[str, str] | None = None,
) -> ChangeReport:
    """What the change from an earlier commit to the files as they are does.

    With an environment, versions that are pinned are compared with what is installed there, too.
    """
    settings, scope = settings or CheckSettings(), scope or ChangeScope()
    base = find_base(project, asked)
    before = open_base(project, base)
    _require_paths(before, project, scope.paths, base)
    costs, deliveries, cuts = compare_projects(before, project)
    changed = compare_findings(before, project, settings, scope)
    return ChangeReport(
        project,
        base,
        tuple(_select_costs(costs, [project.relative(path) for path in scope.paths])),
        tuple(each for each in deliveries if _concerns(project, scope.paths, each)),
        tuple(each for each in cuts if is_among(_locate(project, each.path), scope.paths)),
        changed.new,
        changed.fixed,
        project.inventory.cut or before.inventory.cut,
        changed.known,
        compare_pins(before, project, env),
    )


def _require_paths(before: Project, after: Project, paths: Sequence[str], base: Base) -> None:
    """BadArgument if a path is on neither side."""
    for path in paths:
        if after.tree.kind(path) == before.tree.kind(path) == "missing":
            shown = after.relative(path)
            raise BadArgument(
                f"{shown} is not a file or folder, and was not at {base.name}; give a path of the project"
            )


def _locate(project: Project, path: str) -> str:
    """The whole path of a file that is named from the top."""
    return path if path.startswith("/") else project.absolute(path)


def _concerns(project: Project, paths: Sequence[str], change: ChangedDelivery) -> bool:
    """Whether a change is about one of some paths: a file there, or one whose text comes from there."""
    files = {path for each in (*change.before, *change.after) for path in each.files}
    return any(is_among(_locate(project, path), paths) for path in {change.path, change.other or change.path, *files})


def _select_costs(costs: Sequence[ChangedCost], paths: Sequence[str]) -> Iterator[ChangedCost]:
    """Of each agent the first, which is that at the top, and those in other folders with another difference.

    With paths, those of sessions that start there count: an agent is given the same as in the nearest folder above.
    """
    first: dict[str, int] = {}
    starts: dict[str, set[str]] = {}
    for cost in costs:
        starts.setdefault(cost.agent, set()).add(cost.folder)
    wanted = {(agent, _find_start(path, folders)) for agent, folders in starts.items() for path in paths}
    for cost in costs:
        is_there = any(is_inside(f"/{cost.folder}", f"/{path}") for path in paths)
        if paths and not is_there and (cost.agent, cost.folder) not in wanted:
            continue
        if first.get(cost.agent) != cost.after - cost.before:
            yield cost
        first.setdefault(cost.agent, cost.after - cost.before)


def _find_start(path: str, starts: Collection[str]) -> str:
    """The nearest folder at or above a path in which an agent was asked."""
    while path and path not in starts:
        path = path.rpartition("/")[0]
    return path


def compare_projects(
    before: Project, after: Project, *, every: bool = False
) -> tuple[tuple[ChangedCost, ...], tuple[ChangedDelivery, ...], tuple[ChangedCut, ...]]:
    """What differs between two states of one tree, for all agents that are in use in either.

    Files that are not checked, such as fixtures, count only with `every`.
    """
    before, after = _ask_about(before, _list_names(before, after)), _ask_about(after, _list_names(after, before))
    comparison = _Comparison(before, after, every=every)
    return comparison.list_costs(), comparison.list_deliveries(), comparison.list_cuts()


def _list_names(side: Project, other: Project) -> tuple[str, ...]:
    """The agents of one side with its versions, and those that only the other side uses."""
    agents = {choice.dialect.agent for choice in side.choices}
    more = [choice.dialect for choice in other.choices if choice.dialect.agent not in agents]
    # pinned here, and used only there
    pins = {each.agent: pin.version for each in more if (pin := side.pin_of(each.agent))}
    names = (f"{each.agent}@{pins[each.agent]}" if each.agent in pins else each.name for each in more)
    return tuple(dict.fromkeys((*(choice.dialect.name for choice in side.choices), *names)))


def _ask_about(project: Project, names: tuple[str, ...]) -> Project:
    """The same project, checked for these agents."""
    if not names or {choice.dialect.name for choice in project.choices} == set(names):
        return project
    other = Project(project.top, project.options._replace(agents=names), project.tree)
    if isinstance(project.tree, EarlierTree):
        other.indexed, other.tracked = project.indexed, project.tracked
    return other


class _Pair(NamedTuple):
    """What an agent is given in one folder, before and after; files that are not checked are left out."""

    agent: str  #: with its version after the change
    folder: str
    before: Place
    after: Place


class _Comparison:
    """Two states of a tree."""

    def __init__(self, before: Project, after: Project, *, every: bool) -> None:
        self.before, self.after, self.every = before, after, every
        self._choices = {choice.dialect.name: choice for choice in after.choices}
        self._pairs = [*self._list_pairs()]
        self._own: dict[str, frozenset[str]] = {}  #: agent -> the files that it looks for by their names

    def _list_pairs(self) -> Iterator[_Pair]:
        names = _match_versions(self.before, self.after)
        sides = [
            {(names.get(place.agent, place.agent), place.folder): place for place in map_deliveries(side).places}
            for side in (self.before, self.after)
        ]
        for agent, folder in sorted({*sides[0], *sides[1]}):
            yield _Pair(agent, folder, *(_nearest(side, agent, folder) for side in sides))

    # -- what is delivered

    def list_costs(self) -> tuple[ChangedCost, ...]:
        """Of every agent in every folder in which it is asked."""
        return tuple(
            ChangedCost(pair.agent, pair.folder, pair.before.tokens, pair.after.tokens) for pair in self._pairs
        )

    def list_deliveries(self) -> tuple[ChangedDelivery, ...]:
        merged: dict[ChangedDelivery, list[str]] = {}
        for pair in self._pairs:
            for change in self._compare_place(pair):
                merged.setdefault(change, []).append(pair.folder)
        found = (change._replace(folders=tuple(folders)) for change, folders in merged.items())
        return tuple(sorted(found, key=lambda each: (each.agent, KINDS.index(each.kind), each.path, each.folders)))

    def _compare_place(self, pair: _Pair) -> Iterator[ChangedDelivery]:
        before, after = self._by_path(pair.before), self._by_path(pair.after)
        lost = [path for path in before if path not in after]
        new = [path for path in after if path not in before]
        moved = self._find_moves(lost, new, before, after)
        for path in lost:
            if path not in moved:
                kind, reason = self._explain_loss(pair, path)
                yield ChangedDelivery(kind, pair.agent, path, (), before[path], (), reason)
        origins = {to: path for path, to in moved.items()}
        for path in new:
            kind, other = ("moved", origins[path]) if path in origins else ("delivered", "")
            reason = self._explain_news(pair, path) if kind == "delivered" else ""
            yield ChangedDelivery(kind, pair.agent, path, (), before.get(other, ()), after[path], reason, other)
        for path in before:
            old, now = before[path], after.get(path, ())
            if now and _essence(old) != _essence(now) and not self._is_only_cut(pair, path):
                is_time = {each.condition for each in old} != {each.condition for each in now}
                yield ChangedDelivery("rescoped" if is_time else "changed", pair.agent, path, (), old, now)

    def _by_path(self, place: Place) -> dict[str, tuple[Delivery, ...]]:
        found: dict[str, list[Delivery]] = {}
        for each in place.deliveries:
            is_outside = each.path.startswith("/")
            if self.every or is_outside or self.after.is_checked(self.after.absolute(each.path)):
                found.setdefault(each.path, []).append(each._replace(cut=None, parent=""))
        return {path: tuple(each) for path, each in found.items()}

    def _is_only_cut(self, pair: _Pair, path: str) -> bool:
        """Whether a text differs only because a budget cuts it elsewhere: that is said of its own."""
        cuts = [[each.cut for each in place.deliveries if each.path == path] for place in (pair.before, pair.after)]
        whole = self.after.absolute(path)
        return cuts[0] != cuts[1] and self.before.read(whole) == self.after.read(whole)

    def _find_moves(
        self,
        lost: Iterable[str],
        new: Iterable[str],
        before: Mapping[str, tuple[Delivery, ...]],
        after: Mapping[str, tuple[Delivery, ...]],
    ) -> dict[str, str]:
        """Files that are gone, whose text is in a file that was not there."""
        fresh = [path for path in new if self.before.tree.kind(self.before.absolute(path)) != "file"]
        found: dict[str, str] = {}
        for path in lost:
            if self.after.tree.kind(self.after.absolute(path)) == "file":
                continue
            texts = {each.digest for each in before[path]}
            twin = next((each for each in fresh if {one.digest for one in after[each]} & texts), "")
            if twin:
                found[path] = twin
                fresh.remove(twin)
        return found

    def _explain_loss(self, pair: _Pair, path: str) -> tuple[str, str]:
        """The kind of a change that takes a file from an agent, and the reason if the file is still there."""
        whole, choice = _locate(self.after, path), self._choices[pair.agent]
        if self.after.tree.kind(whole) != "file":
            return "removed", ""
        reason = _find_reason(self.after, choice, pair.folder, whole)
        if reason or self._is_own(pair, whole):
            return "unreachable", reason or "the agent does not look for it there"
        return "dropped", ""

    def _explain_news(self, pair: _Pair, path: str) -> str:
        """What happened to a file that is given now and was there before; empty if it is new."""
        whole = _locate(self.after, path)
        if self.before.tree.kind(whole) != "file":
            return ""
        return "newly delivered" if self._is_own(pair, whole) else "newly imported"

    def _is_own(self, pair: _Pair, whole: str) -> bool:
        """Whether the agent looks for a file by its name."""
        if pair.agent not in self._own:
            names = list_names(self._choices[pair.agent].dialect)
            self._own[pair.agent] = frozenset(self.after.inventory.select(names))
        return whole in self._own[pair.agent]

    # -- what is cut

    def list_cuts(self) -> tuple[ChangedCut, ...]:
        merged: dict[ChangedCut, list[str]] = {}
        for agent, folder, before, after in self._pairs:
            old, now = ({each.path: each.cut for each in place.deliveries if each.cut} for place in (before, after))
            given = {each.path for each in after.deliveries}
            for path in sorted({*old, *now}):
                if old.get(path) != now.get(path) and path in given:
                    merged.setdefault(ChangedCut(agent, path, (), old.get(path), now.get(path)), []).append(folder)
        return tuple(change._replace(folders=tuple(folders)) for change, folders in merged.items())


def _match_versions(before: Project, after: Project) -> dict[str, str]:
    """Agents with the version that only the earlier side asks about -> with the one of the later side."""
    known = {choice.dialect.name for choice in after.choices}
    later = {choice.dialect.agent: choice.dialect.name for choice in after.choices}
    dialects = [choice.dialect for choice in before.choices]
    return {each.name: later[each.agent] for each in dialects if each.name not in known and each.agent in later}


def _nearest(side: Mapping[tuple[str, str], Place], agent: str, folder: str) -> Place:
    """What an agent is given in a folder: as in the nearest one above that it was asked about."""
    at = folder
    while (agent, at) not in side and at:
        at = at.rpartition("/")[0]
    return side.get((agent, at), Place(agent, folder, 0, ()))


def _essence(deliveries: Sequence[Delivery]) -> list[tuple[object, ...]]:
    return sorted((each.condition, each.digest) for each in deliveries)


def _find_reason(project: Project, choice: DialectChoice, folder: str, path: str) -> str:
    """Why an agent is not given a file that is there; empty if nothing is said about it."""
    view = project.view(choice, project.absolute(folder) if folder else "")
    skip = next((each for each in view.skips if path in (each.path, project.tree.real(each.path))), None)
    if skip is not None:
        said = describe_skip(skip).partition(": ")[2]
        return said.replace(project.top + "/", "")
    for verdict in project.nested(choice).verdicts if not folder else ():
        if verdict.path == path and verdict.loaded == "never" and verdict.reason:
            return "; ".join(verdict.why).partition(": ")[2].replace(project.top + "/", "")
    return ""
