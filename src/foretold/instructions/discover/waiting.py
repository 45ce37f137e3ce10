"""Rules that wait for a path, and which of them a touched file wakes."""

from __future__ import annotations

from foretold.instructions.view import Waiting
from foretold.storage.tree import is_inside
from foretold.text.globs.npm_ignore import RuleIndex


class WaitingRules:
    """Rules that wait, indexed by the folder their globs are seen from."""

    __slots__ = ("_by_base",)

    def __init__(self, waiting: tuple[Waiting, ...]) -> None:
        groups: dict[str, list[Waiting]] = {}
        for rule in waiting:
            groups.setdefault(rule.base, []).append(rule)
        self._by_base = [
            (base, rules, RuleIndex([rule.entry.globs for rule in rules])) for base, rules in groups.items()
        ]

    def matching(self, touched: str) -> list[Waiting]:
        """The rules that a touched file wakes, in their order."""
        found = []
        for base, rules, index in self._by_base:
            if touched != base and is_inside(touched, base):
                inside = touched[len(base.rstrip("/")) + 1 :]
                found += [rules[at] for at in index.matching(inside)]
        return found
