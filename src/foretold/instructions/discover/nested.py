"""What a touched file brings, for agents that send it apart from their start: rules that match, then files of folders.

1. Rules that wait for a path and match it come first, in the order in which they were found.
2. Then come the folders that the dialect's plan looks in, each with its files and its rules.
3. Where links count by their targets, a file is in the folder that its own really is. Outside of the repository nothing
   is brought, not even by a pattern; patterns see the path as it was spelled. # copilot-cli: copilot-268, copilot-292
4. Where a folder is looked at once, what is made or changed there later is not noticed, and the rules there that do not
   match yet wait as those of the start do. # copilot-cli: copilot-274, copilot-275
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from foretold.dialects.schema import FileSource, Nested
from foretold.instructions.discover.locate import steps
from foretold.instructions.view import Waiting
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.instructions.engine import Loader
    from foretold.text.globs.globset import GlobsetIndex
    from foretold.text.globs.npm_ignore import RuleIndex


class WaitingRules:
    """Rules that wait for a path, indexed by the folder their globs are seen from."""

    __slots__ = ("_by_base", "looked", "patterns", "waiting")

    def __init__(self, waiting: Iterable[Waiting], patterns: str = "ignore") -> None:
        self.waiting, self.patterns = list(waiting), patterns
        self.looked: set[str] = set()  #: folders of touched files whose rules are among them
        self._by_base: list[tuple[str, list[Waiting], RuleIndex | GlobsetIndex]] | None = None

    def copy(self) -> WaitingRules:
        """The same rules, for a conversation that goes on by itself."""
        other = WaitingRules(self.waiting, self.patterns)
        other.looked = set(self.looked)
        return other

    def add(self, waiting: Iterable[Waiting]) -> None:
        """Let more rules wait."""
        self.waiting += waiting
        self._by_base = None

    def matching(self, touched: str) -> list[Waiting]:
        """The rules that a touched file wakes, in their order."""
        if self._by_base is None:
            self._by_base = self._index()
        found = []
        for base, rules, index in self._by_base:
            if self.patterns == "globset":
                found += [rules[at] for at in index.matching(os.path.relpath(touched, base))]
            elif touched != base and is_inside(touched, base):
                found += [rules[at] for at in index.matching(touched[len(base.rstrip("/")) + 1 :])]
        return found

    def _index(self) -> list[tuple[str, list[Waiting], RuleIndex | GlobsetIndex]]:
        groups: dict[str, list[Waiting]] = {}
        for rule in self.waiting:
            groups.setdefault(rule.base, []).append(rule)
        if self.patterns == "globset":
            from foretold.text.globs.globset import GlobsetIndex

            return [(base, rules, GlobsetIndex([each.entry.globs for each in rules])) for base, rules in groups.items()]
        from foretold.text.globs.early_ignore import matcher_of
        from foretold.text.globs.npm_ignore import RuleIndex

        matcher = matcher_of(self.patterns)
        return [
            (base, rules, RuleIndex([each.entry.globs for each in rules], matcher)) for base, rules in groups.items()
        ]


def follow_nested(loader: Loader, touched: str, nested: Nested, rules: WaitingRules) -> None:
    """Rules that match, then the files of the folders that the dialect's plan looks in."""
    surroundings, place = loader.surroundings, touched
    if nested.targets:
        folder, _, name = touched.rpartition("/")
        place, loader.bounds = f"{loader.tree.real(folder or '/').rstrip('/')}/{name}", surroundings.top
        if not is_inside(place, surroundings.top):
            return
    if nested.folders == "once":
        loader.wakes = lambda rule: bool(WaitingRules([rule], rules.patterns).matching(touched))
    use_nested_rules(loader, nested)
    loader.entries += [rule.entry._replace(trigger=touched) for rule in rules.matching(touched)]
    by_folder: dict[str, list[FileSource]] = {}
    for source, folder in steps(surroundings.touch or loader.dialect.touch, surroundings, place):
        if source.when != "matching" and folder not in rules.looked:
            by_folder.setdefault(folder, []).append(source)
    for folder in reversed(by_folder) if nested.nearest_first else by_folder:
        for source in by_folder[folder]:
            loader.take(source, folder)
    if nested.folders == "once":
        rules.looked |= by_folder.keys()
        rules.add(loader.waiting)


def use_nested_rules(loader: Loader, nested: Nested) -> None:
    """What is the same, and what is left out, differs from the start."""
    dialect = loader.dialect
    reading = dialect.reading._replace(blank=nested.blank or dialect.reading.blank)
    loader.dialect = dialect._replace(identity=nested.identity or dialect.identity, reading=reading)
