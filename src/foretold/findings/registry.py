"""The registry of findings: one entry per code, from which the messages, `foretold rule` and `docs/findings.md` come.

1. A code is registered once, in the table of its family.
2. The severity says what is at stake: *error*, something is lost or harmful; *warning*, it costs or misleads; *note*.
3. A finding may bring a hint that fits its own case; where it has none, the `fix` of its rule is the hint.
4. The families of `foretold check` say more: what to write instead, for which agents a rule holds, and whether
   `foretold check --fix` can do it. Each of their rules has a page in `docs/rules/`.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.types import Finding

#: family -> its title in the documentation; each is a module next to this one
FAMILIES = {
    "delivery": "Instruction files and settings: what is delivered",
    "cost": "What instructions cost",
    "truth": "What instructions claim",
    "safety": "What instructions and settings give away, or let others do",
    "schema": "Skills, agents, commands, hooks, servers, plugins",
    "sense": "Instructions that contradict each other",
    "memory": "Memory",
    "sessions": "Sessions and their archive",
    "files": "File history and restoring",
    "agents": "Harness, hooks and adapters",
}
CHECKED = ("delivery", "cost", "truth", "safety", "schema", "sense", "memory")  #: families of `foretold check`
SEVERITIES = ("error", "warning", "note")


class Rule(NamedTuple):
    """What one code means."""

    code: str
    severity: str  #: error, warning or note
    what: str  #: what happened, in one line
    why: str  #: why it matters
    example: str  #: what leads to it
    fix: str  #: what to do
    instead: str = ""  #: what to write instead of the example
    agents: str = ""  #: for which agents, and from which versions on, it holds; empty: all
    fixable: str = ""  #: what `foretold check --fix` can do: `safe`, `unsafe`, or nothing


_rules: dict[str, Rule] = {}  #: by code, once one was asked for
_families: dict[str, str] = {}  #: code -> family, once one was asked for


def find_rule(code: str) -> Rule | None:
    """The rule of a code.

    >>> find_rule("import-missing").severity, find_rule("no-such-code")
    ('error', None)
    """
    if not _rules:
        _rules.update({rule.code: rule for rules in load_families().values() for rule in rules})
    return _rules.get(code)


def load_families() -> dict[str, tuple[Rule, ...]]:
    """All rules by family, in the order of their codes."""
    return {name: __import__(f"foretold.findings.{name}", fromlist=["RULES"]).RULES for name in FAMILIES}


def family_of(code: str) -> str:
    """The family of a code; empty if no rule has it.

    >>> family_of("import-missing"), family_of("no-such-code")
    ('delivery', '')
    """
    if not _families:
        _families.update({rule.code: name for name, rules in load_families().items() for rule in rules})
    return _families.get(code, "")


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file and line; those about a whole file first."""
    return sorted(findings, key=lambda each: (each.path, each.line or 0))


def severity_of(finding: Finding) -> str:
    """How serious a finding is.

    >>> from foretold.types import Finding
    >>> severity_of(Finding("CLAUDE.md", 3, "import-missing", "docs/a.md: there is no such file"))
    'error'
    """
    rule = find_rule(finding.code)
    return rule.severity if rule else "warning"


def hint_of(finding: Finding) -> str:
    """What to do about a finding: its own hint, else the fix of its rule.

    >>> from foretold.types import Finding
    >>> hint_of(Finding("a.md", None, "symlink-loop", "the link leads back to itself"))
    'remove the link'
    """
    rule = find_rule(finding.code)
    return finding.hint or (rule.fix if rule else "")
