"""Tables of figures for people (80 columns) and for programs (JSON)."""

from __future__ import annotations

import json
import textwrap
from typing import NamedTuple


class Row(NamedTuple):
    """One line of a table: its name, cells as text, figures for programs, what is over its bar."""

    name: str
    cells: tuple[str, ...]
    figures: dict[str, float | int | str | None]
    over: tuple[str, ...] = ()
    unjudged: str = ""  #: why no bar applies


class Table(NamedTuple):
    """Figures of one kind. A long table names the figure whose highest rows stand for the others."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: list[Row]
    highest: str = ""


BRIEF = 20
BEGIN, END = "<!-- figures: written by bench/load.py --docs -->\n", "<!-- end of figures -->\n"


def times(ratio: float) -> str:
    """A ratio for a cell.

    >>> times(3.14159), times(42.1)
    ('3.1x', '42x')
    """
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"


def millis(seconds: float) -> str:
    value = seconds * 1000
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def render(table: Table, *, whole: bool = True) -> str:
    """A table as text. Names stand left, figures right, the verdict last."""
    rows = table.rows if whole or not table.highest else _brief(table)
    lines = [
        (table.columns[0], *table.columns[1:], ""),
        *((row.name, *row.cells, _verdict(row)) for row in rows),
    ]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    body = []
    for first, *cells, verdict in lines:
        right = [cell.rjust(width) for cell, width in zip(cells, widths[1:-1], strict=True)]
        body.append("  ".join([first.ljust(widths[0]), *right, verdict]))
    if len(rows) < len(table.rows):
        body.append(f"and {len(table.rows) - len(rows)} others, all lower (--all shows them)")
    return "\n".join([table.title, *textwrap.wrap(table.about, 78), "", *(line.rstrip() for line in body), ""])


def _brief(table: Table) -> list[Row]:
    """The rows with the highest figures, and all that are over a bar."""

    def height(row: Row) -> float:
        value = row.figures.get(table.highest)
        return value if isinstance(value, float) else float("inf")

    ranked = sorted(table.rows, key=height, reverse=True)
    return [row for at, row in enumerate(ranked) if at < BRIEF or row.over]


def _verdict(row: Row) -> str:
    if row.over:
        return "OVER " + ", ".join(row.over)
    return f"- {row.unjudged}" if row.unjudged else "ok"


def over(tables: list[Table]) -> list[str]:
    """What exceeds its bar, as sentences."""
    return [f"{table.title}: {row.name}: {what}" for table in tables for row in table.rows for what in row.over]


def write_json(path: str, tables: list[Table], about: dict[str, object]) -> None:
    found = [
        {
            "title": table.title,
            "rows": [{"name": row.name, "over": list(row.over), **row.figures} for row in table.rows],
        }
        for table in tables
    ]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump({"schema": 1, **about, "tables": found}, file, indent=1)
        file.write("\n")


def write_docs(path: str, text: str) -> None:
    """Put figures between the two marks of a page."""
    with open(path, encoding="utf-8", newline="") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"{before}{BEGIN}\n```text\n{text.rstrip()}\n```\n\n{END}{after}")
