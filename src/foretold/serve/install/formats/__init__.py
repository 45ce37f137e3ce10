"""Settings files as text: ours is added and removed, and every other byte stays. Each format has `add` and `remove`."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Unsafe(ValueError):
    """A text is not valid, or cannot be changed without touching what is not ours."""


def value_at(value: object, keys: Sequence[str]) -> object:
    """What is below these keys; None if nothing is."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put_at(value: dict[str, Any], keys: Sequence[str], new: object) -> None:
    """Set what is below these keys; objects that are missing are made."""
    for key in keys[:-1]:
        value = value.setdefault(key, {})
    value[keys[-1]] = new


def delete_at(value: Any, path: Sequence[str | int]) -> None:
    for key in path[:-1]:
        value = value[key]
    del value[path[-1]]


def checked(text: str, value: object, expected: object) -> str:
    """A changed text, if its value is the expected one."""
    if value != expected:
        raise Unsafe("the change would have touched something else")
    return text


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def place_of(text: str, key: str) -> str:
    """`line 3: ` for a key at the outermost level, if it is written plainly; else empty."""
    import re

    found = re.search(rf"^{re.escape(key)}[ \t]*[:=]", text, re.MULTILINE)
    return f"line {line_of(text, found.start())}: " if found else ""


def end_as_before(before: str | None, text: str, left: str) -> str:
    """What is left of a text; without the line end that ours needed, if ours was at its end."""
    was_last = not text.endswith(left.splitlines(keepends=True)[-1:][0] if left else "")
    if before and not before.endswith("\n") and was_last:
        return left.removesuffix("\n").removesuffix("\r")
    return left
