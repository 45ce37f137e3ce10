"""Fixes of findings: how one is made, the proof that it does what it announces, writing it, and taking it back."""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.check.fix.fixers import attach_fixes as attach_fixes, find_fix as find_fix
    from foretold.check.fix.plan import FixPlan as FixPlan, plan_fixes as plan_fixes
    from foretold.check.fix.write import undo_fixes as undo_fixes, write_fixes as write_fixes

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.check.fix.fixers": "attach_fixes find_fix",
        "foretold.check.fix.plan": "FixPlan plan_fixes",
        "foretold.check.fix.write": "undo_fixes write_fixes",
    },
)
