"""A call of a tool in one line, and what a session touched: for lists, pages and another agent's eyes."""

from __future__ import annotations

import json
import re
import time

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.sessions.model import Message, Part

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
DEEP = "(too deeply nested to be shown)"
_TRICKS = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TAG = re.compile(
    r"\s*<(command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr))>"
)
PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path")
CHANGES = ("Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "replace", "write_file", "apply_patch")


def clock(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment in the time of this machine; nothing of one that no calendar has.

    >>> clock(None), clock(1e300), len(clock(1_700_000_000))
    ('', '', 16)
    """
    try:
        return time.strftime(form, time.localtime(seconds)) if seconds else ""
    except (OverflowError, ValueError, OSError):
        return ""


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON that every parser takes, on one line or indented.

    >>> as_json({"a": float("nan"), "b": "é"})
    '{"a": null, "b": "é"}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_numbered(value), ensure_ascii=False, indent=indent, default=str)
    except RecursionError:
        return json.dumps(DEEP)
    return text if is_text(text) else json.dumps(json.loads(text), indent=indent)


def is_deep(value: object, room: int = 100) -> bool:
    """Whether a value is nested deeper than anybody could read.

    >>> is_deep([[1]]), is_deep([[1]], 1)
    (False, True)
    """
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return room < 0 or any(is_deep(item, room - 1) for item in items)


def _numbered(value: object) -> object:
    """A value without numbers that JSON has not."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(name): _numbered(item) for name, item in value.items()}
    return [_numbered(item) for item in value] if isinstance(value, (list, tuple)) else value


def taken_out(count: int) -> str:
    """What a page says of credentials.

    >>> taken_out(1), taken_out(2)
    ('1 credential was taken out', '2 credentials were taken out')
    """
    return "1 credential was taken out" if count == 1 else f"{count:,} credentials were taken out"


class Spoken(NamedTuple):
    """A text as a person would tell it."""

    text: str  #: empty if nothing was said
    is_output: bool = False  #: whether it is what a command printed


def spoken(text: str) -> Spoken:
    """What was typed, or printed, of a text that an agent wrote down in tags: `/compact`, `! ls`; any other as it is.

    >>> spoken("<command-name>/model</command-name>\\n<command-args>opus</command-args>")
    Spoken(text='/model opus', is_output=False)
    >>> spoken("<local-command-stdout>Compacted.</local-command-stdout>")
    Spoken(text='Compacted.', is_output=True)
    >>> spoken("<local-command-caveat>Ignore this.</local-command-caveat>").text, spoken("<b>bold</b>").text
    ('', '<b>bold</b>')
    """
    said = _tagged(text)
    if not said:
        return Spoken(text)
    if name := said.get("command-name"):
        return Spoken(f"{name} {said.get('command-args', '')}".strip())
    if line := said.get("bash-input"):
        return Spoken(f"! {line}")
    printed = "\n".join(inner for tag, inner in said.items() if inner and tag.endswith(("-stdout", "-stderr")))
    return Spoken(_COLOUR.sub("", printed), is_output=bool(printed))


def _tagged(text: str) -> dict[str, str]:
    """What stands in tags, by their names; nothing if something stands outside of them."""
    said: dict[str, str] = {}
    at = 0
    while tag := _TAG.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return {}
        said[tag[1]] = text[tag.end() : end].strip()
        at = end + len(tag[1]) + 3
    return {} if text[at:].strip() else said


def visible(text: str) -> str:
    r"""A text for a page: without colours, and with every other sign that would play tricks on a reader written out.

    >>> visible("a\x1b[31mb\x1b[0m\u202e c")
    'ab\\u202e c'
    """
    return _TRICKS.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    sign = match[0]
    return "" if len(sign) > 1 else ascii(sign)[1:-1]


def is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def call_line(part: Part, room: int = 100) -> str:
    """A call in a line: its tool, and what it is about.

    >>> from foretold.sessions.model import Part
    >>> call_line(Part("call", tool="Bash", input={"command": "make test\\nmake check"}))
    'Bash make test make check'
    """
    given = part.input or {}
    about = next((given[name] for name in TELLING if given.get(name)), None)
    if about is None and given:
        about = given
    if isinstance(about, list) and all(isinstance(word, str) for word in about):
        about = " ".join(about)
    text = about if isinstance(about, str) else as_json(about) if about is not None else ""
    line = " ".join(f"{part.tool} {text[: room * 4]}".split())
    return line if len(line) <= room else line[: room - 1] + "…"


def touched(messages: Iterable[Message]) -> dict[str, int]:
    """The files that calls changed, with how often.

    >>> from foretold.sessions.model import Message, Part
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
