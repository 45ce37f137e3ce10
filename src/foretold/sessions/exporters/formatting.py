"""Parts of a session as text, for lists, pages and other agents: calls in one line, times, JSON, who speaks."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession

PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path")
#: fields of a call that best say what it is about, in the order in which they are tried
CALL_FIELDS = ("command", "cmd", *PATHS, "pattern", "query", "url", "skill", "description", "prompt", "input")
DEEP = "(too deeply nested to be shown)"
_TRICKS = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TAGGED = re.compile(
    r"\s*<(command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr))>"
    r"(.*?)</\1>",
    re.DOTALL,
)
SPEAKERS = {"user": "User", "assistant": "Agent", "summary": "Summary", "system": "System"}
CHANGES = ("Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "replace", "write_file", "apply_patch")


def format_time(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in the time zone of this machine; empty if it is not known, or no calendar has it."""
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
        clean = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
        text = json.dumps(clean, ensure_ascii=False, indent=indent)
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


def describe_removed(redactor: Redactor | None) -> str:
    """How many credentials were removed, in words; empty if none was."""
    count = len(redactor.found) if redactor else 0
    return "1 credential was taken out" if count == 1 else f"{count:,} credentials were taken out" if count else ""


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
    while tag := _TAGGED.match(text, at):
        said[tag[1]] = tag[2].strip()
        at = tag.end()
    return {} if text[at:].strip() else said


def make_visible(text: str) -> str:
    r"""A text for a page: without colours, and with every other character that could deceive a reader written out.

    >>> make_visible("a\x1b[31mb\x1b[0m\u202e c")
    'ab\\u202e c'
    """
    return _TRICKS.sub(lambda match: "" if len(match[0]) > 1 else ascii(match[0])[1:-1], text)


def is_encodable(text: str) -> bool:
    """Whether a text can be encoded as UTF-8: half of a surrogate pair cannot."""
    return text.encode("utf-8", "ignore").decode() == text


def format_call(part: Part, room: int = 100) -> str:
    """A call in one line: its tool, and what it is about."""
    given = part.input or {}
    about = next((given[name] for name in CALL_FIELDS if given.get(name)), given or None)
    if isinstance(about, list) and all(isinstance(word, str) for word in about):
        about = " ".join(about)
    text = about if isinstance(about, str) else format_json(about) if about is not None else ""
    line = " ".join(f"{part.tool} {text[: room * 4]}".split())
    return line if len(line) <= room else line[: room - 1] + "…"


def changed_file(part: Part) -> str:
    """The file that a call changed; empty for any other part.

    >>> from foretold.sessions.model import Part
    >>> changed_file(Part("call", tool="Edit", input={"file_path": "/a"}))
    '/a'
    """
    given = part.input if part.kind == "call" and part.tool in CHANGES else None
    return next((path for name in PATHS if isinstance(path := given.get(name), str)), "") if given else ""


def facts_of(stored: StoredSession, time_format: str) -> list[str]:
    """What the head of a page says about a session."""
    started = format_time(stored.started, time_format)
    return [fact for fact in (f"{stored.agent} {stored.version}".strip(), stored.model, stored.cwd, started) if fact]


def output_of(part: Part) -> str:
    """The text of a result, or of a part that is not known."""
    return part.text or (format_json(part.raw) if part.raw is not None else "")


def page_texts(
    messages: Iterable[Message], choice: Choice, render: Callable[[Part, str], str], gap: str, files: dict[str, None]
) -> Iterator[tuple[str, str, str, bool]]:
    """The messages that have a text: speaker, a key of `SPEAKERS` (of a tool's output, the agent), time of day, text,
    and whether the agent simply goes on. `render` gets a part and its role. Changed files are added to `files`."""
    last = ""
    for message in messages:
        files |= dict.fromkeys(filter(None, map(changed_file, message.parts)))
        shown = [part for part in message.parts if part.kind != "call" or not choice.brief]
        text = gap.join(piece for part in shown if (piece := render(part, message.role)))
        if not text:
            continue
        if message.kind == "summary":
            speaker = "summary"
        elif all(part.kind in ("result", "image") for part in message.parts):
            speaker = "assistant"
        else:
            speaker = message.role if message.role in ("user", "assistant") else "system"
        yield speaker, format_time(message.time, "%H:%M"), text, last == speaker == "assistant"
        last = speaker
