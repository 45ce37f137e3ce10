"""`foretold.check`: what is wrong with the instruction files of a whole tree, for every agent that works there."""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.check.finding import CheckFinding as CheckFinding, Fix as Fix
    from foretold.check.project import CheckOptions as CheckOptions, Project as Project
    from foretold.check.run import CheckReport as CheckReport, check_tree as check_tree

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.check.finding": "CheckFinding Fix",
        "foretold.check.project": "CheckOptions Project",
        "foretold.check.run": "CheckReport check_tree",
    },
)
