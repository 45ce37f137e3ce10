"""What of the instructions was not loaded, as findings: no silence about a file that is there."""

from __future__ import annotations

from foretold.types import REASONS, TYPE_CHECKING, Finding, Skip

if TYPE_CHECKING:
    from foretold.instructions.view import View

#: reasons that need no word: it comes when it is needed, the model has the same text, or a finding says it already
#: (of an import that is missing; of memory that is off)
EXPECTED = frozenset(
    "not-yet-read duplicate already-loaded already-attached not-an-import in-code missing disabled".split()
)


def skipped(view: View) -> list[Finding]:
    """The skips of a view that no finding names already."""
    named = {finding.path for finding in view.findings}
    lost = [skip for skip in view.skips if skip.reason not in EXPECTED and skip.path not in named]
    return [Finding(skip.path, skip.line, "instructions-skipped", _said(skip)) for skip in lost]


def _said(skip: Skip) -> str:
    return f"{skip.reason}: {skip.detail or REASONS.get(skip.reason, 'not loaded')}"
