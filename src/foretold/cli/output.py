"""What commands print for people, in 80 columns: paths, sizes, tables, findings, questions.

Text of a session is fold to fit a terminal: a line that fits stays, a longer one is broken at its spaces, and a word
that is wider than the terminal stays whole, so that an address can be copied. What follows a bullet or a number is
indented under its first word. Code (between fences, or indented by four spaces) and rows of tables stay.

No text that we did not write ourselves can give a terminal a command:

1. Texts and names come from strangers: file names of a clone, memories of a colleague, output in a transcript. In them,
   a control character could move the cursor, set the title, fill the clipboard, or turn a line around; it is shown as
   `\\x1b` instead.
2. Both streams are wrapped if they are terminals, so no command has to think of it. A pipe or a file gets every byte as
   it is. A JSON document on a terminal has the same characters escaped as JSON escapes them.
3. Passed on: line ends, tabs, and the four colour sequences of `Paint`. What moves the cursor, a progress line, goes
   through `write_controls`.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Sequence

from foretold.storage.tree import is_inside
from foretold.types import REASONS, TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from foretold.instructions.view import View
    from foretold.types import Entry, Finding, Skip


class Paint:
    """How to write for one terminal: its width, its colours, the folders to shorten."""

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd, self.home = cwd, home
        env = os.environ
        columns = env.get("COLUMNS", "")
        self.width = max(40, (int(columns) if columns.isdigit() else 0) or _columns(1))
        wanted = sys.stdout.isatty() and env.get("TERM") != "dumb"
        self.colour = (wanted or bool(env.get("FORCE_COLOR"))) and not env.get("NO_COLOR")

    def bold(self, text: str) -> str:
        return self._colour(text, "1")

    def faint(self, text: str) -> str:
        return self._colour(text, "2")

    def red(self, text: str) -> str:
        return self._colour(text, "31")

    def _colour(self, text: str, code: str) -> str:
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
        """A text in a column: padded, or cut in the middle; of a path, the name of the file stays if there is room.

        >>> Paint("/p", "/h").fit("docs/notes/of-the-year.md", 20), Paint("/p", "/h").fit("a/b-very-long-name.md", 20)
        ('docs/…of-the-year.md', '…b-very-long-name.md')
        """
        if len(text) <= width:
            return text.ljust(width)
        name = text.rpartition("/")[2] if "/" in text else ""
        head = (width - 1) // 3
        head = head if len(name) >= width or " " in name else min(head, width - 1 - len(name))
        return text[:head] + "…" + text[len(text) - (width - 1 - head) :]


def printable(text: str) -> str:
    """Text without control characters, which could play tricks on a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _columns(stream: int) -> int:
    try:
        return os.get_terminal_size(stream).columns or 80  # some report 0: they do not know
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
    """A text of several lines: unchanged for a program, without control characters for a terminal."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.split("\n"))


def column(text: str, room: int) -> str:
    """A text in a column of a terminal, in which some characters take two cells: padded, or cut.

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


def name_of(view: View) -> str:
    """The name of an agent for people."""
    from foretold.dialects.registry import title_of_agent  # which knows all agents; most commands need none

    return title_of_agent(view.dialect.agent)


HOW = {"source": "from its source code", "documented": "from its documentation"}


def title_of(view: View, paint: Paint) -> str:
    """Which agent, which version and how sure we are, where."""
    dialect = view.dialect
    name = f"{name_of(view)} {view.choice.asked or dialect.version}"
    where = paint.fit(paint.path(view.surroundings.cwd), paint.width - 3).rstrip()
    if view.assumed:
        how = f"not recorded; treated like {dialect.version}"
    elif dialect.evidence in HOW:
        name, how = name_of(view), HOW[dialect.evidence]
    else:
        how = dialect.evidence if view.choice.asked else f"the newest {dialect.evidence} version"
    return f"{paint.bold(name)}, {how}\nin {where}"


def print_entries(view: View, paint: Paint, most: int = 100_000, more: str = "") -> None:
    """What the model receives, in its order; rows beyond `most` are summed up, and the tokens add up to the whole."""
    if view.refusal:
        print(f"\nIt refuses to start here (exit status {view.refusal}): the folder is not trusted.")
        print("Start it there once, and trust the folder.")
        return
    if not view.entries:
        print("\nIt receives nothing: no instruction file is delivered.")
        return
    total = sum(entry.size for entry in view.entries)
    listed = sum(1 for entry in view.entries if entry.is_listed)
    loaded = f"{plural(len(view.entries) - listed, 'file')}, {size(total)}"
    names = f" and the names of {listed} more" if listed else ""
    print(f"\nLoaded at the start: {loaded}{names}, about {plural(view.tokens, 'token')}\n")
    shown = view.entries if len(view.entries) <= most + 5 else view.entries[:most]
    print_rows(shown, paint)
    left = view.entries[len(shown) :]
    if left:
        _print_sum(f"… and {plural(len(left), 'more file')} ({more})", sum(entry.tokens for entry in left), paint)
    around = view.tokens - sum(entry.tokens for entry in view.entries)
    if around:  # the estimate of the whole text is not the sum of those of its parts
        what = "what the agent writes around them" if around > 0 else "white space that the agent removes"
        _print_sum(what, around, paint)


def _print_sum(text: str, tokens: int, paint: Paint) -> None:
    print(paint.faint(f"{'':14}{paint.fit(text, paint.width - 27)} {tokens:>8,} tok"))


def print_rows(entries: Sequence[Entry], paint: Paint) -> None:
    """One line per entry: order, layer, path with imports indented, bytes, tokens."""
    room = paint.width - 37
    for number, entry in enumerate(entries, 1):
        lead = "  " * entry.depth + ("└ " if entry.depth else "")
        row = f"{number:3}  {entry.layer:8} {paint.fit(lead + paint.path(entry.path), room)}"
        print(f"{row} {'listed' if entry.is_listed else size(entry.size):>9} {entry.tokens:>7,} tok")
        for path in entry.includes:
            print(f"{'':13} {paint.fit(f'  └ {paint.path(path)}', room).rstrip()}")


def print_skips(skips: Sequence[Skip], paint: Paint, most: int, more: str) -> None:
    """What is not loaded, by reason: the reason in words, then a line per file; the rest is counted."""
    groups: dict[str, list[Skip]] = {}
    for skip in skips:
        words = REASONS[skip.reason] if skip.reason != "missing" else "words with @ that name no file"
        groups.setdefault(f"{skip.reason}: {words}", []).append(skip)
    for title, group in groups.items():
        print(paint.wrap(title, 2))
        shown = group if len(group) <= most + 1 else group[:most]
        for skip in shown:
            print(paint.faint(paint.wrap(_describe_skip(skip), 6)))
        if len(shown) < len(group):
            print(paint.faint(f"      … and {len(group) - len(shown)} more ({more})"))


def _describe_skip(skip: Skip) -> str:
    """A file that is not loaded, in a line: where it is named, and what more is known."""
    line = f":{skip.line}" if skip.line else ""
    named = f" (in {skip.parent}{line})" if skip.parent else ""
    detail = f", {skip.detail}" if skip.detail and skip.detail != skip.path else ""
    return f"{skip.path}{detail}{named}" if skip.path != skip.parent else f"{skip.path}{detail}{line}"


def print_view_findings(findings: Sequence[Finding], paint: Paint, most: int | None = None, more: str = "") -> None:
    """What the authors of files should know, under a heading: file by file, line by line. What is said of several files
    is said once, below all of them."""
    from foretold.findings.registry import hint_of, sort_findings

    findings = list(dict.fromkeys(findings))
    if not findings:
        return
    print(f"\n{paint.bold(plural(len(findings), 'finding'))}\n")
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in sort_findings(findings):
        alike.setdefault((finding.code, finding.message, hint_of(finding)), []).append(finding)
    groups = list(alike.values())
    for at, group in enumerate(groups[:most]):
        path, hint = group[0].path, hint_of(group[0])
        follows = groups[at + 1 : at + 2]
        is_shared = bool(follows) and follows[0][0].path == path and hint_of(follows[0][0]) == hint
        _print_group(group, paint, "" if is_shared and at + 1 != most else hint)
    left = sum(map(len, groups[len(groups[:most]) :]))
    if left:
        print(f"  … and {plural(left, 'more finding')} ({more})")


MOST_FILES = 20  #: that are named above what is said of all of them, and lines of one


def _print_group(group: list[Finding], paint: Paint, hint: str) -> None:
    """One finding, or several that say the same: the files with their lines, what it is, what to do."""
    from foretold.findings.registry import severity_of

    lines: dict[str, list[str]] = {}
    for each in group:
        lines.setdefault(each.path, []).extend([str(each.line)] if each.line else [])
    what = f"{severity_of(group[0])} {group[0].code}"
    shown = (paint.red if what[0] == "e" else paint.bold)(what)
    for path, found in list(lines.items())[:MOST_FILES]:
        where = paint.path(path) + (":" + ",".join(found[:MOST_FILES]) if found else "")
        room = paint.width - 2 - (len(what) + 2 if len(lines) == 1 else 0)
        print(f"  {paint.fit(where, min(len(where), room))}" + (f"  {shown}" if len(lines) == 1 else ""))
    if len(lines) > MOST_FILES:
        print(f"  … and {plural(len(lines) - MOST_FILES, 'more file')} (--json)")
    if len(lines) > 1:
        print(f"    {shown}")
    print(paint.wrap(group[0].message, 6))
    if hint:
        print(paint.faint(paint.wrap(f"→ {hint}", 6)))


def print_findings(findings: Sequence[Finding], paint: Paint, file: TextIO | None = None) -> None:
    """Findings for people: where, how serious, what, and what to do. Equal hints in a row are printed once, last."""
    from foretold.findings.registry import hint_of, severity_of

    hints = [hint_of(finding) for finding in findings]
    for finding, hint, following in zip(findings, hints, [*hints[1:], ""], strict=False):
        where = paint.path(finding.path) + (f":{finding.line}" if finding.line else "")
        what = f"{severity_of(finding)} {finding.code}"
        where = paint.fit(where, min(len(where), paint.width - len(what) - 4))
        print(f"  {where}  {(paint.red if what[0] == 'e' else paint.bold)(what)}", file=file)
        print(paint.wrap(finding.message, 6), file=file)
        if not hint or hint == following:
            continue
        if hint.startswith(("foretold ", "chmod ")):  # whole and on its own line, to be copied
            print(f"      try: {printable(hint)}", file=file)
        else:
            print(paint.faint(paint.wrap(f"→ {hint}", 6)), file=file)


def confirm(question: str, *, yes: bool) -> bool:
    """Ask the user; without a terminal, only `--yes` agrees."""
    if yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed: add --yes to do it.", file=sys.stderr)
        return False
    try:
        return input(f"{printable(question)} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_MARK = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|>)\s+)?")


def fold(text: str, width: int) -> str:
    """A text in lines of at most this many cells."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
        is_kept = bool(fence or mark) or line.startswith(("    ", "\t")) or line.lstrip().startswith("|")
        lines += [line] if is_kept or _fits(line, width) else _break(line, width)
    return "\n".join(lines)


def _break(line: str, width: int) -> list[str]:
    found = _MARK.match(line)
    head = found[0] if found else ""
    under = " " * len(head)
    lines, now = [], head
    for word in line[len(head) :].split(" "):
        grown = f"{now} {word}" if now.strip() and now != head else now + word
        if _fits(grown, width) or now in (head, under):
            now = grown
        else:
            lines.append(now)
            now = under + word
    return [*lines, now]


def _fits(text: str, width: int) -> bool:
    return len(text) <= width and (text.isascii() or column(text, width).startswith(text))


_MESSAGE = re.compile(r"foretold[a-z ]*: ")
_COMMAND = re.compile(r"(?<=: )foretold [^;,()\n]+")


def wrap_message(text: str, width: int) -> str:
    """An error in lines that fit; a command in it stays whole, so that it can be copied.

    >>> wrap_message("foretold: no memory is named 'x'; see: foretold memory list", 40)
    "foretold: no memory is named 'x'; see:\\nforetold memory list"
    """
    lines = []
    for line in text.split("\n"):
        whole = _COMMAND.sub(lambda found: found[0].replace(" ", "\0"), line)
        parts = _break(whole, width) if line[:1] != " " and not _fits(line, width) else [whole]
        lines += [part.replace("\0", " ") for part in parts]
    return "\n".join(lines)


class ProgressLine:
    """A line on standard error that says how far long work is: only in a terminal, and after a second."""

    def __init__(self, doing: str, unit: str = "bytes") -> None:
        self._doing, self._unit, self._began, self._last = doing, unit, time.monotonic(), 0.0
        self._shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._began < 1 or now - self._last < 0.2:
            return
        self._last, self._shown = now, True
        share = f"{100 * done // total} %" if total else ""
        is_size = self._unit == "bytes"
        amount = f"{size(done)} of {size(total)}" if is_size else f"{done:,} of {total:,} {self._unit}"
        line = f"\r{printable(self._doing)}: {share} {amount}"[: _columns(2) - 1]
        write_controls(f"{line}\x1b[K")

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        if self._shown:
            write_controls("\r\x1b[K")
            self._shown = False


# What goes to a terminal

#: C0 but tabs and line ends, DEL, C1, marks and overrides of direction, line separators, what has no width and joins no
#: letters, interlinear notes, tags, half surrogates (bytes that are not UTF-8)
_TRICKS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
_HOSTILE = re.compile(rf"(\x1b\[(?:0|1|2|31)m)|[{_TRICKS}]|\r(?!\n)")
_IN_JSON = re.compile(f"[{_TRICKS}]")


def show_controls(text: str) -> str:
    """A text for a terminal: what would command it is shown.

    >>> show_controls("a\\x1b]0;title\\x07 b\\u202e")
    'a\\\\x1b]0;title\\\\x07 b\\\\x202e'
    """
    return _HOSTILE.sub(lambda found: found[1] or f"\\x{ord(found[0]):02x}", text)


def escape_json(text: str) -> str:
    """A JSON document with the same characters escaped: it stays the same document.

    >>> escape_json('{"a": "\\x9b\\u202e"}')
    '{"a": "\\\\u009b\\\\u202e"}'
    """
    return _IN_JSON.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class TerminalStream:
    """A stream that is a terminal. It has everything that the stream has. Messages (`foretold: …`) are wrapped."""

    def __init__(self, stream: TextIO, *, has_messages: bool = False) -> None:
        self._stream, self._has_messages = stream, has_messages

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        is_message = self._has_messages and _MESSAGE.match(text)
        self._stream.write(show_controls(wrap_message(text, _columns(2)) if is_message else text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def write_controls(self, text: str) -> None:
        """Write a text of our own, with what moves the cursor."""
        self._stream.write(text)


def guard_terminal() -> None:
    """Wrap standard output and standard error, each if it is a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty() and not isinstance(stream, TerminalStream):
            setattr(sys, name, TerminalStream(stream, has_messages=name == "stderr"))


def write_controls(text: str) -> None:
    """Write a text of our own to standard error, with what moves the cursor; it is flushed."""
    stream = sys.stderr
    stream.write_controls(text) if isinstance(stream, TerminalStream) else stream.write(text)
    stream.flush()
