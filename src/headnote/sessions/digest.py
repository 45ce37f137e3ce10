"""A call of a tool in one line, and what a session touched: for lists, pages and another agent's eyes."""

from __future__ import annotations

import json

from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headnote.sessions.model import Message, Part

#: fields of a call that say best what it is about, in the order in which they are tried
TELLING = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "absolute_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "input",
)
PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path")
CHANGES = ("Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "replace", "write_file", "apply_patch")


def call_line(part: Part, room: int = 100) -> str:
    """A call in a line: its tool, and what it is about.

    >>> from headnote.sessions.model import Part
    >>> call_line(Part("call", tool="Bash", input={"command": "make test\\nmake check"}))
    'Bash make test make check'
    """
    given = part.input or {}
    about = next((given[name] for name in TELLING if given.get(name)), None)
    if about is None and given:
        about = given
    if isinstance(about, list) and all(isinstance(word, str) for word in about):
        about = " ".join(about)
    text = about if isinstance(about, str) else json.dumps(about, ensure_ascii=False) if about is not None else ""
    line = " ".join(f"{part.tool} {text[: room * 4]}".split())
    return line if len(line) <= room else line[: room - 1] + "…"


def touched(messages: Iterable[Message]) -> dict[str, int]:
    """The files that calls changed, with how often.

    >>> from headnote.sessions.model import Message, Part
    >>> touched([Message("1", "assistant", (Part("call", tool="Edit", input={"file_path": "/a"}),))])
    {'/a': 1}
    """
    found: dict[str, int] = {}
    for message in messages:
        for part in message.parts:
            if part.kind == "call" and part.tool in CHANGES and part.input:
                path = next((part.input[name] for name in PATHS if isinstance(part.input.get(name), str)), None)
                if isinstance(path, str):
                    found[path] = found.get(path, 0) + 1
    return found
