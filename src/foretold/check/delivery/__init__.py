"""The family *delivery*: what an agent is not given, is given by accident, or is given twice."""

from __future__ import annotations

from collections.abc import Iterator

from foretold.check.delivery.budget import find_lost_text
from foretold.check.delivery.imports import find_import_problems
from foretold.check.delivery.loader import find_loader_problems
from foretold.check.delivery.placement import (
    find_misplaced_files,
    find_named_folders,
    find_named_in_settings,
    find_unshared_files,
)
from foretold.check.delivery.reach import find_unreached_files
from foretold.check.delivery.repeats import find_repeated_files
from foretold.check.delivery.rules import find_dead_rules, find_expected_orders, find_foreign_keys
from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.settings import CheckSettings

#: what is judged for each agent by itself
AGENT_FINDERS = (
    find_loader_problems,
    find_lost_text,
    find_unreached_files,
    find_named_in_settings,
    find_import_problems,
    find_dead_rules,
    find_foreign_keys,
    find_expected_orders,
    find_repeated_files,
)
TREE_FINDERS = (find_misplaced_files, find_named_folders, find_unshared_files)


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:  # noqa: ARG001
    """All of them; only about files of the tree that are not left out."""
    return (each for each in _find_all(project) if project.is_checked(each.path))


def _find_all(project: Project) -> Iterator[CheckFinding]:
    for find in AGENT_FINDERS:
        for choice in project.choices:
            yield from project.remember_list(("delivery", find.__name__, choice.dialect.name), find, project, choice)
    for look in TREE_FINDERS:
        yield from project.remember_list(("delivery", look.__name__), look, project)
