"""Images, PDF files and notebooks as the contents of a mention."""

from __future__ import annotations

import base64
import json

IMAGES = {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "webp": "webp"}


def image_content(data: bytes, kind: str) -> dict[str, object] | None:
    """An image as its bytes, if it is one. The agent makes large ones smaller; we do not."""
    size = _dimensions(data)
    if size is None:
        return None
    width, height = size
    shown = {"originalWidth": width, "originalHeight": height, "displayWidth": width, "displayHeight": height}
    text = base64.b64encode(data).decode()
    file = {"base64": text, "type": f"image/{kind}", "originalSize": len(data), "dimensions": shown}
    return {"type": "image", "file": file}


def _dimensions(data: bytes) -> tuple[int, int] | None:
    """Width and height, read from the head of a PNG, GIF, JPEG or WebP file."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return _jpeg_dimensions(data) if data[:2] == b"\xff\xd8" else None


def _jpeg_dimensions(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in range(0xC0, 0xD0) and data[at + 1] not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def pdf_content(path: str, data: bytes) -> dict[str, object]:
    file = {"filePath": path, "base64": base64.b64encode(data).decode(), "originalSize": len(data)}
    return {"type": "pdf", "file": file}


def notebook_content(path: str, data: bytes) -> dict[str, object] | None:
    """The cells of a notebook and the texts of their outputs; None if it is none. Images of outputs are left out."""
    try:
        book = json.loads(data)
        cells = [cell for cell in book["cells"] if isinstance(cell, dict)]
        language = book.get("metadata", {}).get("language_info", {}).get("name", "python")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    made = [_cell(cell, number, language) for number, cell in enumerate(cells)]
    return {"type": "notebook", "file": {"filePath": path, "cells": made}}


def _cell(cell: dict[str, object], number: int, language: object) -> dict[str, object]:
    kind = str(cell.get("cell_type", "code"))
    made: dict[str, object] = {"cellType": kind, "source": _joined(cell.get("source", ""))}
    if kind == "code" and cell.get("execution_count"):
        made["execution_count"] = cell["execution_count"]
    made["cell_id"] = cell.get("id") or f"cell-{number}"
    if kind == "code":
        made["language"] = language
        outputs = cell.get("outputs")
        shown = [_output(each) for each in outputs if isinstance(each, dict)] if isinstance(outputs, list) else []
        made |= {"outputs": shown} if shown else {}
    return made


def _output(output: dict[str, object]) -> dict[str, object]:
    kind, data = output.get("output_type"), output.get("data")
    if kind == "error":
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}\n" + _joined(output.get("traceback", ""), "\n")
    else:
        text = _joined(data.get("text/plain", "") if isinstance(data, dict) else output.get("text", ""))
    return {"output_type": kind, "text": text}


def _joined(value: object, between: str = "") -> str:
    return between.join(map(str, value)) if isinstance(value, list) else str(value)
