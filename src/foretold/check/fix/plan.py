"""Which fixes are made: those that are proven, together or one after another.

1. Fixes that touch different bytes are tried together. If that is refused, each half is tried by itself, so that one
   fix that cannot be made costs a few attempts and not all of them.
2. Then the tree is checked as it would be, and fixes that were in the way of others are tried, until nothing is left.
   A second run therefore finds nothing more to do.
3. What is refused is named, with the reason. A file that cannot be written is refused first (`obstacles.py`), so that
   it does not stop the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foretold.check.diff.change import ChangedDelivery
from foretold.check.finding import CheckFinding, Fix
from foretold.check.fix.edits import make_changes, may_combine
from foretold.check.fix.fixers import find_fix
from foretold.check.fix.obstacles import Obstacles
from foretold.check.fix.proof import (
    JUDGED_BY_GIT,
    FixAttempt,
    FixProof,
    Identity,
    TreeState,
    examine,
    identify,
    prove,
)
from foretold.check.project import Project
from foretold.check.run import CheckReport, check_tree
from foretold.check.settings import CheckSettings
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.storage.layers import FileChange

MOST_ROUNDS = 50  #: a path that is written in many lines may be reported in one after another
MOST_AT_ONCE = 500  #: fixes in a round
MOST_TRIES = 100  #: proofs in a round


class ProvenFix(NamedTuple):
    """A fix that does what it announces, and what it changes for agents."""

    finding: CheckFinding
    fix: Fix
    deliveries: tuple[ChangedDelivery, ...]


class RefusedFix(NamedTuple):
    """A fix that is not made, and why."""

    finding: CheckFinding
    fix: Fix
    reason: str


class FixPlan(NamedTuple):
    """The fixes of a report, and what the files are with them."""

    project: Project  #: as it is
    fixes: tuple[ProvenFix, ...]
    refused: tuple[RefusedFix, ...]
    changes: dict[str, FileChange]
    left: tuple[CheckFinding, ...]  #: findings of the report that are not fixed
    unsafe: int = 0  #: how many of these have a fix that is not safe

    @property
    def origins(self) -> dict[str, str]:
        """The path that each renamed file has now, by the one that it will have, through all renames."""
        found: dict[str, str] = {}
        for rename in (rename for each in self.fixes for rename in each.fix.renames):
            found[rename.to] = found.pop(rename.path, rename.path)
        return found

    @property
    def after(self) -> Project:
        """The project as it will be."""
        return self.project.with_changes(self.changes)


def plan_fixes(report: CheckReport, settings: CheckSettings, *, unsafe: bool = False) -> FixPlan:
    """The fixes of a report that are proven."""
    planner = _Planner(report, settings, unsafe=unsafe)
    planner.run()
    return planner.finish()


class _Planner:
    """One run over the findings of a report."""

    def __init__(self, report: CheckReport, settings: CheckSettings, *, unsafe: bool) -> None:
        self.report, self.settings, self.unsafe = report, settings, unsafe
        self.fixed: list[ProvenFix] = []
        self.refused: dict[tuple[Identity, int | None], RefusedFix] = {}
        self.changes: dict[str, FileChange] = {}
        self.renames: dict[str, str] = {}
        self.left = list(report.findings)
        self.obstacles = Obstacles(report.project, report.findings)

    def run(self) -> None:
        state = self.report.project
        for number in range(MOST_ROUNDS):
            batch = self._choose(state)
            if not batch:
                return
            codes = {each.finding.code for each in batch}
            round_ = _Round(state, self.settings, examine(state, self.settings, codes, {}), codes)
            round_.accept(batch)
            for attempt, reason in round_.refused:
                self._refuse(attempt, reason)
            if round_.accepted:
                self._take(round_, state)
                state = self.report.project.with_changes(self.changes)
                self._look_again(state)
            elif number and not round_.refused:
                return

    def _choose(self, state: Project) -> list[FixAttempt]:
        """Fixes that can be tried together."""
        batch: list[FixAttempt] = []
        for finding in self.left:
            if len(batch) >= MOST_AT_ONCE:
                break
            if _locate(finding) in self.refused:
                continue
            fix = find_fix(finding, state)
            if fix is None or not (fix.edits or fix.renames) or not (fix.is_safe or self.unsafe):
                continue
            if reason := self.obstacles.find(finding, fix):
                self._refuse(FixAttempt(finding, fix), reason)
            elif may_combine(fix, (each.fix for each in batch)):
                batch.append(FixAttempt(finding, fix))
        return batch

    def _refuse(self, attempt: FixAttempt, reason: str) -> None:
        self.refused[_locate(attempt.finding)] = RefusedFix(*attempt, reason)

    def _take(self, round_: _Round, state: Project) -> None:
        fixes = [attempt.fix for attempt, _ in round_.accepted]
        self.changes |= make_changes(state, fixes)
        self.renames |= {rename.path: rename.to for fix in fixes for rename in fix.renames}
        self.fixed += (ProvenFix(*attempt, deliveries) for attempt, deliveries in round_.accepted)

    def _look_again(self, state: Project) -> None:
        """The findings of the report that are still there, with the lines that they have now."""
        wanted = Counter(identify(each, self.renames) for each in self.left)
        wanted -= Counter(identify(each.finding) for each in self.fixed if each.finding.code in JUDGED_BY_GIT)
        self.left = []
        for each in check_tree(state, self.settings).findings:
            key = identify(each)
            if wanted[key] > 0:
                wanted[key] -= 1
                self.left.append(each)

    def finish(self) -> FixPlan:
        project = self.report.project
        state = project.with_changes(self.changes) if self.changes else project
        others = [find_fix(each, state) for each in self.left if _locate(each) not in self.refused]
        unsafe = 0 if self.unsafe else sum(1 for fix in others if fix is not None and not fix.is_safe)
        there = {_locate(each) for each in self.left}
        refused = tuple(
            each for key, each in self.refused.items() if key in there
        )  # others may have been fixed with it
        return FixPlan(project, tuple(self.fixed), refused, self.changes, tuple(self.left), unsafe)


def _locate(finding: CheckFinding) -> tuple[Identity, int | None]:
    """What a finding is about, and where: one file may have the same in several lines."""
    return identify(finding), finding.line


class _Round:
    """Fixes that are tried on one state of the tree."""

    def __init__(self, state: Project, settings: CheckSettings, before: TreeState, codes: set[str]) -> None:
        self.state, self.settings, self.before, self.codes = state, settings, before, codes
        self.accepted: list[tuple[FixAttempt, tuple[ChangedDelivery, ...]]] = []
        self.refused: list[tuple[FixAttempt, str]] = []
        self.tries = 0

    def accept(self, batch: Sequence[FixAttempt]) -> None:
        """Take those fixes of a batch that are proven, on top of what was accepted before."""
        known = [attempt for attempt, _ in self.accepted]
        self.tries += 1
        proof = (
            self._try([*known, *batch]) if self.tries <= MOST_TRIES else FixProof("too many other fixes are refused")
        )
        if not proof.refusal:
            self.accepted = [*zip([*known, *batch], proof.shares, strict=True)]
        elif len(batch) == 1:
            self.refused.append((batch[0], proof.refusal))
        elif self.tries > MOST_TRIES:
            self.refused += ((attempt, proof.refusal) for attempt in batch)
        else:
            half = len(batch) // 2
            self.accept(batch[:half])
            self.accept(batch[half:])

    def _try(self, attempts: Sequence[FixAttempt]) -> FixProof:
        fixes = [each.fix for each in attempts]
        renames = {rename.path: rename.to for fix in fixes for rename in fix.renames}
        before = examine(self.state, self.settings, self.codes, renames) if renames else self.before
        try:
            after = self.state.with_changes(make_changes(self.state, fixes))
        except ValueError as error:
            return FixProof(str(error))
        return prove(before, examine(after, self.settings, self.codes, renames), attempts, renames)
