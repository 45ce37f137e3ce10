"""The proof of fixes: they are tried on the tree without writing anything, and what agents are given is compared.

A fix is proven if

1. its finding is gone;
2. no other finding of severity error or warning has come;
3. what agents are given changed only as it announces (`Effect`): the texts of files that it edits, files that it
   brings, with what they import, and files that come at another time. Every other text of every agent in every folder
   is equal, byte for byte, and no budget cuts off more;
4. what it announces happens.

Whether git ignores a file is not known before git can read it: that is seen when the fix is written (`write.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from foretold.check.delivered import map_deliveries
from foretold.check.diff.change import ChangedCut, ChangedDelivery, compare_projects
from foretold.check.finding import CheckFinding, Fix, mask_numbers
from foretold.check.project import Project
from foretold.check.run import check_tree
from foretold.check.settings import CheckSettings
from foretold.dialects.registry import title_of_agent
from foretold.findings.registry import CHECKED, family_of
from foretold.types import NamedTuple

#: families that a fix may have an effect on, besides its own
AFFECTED = ("delivery", "cost", "safety")
#: rules whose findings depend on all others
DEPENDENT = ("ignore-unused",)
#: rules that only git can judge, by files that it reads itself
JUDGED_BY_GIT = ("local-not-ignored",)

Identity = tuple[str, str, str]


class FixAttempt(NamedTuple):
    """A finding, and a fix of it."""

    finding: CheckFinding
    fix: Fix


class TreeState(NamedTuple):
    """A state of a tree, with what is found there."""

    project: Project
    found: Counter[Identity]
    lines: Mapping[Identity, set[int | None]]
    serious: Mapping[Identity, CheckFinding]  #: errors and warnings


class FixProof(NamedTuple):
    """What some fixes change, or why they must not be made."""

    refusal: str = ""
    shares: tuple[tuple[ChangedDelivery, ...], ...] = ()  #: for each fix what it changes for agents


def identify(finding: CheckFinding, renames: Mapping[str, str] | None = None) -> Identity:
    """What a finding is about, wherever it is in its file; `renames` has the new paths of files."""
    path = (renames or {}).get(finding.path, finding.path)
    return path, finding.code, mask_numbers(finding.topic)


def examine(project: Project, settings: CheckSettings, codes: Iterable[str], renames: Mapping[str, str]) -> TreeState:
    """A state of a tree, with the findings that fixes of these rules may have an effect on."""
    codes = set(codes)
    families = {family_of(code) for code in codes}
    select = CHECKED if "" in families or codes & {*DEPENDENT} else tuple(sorted(families.union(AFFECTED)))
    found = check_tree(project, settings._replace(select=select)).findings
    named = [(identify(each, renames), each) for each in found]
    serious = {key: each for key, each in named if each.severity in ("error", "warning")}
    lines: dict[Identity, set[int | None]] = {}
    for key, each in named:
        lines.setdefault(key, set()).add(each.line)
    return TreeState(project, Counter(key for key, _ in named), lines, serious)


def prove(before: TreeState, after: TreeState, attempts: Sequence[FixAttempt], renames: Mapping[str, str]) -> FixProof:
    """Whether fixes do what they announce, and nothing else."""
    refusal = _find_left(before, after, attempts, renames) or _find_new(before, after)
    if refusal:
        return FixProof(refusal)
    _, deliveries, cuts = compare_projects(before.project, after.project, every=True)
    parents = _list_parents(after.project)
    shares = tuple(
        tuple(change for change in deliveries if _is_announced(change, each.fix, after.project, parents))
        for each in attempts
    )
    refusal = _find_unannounced(deliveries, shares) or _find_cut(cuts) or _find_unfulfilled(after.project, attempts)
    return FixProof(refusal, shares)


def _find_left(before: TreeState, after: TreeState, attempts: Sequence[FixAttempt], renames: Mapping[str, str]) -> str:
    """A finding that is still there. The same may be found in another line, if only one of several is reported."""
    wanted: dict[Identity, list[CheckFinding]] = {}
    for finding, _ in attempts:
        if finding.code not in JUDGED_BY_GIT:
            wanted.setdefault(identify(finding, renames), []).append(finding)
    for key, findings in wanted.items():
        is_less = after.found[key] <= before.found[key] - len(findings)
        if not is_less and not (_has_same_lines(before, after, key[0]) and _is_elsewhere(findings, after.lines[key])):
            return "the finding would still be there"
    return ""


def _has_same_lines(before: TreeState, after: TreeState, path: str) -> bool:
    texts = [state.project.read(path) for state in (before, after)]
    return None not in texts and len({(text or "").count("\n") for text in texts}) == 1


def _is_elsewhere(findings: Iterable[CheckFinding], lines: set[int | None]) -> bool:
    return None not in lines and not any(each.line in lines for each in findings)


def _find_new(before: TreeState, after: TreeState) -> str:
    """An error or warning that has come."""
    for key, finding in after.serious.items():
        if after.found[key] > before.found[key]:
            place = after.project.relative(finding.path) + (f":{finding.line}" if finding.line else "")
            return f"there would be a new finding, {finding.code} in {place}: {finding.message}"
    return ""


# -- what agents are given


def _find_unannounced(deliveries: Sequence[ChangedDelivery], shares: Iterable[Iterable[ChangedDelivery]]) -> str:
    """A change of what agents are given that no fix announces."""
    announced = {change for share in shares for change in share}
    for change in deliveries:
        if change not in announced:
            agent = title_of_agent(change.agent.partition("@")[0])
            return f"it would also change what {agent} is given: {change.path} ({change.kind})"
    return ""


def _find_cut(cuts: Iterable[ChangedCut]) -> str:
    """A file that a budget would cut off more of."""
    for cut in cuts:
        if cut.is_worse:
            agent = title_of_agent(cut.agent.partition("@")[0])
            return f"the budget of {agent} would cut off more of {cut.path}"
    return ""


def _list_parents(project: Project) -> dict[tuple[str, str], set[str]]:
    """Who imports a file, for each agent."""
    found: dict[tuple[str, str], set[str]] = {}
    for place in map_deliveries(project).places:
        for each in place.deliveries:
            found.setdefault((place.agent, each.path), set()).add(each.parent)
    return found


def _is_announced(
    change: ChangedDelivery, fix: Fix, project: Project, parents: Mapping[tuple[str, str], set[str]]
) -> bool:
    """Whether a fix announces a change of what an agent is given."""
    edited = {project.relative(edit.path) for edit in fix.edits}
    renamed = {project.relative(rename.path): project.relative(rename.to) for rename in fix.renames}
    brings = {project.relative(path) for path in fix.effect.brings}
    rescopes = {project.relative(path) for path in fix.effect.rescopes}
    files = {path for each in (*change.before, *change.after) for path in each.files}
    if change.kind in ("removed", "moved"):
        return (change.path in renamed) or (change.other in renamed and renamed[change.other] == change.path)
    if change.kind == "changed":
        return bool(files & (edited | {*renamed.values()}))
    if change.kind == "rescoped":
        return bool(files & (rescopes | brings)) or _comes_with(change, brings, parents)
    return change.kind == "delivered" and (bool(files & brings) or _comes_with(change, brings, parents))


def _comes_with(change: ChangedDelivery, brings: set[str], parents: Mapping[tuple[str, str], set[str]]) -> bool:
    """Whether a file comes because one that a fix brings imports it, perhaps through others."""
    waiting, seen = [change.path], set[str]()
    while waiting:
        path = waiting.pop()
        if path in brings:
            return True
        if path not in seen:
            seen.add(path)
            waiting += parents.get((change.agent, path), ())
    return False


def _find_unfulfilled(project: Project, attempts: Sequence[FixAttempt]) -> str:
    """What a fix announces and does not do: a file that it brings must be given to an agent that lacked it."""
    given = {path for place in map_deliveries(project).places for each in place.deliveries for path in each.files}
    for finding, fix in attempts:
        if family_of(finding.code) != "delivery":
            continue
        lost = [path for path in map(project.relative, fix.effect.brings) if path not in given]
        if lost:
            return f"{lost[0]} would still not be given to any agent"
    return ""
