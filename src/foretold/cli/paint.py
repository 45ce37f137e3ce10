"""Words for people: short paths, sizes, plain ANSI colours where a terminal wants them."""

from __future__ import annotations

import os
import sys

from foretold.storage.tree import is_inside


class Paint:
    """How to write for one reader: its width, its colours, its folders."""

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd, self.home = cwd, home
        self.width = _width()
        env = os.environ
        self.colour = sys.stdout.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"

    def bold(self, text: str) -> str:
        return self._dress(text, "1")

    def faint(self, text: str) -> str:
        return self._dress(text, "2")

    def red(self, text: str) -> str:
        return self._dress(text, "31")

    def _dress(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def path(self, path: str) -> str:
        """A path as a reader in this folder would write it."""
        if path != self.cwd and is_inside(path, self.cwd):
            path = path[len(self.cwd.rstrip("/")) + 1 :]
        elif is_inside(path, self.home):
            path = "~" + path[len(self.home) :]
        return printable(path)

    def text(self, text: str) -> str:
        """A sentence with the paths in it shortened."""
        text = text.replace(self.cwd.rstrip("/") + "/", "").replace(self.home.rstrip("/") + "/", "~/")
        return printable(text)

    def wrap(self, text: str, indent: int) -> str:
        """A sentence in lines that fit, each indented."""
        lines, line, room = [], "", max(8, self.width - indent)
        for word in self.text(text).split(" "):
            while len(word) > room:
                lines += [line] if line else []
                lines.append(word[:room])
                line, word = "", word[room:]
            if line and indent + len(line) + 1 + len(word) > self.width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        return "\n".join(" " * indent + each for each in (*lines, line))

    def fit(self, text: str, width: int) -> str:
        """A text in a column: padded, or cut in the middle."""
        if len(text) <= width:
            return text.ljust(width)
        head = (width - 1) // 3
        return text[:head] + "…" + text[len(text) - (width - 1 - head) :]


def printable(text: str) -> str:
    """Text that cannot play tricks on a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit():
        return max(40, int(columns))
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 80


def size(count: int) -> str:
    """Bytes for people.

    >>> size(512), size(20480), size(5 * 1024 * 1024), size(6 * 1024**3)
    ('512 B', '20.0 KiB', '5.0 MiB', '6.0 GiB')
    """
    if count < 1024:
        return f"{count} B"
    power = 1 if count < 1024**2 else 2 if count < 1024**3 else 3
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB')[power - 1]}"


def plural(count: int, word: str) -> str:
    """A number with its noun.

    >>> plural(1, "file"), plural(2, "entry")
    ('1 file', '2 entries')
    """
    if count == 1:
        return f"1 {word}"
    return f"{count:,} {word[:-1]}ies" if word.endswith("y") else f"{count:,} {word}s"


def for_terminal(text: str) -> str:
    """A text of several lines: as it is for a program, and without what plays tricks on a terminal for a person."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.split("\n"))


def column(text: str, room: int) -> str:
    """A text in a column of a terminal, in which some letters take two cells: filled up, or cut.

    >>> column("日本語です", 6), column("ab", 4)
    ('日本… ', 'ab  ')
    """
    cells = [_cells(char) for char in text]
    if sum(cells) <= room:
        return text + " " * (room - sum(cells))
    used = at = 0
    while used + cells[at] < room:
        used, at = used + cells[at], at + 1
    return text[:at] + "…" + " " * (room - used - 1)


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    import unicodedata

    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
