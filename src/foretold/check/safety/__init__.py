"""The family safety of `foretold check`: what instructions and settings give away, or let others do."""

from __future__ import annotations

from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.safety.commands import find_fetched_code, find_sent_secrets
from foretold.check.safety.credentials import find_credentials, find_hidden, find_orders
from foretold.check.safety.redirects import find_bold_agents, find_plain_addresses, find_redirects
from foretold.check.safety.tracking import find_ignored_imports, find_local_files
from foretold.check.settings import CheckSettings


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:  # noqa: ARG001
    """Findings of this family."""
    for find in FINDERS:
        yield from project.remember_list(("safety", find.__name__), find, project)


FINDERS = (
    find_credentials,
    find_hidden,
    find_local_files,
    find_ignored_imports,
    find_redirects,
    find_bold_agents,
    find_plain_addresses,
    find_orders,
    find_fetched_code,
    find_sent_secrets,
)
