"""What the mentions in a prompt attach: files, folders, agents.

1. What counts as a mention, and the range of lines after it: `instructions.text.prompt_mentions`.
2. A file is attached as text: UTF-8 with U+FFFD for other bytes, no byte order mark, `\\r\\n` as `\\n` (later version:
   also UTF-16 with its mark). `totalLines` is the number of its newlines plus one; a range has no final newline.
3. An image and a PDF are attached as their bytes, a notebook as its cells. A name with the extension of another binary
   format is left out, whatever is inside.
4. Left out: what does not exist, is over 256 KiB (the later version names it), or over 25,000 tokens, which the agent
   lets its provider count and we estimate.
5. A folder is attached as its names, in the file system's own order, the first 1,000 of them.
6. `@agent-NAME` asks for an agent, if there is one of that name.

# claude-code: at-01, at-02, at-03, at-07; tests/context/mentions.jsonl
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable

from foretold.context.attachments import TurnAttachment
from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.dialects.surroundings import join
from foretold.instructions.text.prompt_mentions import PromptMention as PromptMention, parse_mentions as parse_mentions
from foretold.storage.tree import Disk, Fault
from foretold.text.frontmatter import SPACE
from foretold.types import TYPE_CHECKING, NamedTuple, Skip, estimate_tokens

if TYPE_CHECKING:
    from foretold.storage.tree import Tree


IMAGES = {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "webp": "webp"}


_AGENT = re.compile(rf"(?:^|[{SPACE}])@agent-([\w:.@-]+)")
LARGEST = 262_144  #: bytes
MOST_TOKENS = 25_000
MOST_NAMES = 1_000
BINARY = frozenset(
    "3ds 7z a aac ai aiff app avi bin blend bmp bz2 class dat data db deb dll doc docx dylib ear eot eps exe fig fla"
    " flac flv gz ico idx iso jar lib lockb m4a m4v max mdb mkv mov mp3 mp4 mpeg mpg msi node o obj odp ods odt ogg"
    " opus otf ppt pptx psd pyc pyo rar rlib rpm sketch so sqlite sqlite3 swf tar tgz tif tiff ttf war wasm wav webm"
    " wma wmv woff woff2 xd xls xlsx xz z zip".split()
)


class ResolvedMentions(NamedTuple):
    """What mentions attach, and what they do not."""

    attachments: tuple[TurnAttachment, ...]
    skips: tuple[Skip, ...] = ()


def resolve_mentions(
    prompt: str,
    cwd: str | os.PathLike[str] = ".",
    tree: Tree | None = None,
    *,
    agent: str = DEFAULT_AGENT,
    home: str = "",
    agents: Iterable[str] = (),
) -> ResolvedMentions:
    """What the mentions of a prompt attach, and what is left out and why.

    >>> import tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "a.txt"), "w", encoding="utf-8") as file:
    ...     _ = file.write("alpha\\nbeta\\n")
    >>> [found.fields["content"]["file"]["content"] for found in resolve_mentions("look @a.txt#L2", folder).attachments]
    ['beta']
    """
    folder, disk = os.path.realpath(cwd), Disk() if tree is None else tree
    place = (folder, home or os.path.expanduser("~"), disk, turn_context_of(agent))
    known = frozenset(agents)
    named = [name for name in dict.fromkeys(_AGENT.findall(prompt)) if name in known]
    calls = {f"agent-{name}" for name in named}
    found = [_resolve(mention, *place) for mention in parse_mentions(prompt) if mention.path not in calls]
    attached = [each for each in found if isinstance(each, TurnAttachment)]
    attached += [TurnAttachment("agent_mention", {"agentType": name}) for name in named]
    return ResolvedMentions(tuple(attached), tuple(each for each in found if isinstance(each, Skip)))


def _resolve(mention: PromptMention, cwd: str, home: str, tree: Tree, around: TurnContext) -> TurnAttachment | Skip:
    """What one mention attaches."""
    path = join(home, mention.path[2:]) if mention.path[:2] == "~/" else join(cwd, mention.path)
    shown, name = {"displayPath": os.path.relpath(path, cwd)}, path.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    is_binary = ending in BINARY or ending in around.binary
    if tree.kind(path) == "folder":
        items = tree.scan(path)
        if isinstance(items, Fault):
            return Skip(path, items.reason, items.detail)
        names = [item.name for item in items[:MOST_NAMES]]
        names += [f"… and {len(items) - MOST_NAMES} more entries"] if len(items) > MOST_NAMES else []
        return TurnAttachment("directory", {"path": path, "content": "\n".join(names), **shown})
    data = tree.read(path, LARGEST)
    if isinstance(data, Fault):
        size = data.detail.partition(" ")[0]
        is_named = ending and ending not in IMAGES and not is_binary  # one without an ending is not
        if data.reason != "too-large" or not around.too_large or not size.isdigit() or not is_named:
            return Skip(path, data.reason, data.detail)
        fields = {"mentions": [path], "unread": "too_large", "fileSize": int(size), **shown}
        return TurnAttachment("at_mention_reference", fields)
    content: dict[str, object] | None = None
    if ending in IMAGES:
        content = image_content(data, IMAGES[ending])
    elif ending == "pdf":
        content = pdf_content(path, data) if data.startswith(b"%PDF-") else None
    elif ending == "ipynb":
        content = notebook_content(path, data)
    elif not is_binary:
        lines = _lines_of(path, _decode(data, around), mention)
        if estimate_tokens(str(lines["content"])) > MOST_TOKENS:
            return Skip(path, "too-large", f"more than {MOST_TOKENS:,} tokens")
        content = {"type": "text", "file": lines}
    if content is None:
        return Skip(path, "not-a-text-file", f"the agent attaches no .{ending} of this content")
    return TurnAttachment("file", {"filename": path, "content": content, **shown, **around.file_fields})


def _decode(data: bytes, around: TurnContext) -> str:
    if around.decodes_utf16 and data[:2] == b"\xff\xfe":
        return data[2:].decode("utf-16-le", "replace").replace("\r\n", "\n")
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _lines_of(path: str, text: str, mention: PromptMention) -> dict[str, object]:
    """The lines of a range, or all. `#L0` is the whole file, from line 0."""
    lines = text.split("\n")
    total, first = len(lines), 1 if mention.first is None else mention.first
    kept = lines
    if mention.first and mention.last is not None:
        kept = lines[first - 1 : max(first - 1, mention.last)]
    return {
        "filePath": path,
        "content": "\n".join(kept),
        "numLines": len(kept),
        "startLine": first,
        "totalLines": total,
    }


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
    """The cells of a notebook and the texts of their outputs; None if it is not one. Images of outputs are left out."""
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
    made: dict[str, object] = {"cellType": kind, "source": _join(cell.get("source", ""))}
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
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}\n" + _join(output.get("traceback", ""), "\n")
    else:
        text = _join(data.get("text/plain", "") if isinstance(data, dict) else output.get("text", ""))
    return {"output_type": kind, "text": text}


def _join(value: object, between: str = "") -> str:
    return between.join(map(str, value)) if isinstance(value, list) else str(value)
