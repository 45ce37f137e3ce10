"""What is told to people, and asked of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foretold.cli.paint import Paint, printable
from foretold.types import Finding


def print_findings(findings: Sequence[Finding], paint: Paint) -> None:
    """Findings for people: where, what, and what to do."""
    for finding in findings:
        where = paint.path(finding.path) + (f":{finding.line}" if finding.line else "")
        print(f"  {where}  [{finding.code}]")
        is_command = finding.hint.startswith(("foretold ", "chmod "))
        print(paint.wrap(finding.message + (f"; {finding.hint}" if finding.hint and not is_command else ""), 4))
        if is_command:  # on a line of its own and whole, to be copied
            print(f"    try: {printable(finding.hint)}")


def agreed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees. Without a terminal, only `--yes` does."""
    if yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed: add --yes to do it.", file=sys.stderr)
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
