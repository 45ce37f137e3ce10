"""Parts of a session as text, for lists, pages and other agents: calls in one line, times, JSON, who speaks."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.sessions.model import Message, Part, StoredSession

PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path")
#: fields of a call that best say what it is about, in the order in which they are tried
CALL_FIELDS = ("command", "cmd", *PATHS, "pattern", "query", "url", "skill", "description", "prompt", "input")
DEEP = "(too deeply nested to be shown)"
_TRICKS = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TAG = re.compile(
    r"\s*<(command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr))>"
)
SPEAKERS = {"user": "User", "assistant": "Agent", "summary": "Summary", "system": "System"}
CHANGES = ("Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "replace", "write_file", "apply_patch")


def format_time(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in the time zone of this machine; empty if it is not known, or no calendar has it.

    >>> format_time(None), format_time(1e300), len(format_time(1_700_000_000))
    ('', '', 16)
    """
    try:
        return time.strftime(form, time.localtime(seconds)) if seconds else ""
    except (OverflowError, ValueError, OSError):
        return ""


def format_json(value: object, indent: int | None = None) -> str:
    """A value as JSON that every parser accepts, on one line or indented.

    >>> format_json({"a": float("nan"), "b": "é"})
    '{"a": null, "b": "é"}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_without_nan(value), ensure_ascii=False, indent=indent, default=str)
    except RecursionError:
        return json.dumps(DEEP)
    return text if is_encodable(text) else json.dumps(json.loads(text), indent=indent)


def is_deep(value: object, room: int = 100) -> bool:
    """Whether a value is nested deeper than anyone could read.

    >>> is_deep([[1]]), is_deep([[1]], 1)
    (False, True)
    """
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return room < 0 or any(is_deep(item, room - 1) for item in items)


def _without_nan(value: object) -> object:
    """A value without numbers that JSON does not have."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(name): _without_nan(item) for name, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, (list, tuple)) else value


def describe_removed(count: int) -> str:
    """How many credentials were removed, in words.

    >>> describe_removed(1), describe_removed(2)
    ('1 credential was taken out', '2 credentials were taken out')
    """
    return "1 credential was taken out" if count == 1 else f"{count:,} credentials were taken out"


def untag_text(text: str) -> tuple[str, bool]:
    """What was typed or printed of a text that an agent recorded in tags: `/compact`, `! ls`; any other text unchanged.
    And whether a command printed it.

    >>> untag_text("<command-name>/model</command-name>\\n<command-args>opus</command-args>")
    ('/model opus', False)
    >>> untag_text("<local-command-stdout>Compacted.</local-command-stdout>")
    ('Compacted.', True)
    >>> untag_text("<local-command-caveat>Ignore this.</local-command-caveat>")[0], untag_text("<b>bold</b>")[0]
    ('', '<b>bold</b>')
    """
    said = _tagged_texts(text)
    if not said:
        return text, False
    if name := said.get("command-name"):
        return f"{name} {said.get('command-args', '')}".strip(), False
    if line := said.get("bash-input"):
        return f"! {line}", False
    printed = "\n".join(inner for tag, inner in said.items() if inner and tag.endswith(("-stdout", "-stderr")))
    return _COLOUR.sub("", printed), bool(printed)


def _tagged_texts(text: str) -> dict[str, str]:
    """The texts in tags, by the names of the tags; nothing if there is text outside of them."""
    said: dict[str, str] = {}
    at = 0
    while tag := _TAG.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return {}
        said[tag[1]] = text[tag.end() : end].strip()
        at = end + len(tag[1]) + 3
    return {} if text[at:].strip() else said


def make_visible(text: str) -> str:
    r"""A text for a page: without colours, and with every other character that could deceive a reader written out.

    >>> make_visible("a\x1b[31mb\x1b[0m\u202e c")
    'ab\\u202e c'
    """
    return _TRICKS.sub(lambda match: "" if len(match[0]) > 1 else ascii(match[0])[1:-1], text)


def is_encodable(text: str) -> bool:
    """Whether a text can be encoded as UTF-8: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def format_call(part: Part, room: int = 100) -> str:
    """A call in one line: its tool, and what it is about.

    >>> from foretold.sessions.model import Part
    >>> format_call(Part("call", tool="Bash", input={"command": "make test\\nmake check"}))
    'Bash make test make check'
    """
    given = part.input or {}
    about = next((given[name] for name in CALL_FIELDS if given.get(name)), given or None)
    if isinstance(about, list) and all(isinstance(word, str) for word in about):
        about = " ".join(about)
    text = about if isinstance(about, str) else format_json(about) if about is not None else ""
    line = " ".join(f"{part.tool} {text[: room * 4]}".split())
    return line if len(line) <= room else line[: room - 1] + "…"


def changed_files(messages: Iterable[Message]) -> dict[str, int]:
    """The files that calls changed, and how often.

    >>> from foretold.sessions.model import Message, Part
    >>> changed_files([Message("1", "assistant", (Part("call", tool="Edit", input={"file_path": "/a"}),))])
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


def speaker_of(message: Message) -> str:
    """Who speaks, a key of `SPEAKERS`; the output of a tool belongs to the agent that called it."""
    if message.kind == "summary":
        return "summary"
    if all(part.kind in ("result", "image") for part in message.parts):
        return "assistant"
    return message.role if message.role in ("user", "assistant") else "system"


def facts_of(stored: StoredSession, time_format: str) -> list[str]:
    """What the head of a page says about a session."""
    started = format_time(stored.started, time_format)
    return [fact for fact in (f"{stored.agent} {stored.version}".strip(), stored.model, stored.cwd, started) if fact]


def output_of(part: Part) -> str:
    """The text of a result, or of a part that is not known."""
    return part.text or (format_json(part.raw) if part.raw is not None else "")


class PageTexts:
    """The messages of a session as texts, without empty ones; and the files that the session changed."""

    def __init__(self, messages: Iterable[Message], render: Callable[[Part, Message], str], gap: str) -> None:
        self._messages, self._render, self._gap = messages, render, gap
        self.files: dict[str, int] = {}

    def __iter__(self) -> Iterator[tuple[Message, str, str, bool]]:
        """Message, speaker, text, and whether the agent simply goes on."""
        last = ""
        for message in self._messages:
            for path, times in changed_files([message]).items():
                self.files[path] = self.files.get(path, 0) + times
            text = self._gap.join(piece for part in message.parts if (piece := self._render(part, message)))
            if text:
                speaker = speaker_of(message)
                yield message, speaker, text, last == speaker == "assistant"
                last = speaker
