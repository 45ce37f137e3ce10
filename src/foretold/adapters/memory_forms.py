"""What a model's memory tool shows and refuses: lists, numbers of lines, sizes, and texts that are not written."""

from __future__ import annotations

import os
from collections.abc import Sequence

from foretold.errors import BadName, WriteRefused
from foretold.secrets.forms import credentials_in

WIDTH = 6  #: of the numbers of lines
SIZES = "BKMG"


def shown_name(name: str) -> str:
    """A name as the model knows it.

    >>> shown_name("todo.txt.md"), shown_name("todo.md"), shown_name("a/"), shown_name("v1.2 notes.md")
    ('todo.txt', 'todo.md', 'a/', 'v1.2 notes.md')
    """
    stem = name.removesuffix(".md")
    ending = os.path.splitext(stem)[1][1:]
    return stem if stem != name and ending.isalnum() and ending.isascii() and len(ending) <= 5 else name


def levels_of(sizes: dict[str, int], levels: int, prefix: str = "") -> list[tuple[str, int]]:
    """Files and folders with their sizes, by name, each folder followed by what is in it.

    >>> levels_of({"b.md": 1, "a/x.md": 2, "a/y/z.md": 3}, 2)
    [('a/', 5), ('a/x.md', 2), ('a/y/', 3), ('b.md', 1)]
    """
    found: list[tuple[str, int]] = []
    for name in sorted({file.partition("/")[0] for file in sizes}):
        below = {file[len(name) + 1 :]: size for file, size in sizes.items() if file.startswith(f"{name}/")}
        if below:
            found.append((f"{prefix}{name}/", sum(below.values())))
            found += levels_of(below, levels - 1, f"{prefix}{name}/") if levels > 1 else []
        if name in sizes:
            found.append((prefix + name, sizes[name]))
    return found


def shown_size(size: int) -> str:
    """A size as the tool of Anthropic's package writes it.

    >>> shown_size(0), shown_size(1023), shown_size(1024), shown_size(1536)
    ('0B', '1023B', '1K', '1.5K')
    """
    step = min(max(size.bit_length() - 1, 0) // 10, len(SIZES) - 1)
    number = size / 1024**step
    return f"{int(number) if number == int(number) else f'{number:.1f}'}{SIZES[step]}"


def numbered(lines: list[str], first: int, last: int) -> list[str]:
    return [f"{number:>{WIDTH}}\t{lines[number - 1]}" for number in range(first, last + 1)]


def shown_range(wanted: Sequence[int] | None, lines: int, path: str) -> tuple[int, int]:
    """The first and the last line to show."""
    if not wanted:
        return 1, lines
    good = len(wanted) == 2 and all(isinstance(number, int) for number in wanted)
    first, last = (max(1, wanted[0]), lines if wanted[1] == -1 else min(wanted[1], lines)) if good else (1, 0)
    if last < first:
        said = f"Invalid `view_range` parameter: {list(wanted)}. {path} has {lines} lines;"
        raise BadName(f"{said} give the first and the last line, -1 for the end.")
    return first, last


def text_of(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WriteRefused(f"The file {path} is not UTF-8: a person has to look at it.") from None


def bytes_of(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WriteRefused("The text has half of a surrogate pair, which no file can hold.") from None


def refuse_other_than_once(text: str, old: str, path: str) -> None:
    if not old:
        raise WriteRefused("No replacement was performed, old_str is empty.")
    count = text.count(old)
    if not count:
        raise WriteRefused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines, at = [], text.find(old)
        while at >= 0:
            lines.append(str(text.count("\n", 0, at) + 1))
            at = text.find(old, at + 1)
        said = f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {', '.join(lines)}."
        raise WriteRefused(f"{said} Please ensure it is unique")


def refuse_credentials(path: str, before: str, after: str) -> None:
    found = credentials_in(after)
    known = {each.fingerprint for each in credentials_in(before)} if found else set()
    for each in found:
        if each.fingerprint not in known:
            said = f"{path} is not written: it would hold what looks like a credential ({each.kind})"
            raise WriteRefused(f"{said}. Leave it out, and say where it is kept instead.")
