"""Text that an agent's budget cuts off: how many bytes, from which line on, and which heading is lost first.

The same file may be cut in many folders. It is reported once, for the folder that comes first: the top, if it is lost
there, else the first folder in which it is. A page of the documentation may only be called like instructions: that it
is cut is a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from foretold.check.delivery.reach import is_in_skill
from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice
from foretold.instructions.view import View
from foretold.storage.tree import Fault

_HEADING = re.compile(rb"^ {0,3}#{1,6}[ \t]+(.{1,200}?)[ \t#]*$", re.MULTILINE)
PAGES = ("doc", "docs", "documentation")  #: folders of pages for people
MAX_FILE = 64 * 1024 * 1024


def find_lost_text(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Files of which an agent is given only the beginning, or nothing, because its budget is used up."""
    if not choice.dialect.budget:
        return
    reported: set[str] = set()
    for folder in sorted(project.starts(choice), key=len):
        for finding in _lost_in(project, project.view(choice, folder)):
            if finding.path not in reported and not is_in_skill(project, os.path.dirname(finding.path)):
                reported.add(finding.path)
                is_page = not set(PAGES).isdisjoint(project.relative(finding.path).split("/"))
                yield finding._replace(severity="warning") if is_page else finding


def _lost_in(project: Project, view: View) -> Iterator[CheckFinding]:
    agents, budget = (view.dialect.name,), view.surroundings.budget
    where = "" if view.surroundings.cwd == project.top else f" when the agent starts in {view.surroundings.cwd}"
    cut = {each.path for each in view.findings if each.code == "budget-cut"}
    for entry in view.entries:
        if entry.path in cut:
            data = project.tree.read(entry.path, MAX_FILE)
            lost = b"" if isinstance(data, Fault) else data[entry.size :]
            line = 1 if isinstance(data, Fault) else data.count(b"\n", 0, entry.size) + 1
            said = f"its last {len(lost):,} bytes are lost{where}: {_describe(lost, budget)}"
            yield CheckFinding(entry.path, line, "budget-cut", said, "shorten the files, or raise the budget", agents)
    for skip in view.skips:
        if skip.reason == "budget" and skip.parent is None:
            size = project.tree.read(skip.path, MAX_FILE)
            count = "it is" if isinstance(size, Fault) else f"all its {len(size):,} bytes are"
            said = f"{count} lost{where}: the files above it use up the {budget or 0:,} bytes that the agent reads"
            yield CheckFinding(skip.path, None, "budget-cut", said, "shorten the files above it", agents)


def _describe(lost: bytes, budget: int | None) -> str:
    heading = _HEADING.search(lost)
    first = f", the first heading that is lost is “{heading[1].decode('utf-8', 'replace')}”" if heading else ""
    return f"the agent stops after {budget or 0:,} bytes{first}"
