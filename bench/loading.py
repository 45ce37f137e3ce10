"""Loads: against the floor, against the Markdown parser, against the size of the repository, and again unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable

import pyromark
from floor import Floor, Watched
from measure import Effort, fastest
from report import Row, Table, millis, times
from trees import AGENTS, Place

import foretold
from foretold.dialects.registry import make_request
from foretold.instructions.discover.inventory import Inventory, NameTable, list_names, take_inventory
from foretold.instructions.load import load_view
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Tree

FLOOR_BAR, PARSER_BAR, SIZE_BAR, RELOAD_BAR, WALK_BAR = 8.0, 3.0, 1.5, 2.0, 3.0
#: every file of these goes through the Markdown parser: they are judged against that
PARSED = ("1 MB", "1 MB, mentions", "rules 300 busy")
NOW = "2026-11-01"


def load(where: Place, agent: str, tree: Tree) -> View:
    choice, request = make_request(where.cwd, agent, home=where.home, managed=where.managed, env={}, now=NOW)
    return load_view(tree, choice, request)


def loader(where: Place, agent: str) -> Callable[[], str | None]:
    """A whole load up to the text that the model receives; nothing is kept from the run before."""
    return lambda: load(where, agent, Disk()).text


def watched(where: Place, agent: str) -> Watched:
    disk = Watched()
    load(where, agent, disk)
    return disk


def against_floor(places: dict[str, Place], effort: Effort) -> Table:
    rows = [_floor_row(name, where, effort) for name, where in places.items()]
    return Table(
        "1. A load against the floor",
        "The floor opens, reads and decodes the same files, lists the same folders and probes the same absent paths in "
        f"plain Python. Bar: {FLOOR_BAR:.0f}x, aim 5x; "
        "lean: against the instruction files alone, told but not judged.",
        ("tree", "read", "absent", "floor ms", "2.1.197", "2.1.325", "lean"),
        rows,
    )


def _floor_row(name: str, where: Place, effort: Effort) -> Row:
    older, newer = AGENTS
    floors = {agent: Floor(watched(where, agent)) for agent in AGENTS}
    lean = Floor(watched(where, newer), lean=True)
    best = fastest(effort, loader(where, older), floors[older], loader(where, newer), floors[newer], lean)
    ratios = {"2.1.197": best[0] / best[1], "2.1.325": best[2] / best[3]}
    unjudged = "see 2" if name in PARSED else ""
    floor = floors[newer]
    files = len(floor.files) + len(floor.folders)
    return Row(
        name,
        (
            str(files),
            str(len(floor.absent)),
            millis(best[3]),
            *(times(ratio) for ratio in ratios.values()),
            times(best[2] / best[4]),
        ),
        {"floor_ms": best[3] * 1000, "lean_ratio": best[2] / best[4], **ratios},
        tuple(version for version, ratio in ratios.items() if not unjudged and ratio > FLOOR_BAR),
        unjudged,
    )


def against_parser(places: dict[str, Place], effort: Effort) -> Table:
    rows = [_parser_row(name, where, effort) for name, where in places.items() if name in PARSED]
    return Table(
        "2. A load against one pass of the Markdown parser",
        "The parser gives the events of the same texts with their ranges, as a list. "
        f"Bar for the documents of 1 MB: {PARSER_BAR:.0f}x.",
        ("tree", "parser ms", "2.1.197", "2.1.325"),
        rows,
    )


def _parser_row(name: str, where: Place, effort: Effort) -> Row:
    view = load(where, AGENTS[1], Disk())
    texts = [entry.raw for entry in (*view.entries, *(rule.entry for rule in view.waiting))]

    def parse() -> None:
        for text in texts:
            list(pyromark.events_with_range(text))

    best = fastest(effort, *(loader(where, agent) for agent in AGENTS), parse)
    ratios = {"2.1.197": best[0] / best[2], "2.1.325": best[1] / best[2]}
    unjudged = "" if name.startswith("1 MB") else "no bar"
    return Row(
        name,
        (millis(best[2]), *(times(ratio) for ratio in ratios.values())),
        {"parser_ms": best[2] * 1000, **ratios},
        tuple(version for version, ratio in ratios.items() if not unjudged and ratio > PARSER_BAR),
        unjudged,
    )


def against_size(places: dict[str, Place], effort: Effort) -> Table:
    names = [name for name in places if name.startswith("files ")]
    rows = []
    for agent in AGENTS:
        best = fastest(effort, *(loader(places[name], agent) for name in names))
        ratio = max(best) / min(best)
        rows.append(
            Row(
                agent,
                (*(millis(seconds) for seconds in best), f"{ratio:.2f}x"),
                {"ratio": ratio, **{name: seconds * 1000 for name, seconds in zip(names, best, strict=True)}},
                ("ratio",) if ratio > SIZE_BAR else (),
            )
        )
    return Table(
        "3. The size of the repository",
        f"CPU ms of a load; the slowest against the fastest. Bar: {SIZE_BAR}x.",
        ("agent", *names, "ratio"),
        rows,
    )


def against_walk(places: dict[str, Place], effort: Effort) -> Table:
    rows = []
    for name in [name for name in places if name.startswith("files ")]:
        cwd = places[name].cwd
        view = foretold.load(
            cwd, agent=AGENTS[1], home=places[name].home, managed=places[name].managed, env={}, now=NOW
        )
        names = list_names(view.dialect, view.surroundings)

        def walk(cwd: str = cwd) -> int:
            return sum(len(files) for _, _, files in os.walk(cwd))

        def ours(cwd: str = cwd, names: NameTable = names) -> Inventory:
            return take_inventory(Disk(), cwd, [names])

        floor, seconds = fastest(effort, walk, ours)
        ratio = seconds / floor
        figures = {"floor_ms": floor * 1000, "ours_ms": seconds * 1000, "ratio": ratio}
        is_over = ratio > WALK_BAR and seconds > 0.01  # the smallest tree is all overhead
        shown = (millis(floor), millis(seconds), f"{ratio:.2f}x")
        rows.append(Row(name, shown, figures, ("ratio",) if is_over else ()))
    return Table(
        "9. The instruction files of a tree",
        f"CPU ms to find them, as `foretold`, `explain` and `compare` do, against os.walk. Bar: {WALK_BAR}x.",
        ("tree", "walk ms", "ours ms", "ratio"),
        rows,
    )


def reload(places: dict[str, Place], effort: Effort) -> Table:
    rows = [_reload_row(name, where, effort) for name, where in places.items()]
    foretold.invalidate()
    return Table(
        "4. Loading again when nothing changed",
        f"foretold.load, which keeps its view, against one stat for every path it depends on. Bar: {RELOAD_BAR:.0f}x.",
        ("tree", "paths", "stats ms", "ours ms", "ratio", "of a load"),
        rows,
    )


def _reload_row(name: str, where: Place, effort: Effort) -> Row:
    agent = AGENTS[1]
    paths = list(watched(where, agent).stamps)

    def ours() -> View:
        return foretold.load(where.cwd, agent=agent, home=where.home, managed=where.managed, env={}, now=NOW)

    def stats() -> None:
        for path in paths:
            try:  # noqa: SIM105
                os.stat(path)
            except OSError:
                pass

    kept = ours()
    again, floor, whole = fastest(effort, ours, stats, loader(where, agent))
    assert ours() is kept, "the view was not kept"
    return Row(
        name,
        (str(len(paths)), millis(floor), millis(again), times(again / floor), f"{again / whole:.0%}"),
        {"stats_ms": floor * 1000, "reload_ms": again * 1000, "ratio": again / floor, "of_a_load": again / whole},
        ("ratio",) if again / floor > RELOAD_BAR else (),
    )
