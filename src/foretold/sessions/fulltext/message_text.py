"""What of a message is searched: who says it, with which tool, and its text.

1. The voice of a text is its message's role; of a call it is the assistant, with the tool's name and every text of the
   input; of a tool's output it is `tool`.
2. Data is not text: base64 is left out where it goes on for 1,024 characters or more, images have no text.
3. A prompt that waited in a queue has two records; the first is not searched where the prompt itself follows.
4. A record that is too long to be parsed is searched in its first and its last `EDGE` bytes, as they are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from foretold.sessions.formats.fields import parse_time
from foretold.sessions.formats.jsonl import lines_of
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.query import normalize_accents
from foretold.sessions.model import Message, Part, StoredSession
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

VOICES = ("user", "assistant", "system", "tool")
EDGE = 64 * 1024
QUEUED = "queue-operation"  #: Claude Code's
NEAR = 1024 * 1024
SPACELESS = 512  #: characters without a space that make a text suspect
_BITS = {voice: 1 << at for at, voice in enumerate(VOICES)}
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{400,}|(?:[A-Za-z0-9+/]{60,80}\r?\n){6,}[A-Za-z0-9+/]*)={0,2}"
)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPES = {"b": " ", "f": " ", "n": "\n", "r": "\r", "t": "\t"}
_FIELD = re.compile(r'"(uuid|timestamp|role)"\s*:\s*"([^"\\]{1,80})"')


class Passage(NamedTuple):
    """A part of a message, as it is searched."""

    voice: str  #: user, assistant, system, tool
    tool: str
    text: str


def passages_of(message: Message) -> list[Passage]:
    """The texts of a message."""
    found = []
    for kind, text, tool, _, given, _, _ in message.parts:
        if kind == "call":
            text = "\n".join([tool, *_texts(given)])
        if text and kind != "image":
            found.append(Passage("tool" if kind == "result" else message.role, tool, plain(text)))
    return found


def choose_passages(passages: list[Passage], roles: Collection[str], tools: Collection[str]) -> list[Passage]:
    """Only those of some voices and of some tools, whose names may be written in lower case; empty = of any."""
    names = {tool.lower() for tool in tools}
    return [
        each for each in passages if (not roles or each.voice in roles) and (not names or each.tool.lower() in names)
    ]


def mask_of(voices: Iterable[str]) -> int:
    """Voices as bits.

    >>> mask_of(["user", "tool", "tool"])
    9
    """
    mask = 0
    for voice in voices:
        mask |= _BITS.get(voice, 0)
    return mask


def is_lines(stored: StoredSession) -> bool:
    """Whether a session is a file of JSON lines, and of nothing else."""
    return stored.path.endswith(".jsonl")


def is_queued(stored: StoredSession, message: Message) -> bool:
    """Whether a record only says that a prompt was queued, and the prompt itself follows within `NEAR` bytes."""
    if message.kind != "notice" or len(message.parts) != 1:
        return False
    raw, text = message.parts[0].raw, message.parts[0].text.strip()
    if not text or not isinstance(raw, dict) or raw.get("type") != QUEUED:
        return False
    for later in reader_of(stored.agent).read_messages(stored, message.end):
        if later.role == "user" and any(part.kind == "text" and part.text.strip() == text for part in later.parts):
            return True
        if later.end - message.end > NEAR:
            break
    return False


def _texts(value: object) -> Iterator[str]:
    """Every text in a value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += reversed(each.values())
        elif isinstance(each, list | tuple):
            waiting += reversed(each)


def plain(text: str) -> str:
    """A text without base64 data.

    >>> plain("see " + "iVBORw0KGgo" * 100 + " above"), plain("a line\\n")
    ('see   above', 'a line\\n')
    """
    for at in range(0, len(text) - SPACELESS + 1, SPACELESS):
        if text.find(" ", at, at + SPACELESS) < 0:
            text = _BASE64.sub(" ", text)
            break
    return text if text.isascii() else normalize_accents(text)


# Records that are too long


def long_messages(path: str, start: int, end: int) -> Iterator[Message]:
    """The records between two bytes of a file that are too long to be parsed, as `long_message` reads them."""
    for line in lines_of(path, start):
        if line.start >= end:
            return
        if line.is_long:
            yield long_message(path, line.start, line.end)


def long_message(path: str, start: int, end: int) -> Message:
    """A record that is too long, by its two ends."""
    with open(path, "rb", opener=open_regular) as file:
        file.seek(start)
        head = _unescaped(file.read(EDGE))
        file.seek(max(start, end - EDGE))
        tail = _unescaped(file.read(min(EDGE, end - start)))
    fields = dict(reversed(_FIELD.findall(tail) + _FIELD.findall(head)))
    role = fields.get("role", "")
    return Message(
        id=fields.get("uuid", f"byte {start}"),
        role=role if role in VOICES else "system",
        parts=(Part("other", head), Part("other", tail)),
        time=parse_time(fields.get("timestamp")),
        start=start,
        end=end,
    )


def _unescaped(data: bytes) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])

    return _ESCAPE.sub(character, data.decode("utf-8", "replace"))
