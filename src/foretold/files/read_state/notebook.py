"""The cells of a notebook, as Read shows them: sources between tags, and what a cell has printed behind it."""

from __future__ import annotations

import json


def cells_of(text: str) -> str | None:
    """The text of a notebook; None if it is no JSON.

    >>> cells_of('{"cells": [{"cell_type": "markdown", "source": ["# a", "b"]}]}')
    '<cell id="cell-0"><cell_type>markdown</cell_type># ab</cell id="cell-0">'
    """
    try:
        cells = json.loads(text)["cells"]
        return "\n".join(_cell(number, cell) for number, cell in enumerate(cells))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _cell(number: int, cell: dict[str, object]) -> str:
    name = cell.get("id") or f"cell-{number}"
    kind = "" if cell.get("cell_type") == "code" else f"<cell_type>{cell.get('cell_type')}</cell_type>"
    outputs = cell.get("outputs")
    printed = [_joined(output.get("text")) for output in outputs] if isinstance(outputs, list) else []
    said = "".join(f"\n\n{text}" for text in printed if text)
    return f'<cell id="{name}">{kind}{_joined(cell.get("source"))}</cell id="{name}">{said}'


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")
