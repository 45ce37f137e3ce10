"""`foretold rule [CODE|FAMILY]`: what a finding means, why it matters, and what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from foretold.cli.json import emit
from foretold.cli.options import guess, make_parser
from foretold.cli.output import Paint
from foretold.findings.registry import CHECKED, FAMILIES, family_of, find_rule, load_families
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.findings.registry import Rule

#: what `foretold check --fix` can do about a rule
FIXABLE = {
    "safe": "foretold check --fix",
    "unsafe": "foretold check --fix --unsafe; read what it changes",
    "": "no",
}
EXAMPLES = """\
  foretold rule                      every code, in one line each
  foretold rule truth                those of a family
  foretold rule import-punctuation   what it means, an example, what to do"""


def command(words: Sequence[str]) -> int:
    about = "Explain a finding: what it means, why it matters, what to do."
    parser = make_parser("rule", about, EXAMPLES, "--json")
    parser.add_argument("code", nargs="?", help="the code of a finding, e.g. import-missing, or a family")
    options = parser.parse_args(words)
    families = load_families()
    codes = [rule.code for rules in families.values() for rule in rules]
    if options.code in families:
        families, options.code = {options.code: families[options.code]}, None
    if options.code and options.code not in codes:
        meant = guess(options.code.lower(), [*codes, *families])
        print(f"foretold: no finding has the code {options.code!r}{meant}", file=sys.stderr)
        print("see all of them: foretold rule", file=sys.stderr)
        return 2
    paint, rule = Paint(os.getcwd(), os.path.expanduser("~")), find_rule(options.code) if options.code else None
    if options.json:
        shown = (rule,) if rule else [rule for rules in families.values() for rule in rules]
        emit("rule", {"rules": [one._asdict() for one in shown]})
    elif rule:
        print(f"{paint.bold(rule.code)} ({rule.severity})\n\n{paint.wrap(rule.what, 2)}")
        for title, text in _describe(rule):
            print(f"\n{paint.bold(title)}\n{paint.wrap(text, 2)}")
    else:
        _print_all(families, paint)
    return 0


def _describe(rule: Rule) -> list[tuple[str, str]]:
    """What there is to say about a rule; those of a check say more."""
    parts = [("Why", rule.why), ("Example", rule.example), ("Write instead", rule.instead), ("What to do", rule.fix)]
    if family_of(rule.code) in CHECKED:
        parts += [("Agents", rule.agents or "all"), ("Fixable", FIXABLE[rule.fixable])]
    return [(title, text) for title, text in parts if text]


def _print_all(families: dict[str, tuple[Rule, ...]], paint: Paint) -> None:
    wide = max(len(rule.code) for rules in families.values() for rule in rules)
    for family, rules in families.items():
        print(f"{paint.bold(f'{family}: {FAMILIES[family]}')}\n")
        for rule in rules:
            print(f"  {rule.code:{wide}} {rule.severity:8} {paint.wrap(rule.what, wide + 12).lstrip()}")
        print()
    print("More about one of them: foretold rule CODE")
