"""Run a check: every family of rules over one project, then what settings and comments ignore.

1. `open_project` finds the settings that count in a folder and makes the project that they ask for.
2. `check_tree` asks every family that can report something, joins what several agents have in common, and takes out
   what comments and settings ignore.
3. `restrict_report` keeps what is about some paths; `hide_known` takes out what a baseline has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from foretold.check.baseline import BaselineEntry, apply_baseline
from foretold.check.finding import CheckFinding, merge_findings
from foretold.check.project import CheckOptions, Project
from foretold.check.settings import CheckSettings, SettingsSource, load_settings
from foretold.check.suppression import suppress_findings
from foretold.findings.registry import SEVERITIES, hint_of
from foretold.storage.layers import CachingDisk
from foretold.storage.tree import Tree, is_inside
from foretold.types import Finding, NamedTuple

#: family -> the module that has `find_problems(project, settings)`; those of a family run only if one may be reported
FAMILIES = {
    "delivery": "foretold.check.delivery",
    "cost": "foretold.check.cost",
    "truth": "foretold.check.truth",
    "safety": "foretold.check.safety",
    "schema": "foretold.check.schema",
    "sense": "foretold.check.sense",
    "memory": "foretold.check.memory",
}

Finder = Callable[[Project, CheckSettings], Iterable[CheckFinding]]
Progress = Callable[[int, int], None]  #: called with how many families are done, and how many there are


class AgentCost(NamedTuple):
    """What the instructions of one agent cost in every session that starts at the top."""

    agent: str
    files: int
    tokens: int


class CheckReport(NamedTuple):
    """The answer of a check."""

    project: Project
    findings: tuple[CheckFinding, ...]
    costs: tuple[AgentCost, ...] = ()
    ignored: int = 0  #: findings that comments or settings for files keep back
    cut: str = ""  #: why not everything was looked at
    known: int = 0  #: findings that a baseline has, and that are left out
    fixed: tuple[BaselineEntry, ...] = ()  #: what a baseline has, and is not found any more

    def count(self, severity: str) -> int:
        return sum(1 for each in self.findings if each.severity == severity)

    @property
    def worst(self) -> str:
        """The most serious severity; empty if there is no finding."""
        return next((each for each in SEVERITIES if self.count(each)), "")


class OpenedProject(NamedTuple):
    """A project with the settings that count there, and where these come from."""

    project: Project
    settings: CheckSettings
    source: SettingsSource


def open_project(
    top: str,
    folder: str = "",
    options: CheckOptions | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    tree: Tree | None = None,
) -> OpenedProject:
    """The project at a top, with the settings that count in a folder of it, and what is asked for instead."""
    tree = tree if tree is not None else CachingDisk()
    source = load_settings(tree, folder or top, top)
    settings, options = source.settings.override(select, ignore), options or CheckOptions()
    wanted = options._replace(
        agents=options.agents or settings.agents,
        exclude=(*settings.exclude, *options.exclude),
        include_fixtures=options.include_fixtures or settings.include_fixtures,
    )
    return OpenedProject(Project(top, wanted, tree), settings, source)


def check_tree(
    project: Project, settings: CheckSettings | None = None, progress: Progress | None = None
) -> CheckReport:
    """Check a whole tree.

    >>> import os, tempfile
    >>> from foretold.check import CheckOptions, Project, check_tree
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("See @docs/missing.md\\n")
    >>> report = check_tree(Project(folder, CheckOptions(home="")))
    >>> [(each.code, each.line, each.agents) for each in report.findings]
    [('import-missing', 1, ('claude-code@2.1.325',))]
    """
    settings = settings or CheckSettings()
    found = merge_findings(_find_all(project, settings, progress))
    selected = [each for each in found if settings.is_selected(each.code)]
    left = suppress_findings(selected, project, settings)
    judged = [_finish(each, project, settings) for each in merge_findings(left.findings)]
    views = [project.view(choice) for choice in project.choices]
    costs = tuple(AgentCost(view.dialect.name, len(view.entries), view.tokens) for view in views)
    return CheckReport(project, tuple(judged), costs, left.ignored, project.inventory.cut)


def _find_all(project: Project, settings: CheckSettings, progress: Progress | None) -> Iterator[CheckFinding]:
    for number, (family, name) in enumerate(FAMILIES.items()):
        if progress:
            progress(number, len(FAMILIES))
        if settings.runs(family):
            find: Finder = __import__(name, fromlist=["find_problems"]).find_problems
            yield from project.remember(("family", family), partial(_run_family, find, project, settings))


def _run_family(find: Finder, project: Project, settings: CheckSettings) -> tuple[CheckFinding, ...]:
    return tuple(find(project, settings))


def restrict_report(report: CheckReport, paths: Sequence[str] = (), least: str = "note") -> CheckReport:
    """A report with only the findings about these paths, or what is below them, that are serious enough."""
    serious = list_severities(least)
    kept = [each for each in report.findings if each.severity in serious and is_among(each.path, paths)]
    top = report.project.top
    fixed = [entry for entry in report.fixed if is_among(f"{top.rstrip('/')}/{entry.path}", paths)]
    return report._replace(findings=tuple(kept), fixed=tuple(fixed))


def list_severities(least: str) -> tuple[str, ...]:
    """The severities that are at least as serious as one of them."""
    return tuple(SEVERITIES[: SEVERITIES.index(least) + 1])


def is_among(path: str, paths: Sequence[str]) -> bool:
    """Whether a path is one of some others, or below one; with none to choose from, every path is."""
    return not paths or any(is_inside(path, each) for each in paths)


def hide_known(report: CheckReport, entries: Iterable[BaselineEntry], settings: CheckSettings) -> CheckReport:
    """A report without the findings that a baseline has. What rules that did not run had found is not fixed."""
    entries = [entry for entry in entries if settings.is_selected(entry.code)]
    result = apply_baseline(report.findings, report.project, entries)
    return report._replace(findings=result.findings, known=result.known, fixed=result.fixed)


def _finish(finding: CheckFinding, project: Project, settings: CheckSettings) -> CheckFinding:
    """A finding with its severity, its hint, and paths as seen from the top."""
    base = project.top.rstrip("/") + "/"
    hint = hint_of(Finding(finding.path, finding.line, finding.code, "", finding.hint))
    return finding._replace(
        severity=settings.severity_of(finding.code, finding.severity),
        message=finding.message.replace(base, ""),
        hint=hint.replace(base, ""),
    )
