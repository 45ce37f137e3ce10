"""Imports in place of their tokens: a file and what it imports become one text.

1. What a token is, where none is looked for, and what replaces it are fields of the dialect (`Imports`). mink's is an
   `@` at the start or after white space, followed by `~`, `.`, `/`, a letter, digit, `_` or `-`; it ends at the next
   white space, and closing punctuation after the path stays where it is.
2. Code is left alone: neither tokens nor comments are looked for there. What counts as code is a field, too: the blocks
   and spans of Markdown, fences and spans alone, or anything between backticks. Reading takes linear time.
3. Block-level comments elsewhere are removed, if the dialect says so: those with nothing before them on their line but
   other such comments, white space and the markers of quotes and lists. A comment within a text stays, and so does
   what is in it; one without an end is text.
4. The text of the file replaces its token, with its own tokens and comments treated alike, down to the dialect's depth.
   A file is put in once in a text, or once in a chain of imports.
5. A token whose file is missing, refused or too deep stays as it is, and is a skip. So is one in code, in a comment or
   after punctuation, if its file exists: it may have been meant.
6. Flat imports follow the text instead: each file once, in a block that has its path. The first block has the folder of
   the file that imports; imports are visited from the last to the first, depth first. # gemini-cli: gemini-031
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from foretold.dialects.schema import Imports
from foretold.dialects.surroundings import join, marked_top, user_home
from foretold.instructions.render.escape import escape_html
from foretold.instructions.text.imports import MAX_PATH, is_contained, is_text
from foretold.instructions.text.read import FileText, read_text
from foretold.storage.tree import Fault, is_inside
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from typing import Any

    from foretold.instructions.engine import Loader
    from foretold.instructions.view import Origin
    from foretold.text.markdown.blocks import MarkdownBlock

CLOSING = ".,;:)]}"
NEARLY = "there is punctuation before the @"
MOST = 10_000  #: files that one text may name: each costs a few system calls, and a megabyte has room for 300,000
MOST_MEANT = 200  #: tokens of one file that are checked for what may have been meant
_NAME = r"[^\s`\"'()<>\[\]{}|,;*\\#]*"
_MEANT = re.compile(rf"@(?<![\w/.@+%\\#&?=]@)(?={_NAME}[./])([~./A-Za-z0-9_-]{_NAME})")


def expand(loader: Loader, path: str, real: str, text: FileText, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """A text with what it imports in it, and the paths of those files."""
    if "@" not in text.shown and "<!--" not in text.shown:
        return text.shown, ()
    first = path if loader.dialect.imports.linked == "link" else real
    whole = Inlining(loader, real, first.rpartition("/")[0] or "/", origin.layer)
    open_files = [whole.pieces(path, first, text, origin, frozenset(whole.reals))]
    while open_files:  # not by recursion: imports may be nested more deeply than calls
        piece = next(open_files[-1], None)
        if piece is None:
            open_files.pop()
        elif isinstance(piece, str):
            whole.done.append(piece)
        else:
            open_files.append(piece)
    return "".join(whole.done), tuple(whole.paths)


def _filled(template: str, path: str, target: str) -> str:
    return template.replace("{path}", path).replace("{target}", target)


class Inlining:
    """What one text has in it already, and what could not be imported."""

    def __init__(self, loader: Loader, real: str, folder: str, layer: str) -> None:
        self.loader, self.imports = loader, loader.dialect.imports
        self.reals = {real} if self.imports.top_counts else set[str]()
        self.failed = dict(self.imports.failed)
        self.tried: dict[str, str | None] = {}  #: target -> what replaces it, without reading it again
        self.homes = {"": loader.surroundings.home}
        self.root = ""  #: what every file must lie in, if that is not the working directory
        if self.imports.within == "repository":
            self.root = loader.surroundings.user if layer == "user" else loader.surroundings.top
        elif self.imports.within == "project":
            self.root = marked_top(loader.tree, folder, loader.surroundings.markers) or folder
        self.paths: dict[str, None] = {}
        self.count = 0  #: files that were tried
        self.done: list[str] = []

    def pieces(
        self, path: str, real: str, text: FileText, origin: Origin, chain: frozenset[str]
    ) -> Iterator[str | Iterator[Any]]:
        """The pieces of a text; those of an imported file are an iterator. `chain` has the files that led here."""
        imports, shown, folder = self.imports, text.shown, real.rpartition("/")[0] or "/"
        marks, is_exact = marks_of(shown, imports)
        if not is_exact:
            said = "nested too deeply to find its code: an @ in code may have been taken for an import"
            self.loader.findings.append(Finding(path, None, "markdown-nesting", said))
        capped: set[str] = set()
        stays: set[str] = set()  #: tokens that are known to stay: one may be there a hundred thousand times
        at = counted = 0
        line = 1 + text.offset
        for start, end, written in marks:
            if written in stays:
                continue
            line += shown.count("\n", counted, start)
            counted = start
            found: tuple[FileText, str] | str | None = "" if imports.comments else None
            target = self.target(written, folder) if written else ""
            if written and (target or written) in self.tried:
                found = self.tried[target or written]
            elif written:
                below = origin._replace(kind="import", parent=path, line=line, depth=origin.depth + 1, wait=None)
                is_left = target in capped or self.is_full(path)
                found = None if is_left else self.follow(target, written, below, chain, capped)
            if found is None:
                stays.add(written)
                continue
            yield shown[at:start]
            at = end
            named = self.attribute(target) if written and imports.named == "real" else target
            if isinstance(found, str):
                yield _filled(found, written, named)
                continue
            before, _, after = _filled(imports.found, written, named).partition("{text}")
            yield before
            begun = len(self.done)
            yield self.pieces(target, found[1], found[0], below, chain | {found[1]})
            if after and imports.trims:
                self.done[begun:] = ["".join(self.done[begun:]).rstrip()]
            yield after
        yield shown[at:]
        self.note_meant(path, folder, text, origin, marks)

    def is_full(self, path: str) -> bool:
        """Whether so many files were tried that no more are; the first time, a finding says so."""
        self.count += 1
        if self.count == MOST + 1:
            said = f"it names more than {MOST:,} files; what it names after them is not looked for"
            self.loader.findings.append(Finding(path, None, "markdown-nesting", said))
        return self.count > MOST

    def follow(
        self, target: str, written: str, origin: Origin, chain: frozenset[str], capped: set[str]
    ) -> tuple[FileText, str] | str | None:
        """A file to put in place of a token, with its real path; or a template; None if the token stays."""
        loader = self.loader
        reason, detail = self.refusal(target, written, origin)
        if reason == "depth-cap":
            capped.add(target)
            loader.skip(target, reason, origin, detail)
            return None
        text = Fault(reason, detail) if reason else read_text(loader.tree, target, loader.dialect, origin.kind)
        if not isinstance(text, Fault) and "\0" in text.raw and not self.failed:
            text = Fault("not-a-text-file", "it has NUL characters in it")
        if isinstance(text, Fault):
            loader.skip(target or written, text.reason, origin, text.detail)
            self.tried[target or written] = self.failed.get(text.reason)
            return self.tried[target or written]
        real = loader.tree.real(target)
        is_once = self.imports.once == "text"
        if is_once:
            self.tried[target] = self.imports.again
        if real in (self.reals if is_once else chain):
            return self.imports.again
        self.reals.add(real)
        if target not in self.paths:
            self.paths[target] = None
            loader.findings += text.findings
        return text, real

    def note_meant(
        self, path: str, folder: str, text: FileText, origin: Origin, marks: Sequence[tuple[int, int, str]]
    ) -> None:
        """Note what looks like a token of a file and is not one, if its file exists."""
        shown, seen = text.shown, set[tuple[str, bool]]()
        starts: set[int] | None = None  #: of the tokens
        for found in _MEANT.finditer(shown):
            written = found[1].rstrip(CLOSING)
            starts = {mark[0] for mark in marks} if starts is None else starts
            before = shown[found.start() - 1 : found.start()]
            is_code = not before.strip() or before == "`"
            is_path = "/" in written or "." in written.strip(".")
            if found.start() in starts or not is_path or (written, is_code) in seen:
                continue
            seen.add((written, is_code))
            if len(seen) > MOST_MEANT:
                return
            target = self.target(written, folder)
            is_known = not target or (is_code and (target in self.tried or target in self.paths))
            if not is_known and self.loader.tree.kind(target) == "file":
                line = shown.count("\n", 0, found.start()) + 1 + text.offset
                reason, detail = ("in-code", "code or a comment") if is_code else ("not-an-import", NEARLY)
                self.loader.skips.append(Skip(target, reason, detail, origin.layer, path, line))

    def attribute(self, target: str) -> str:
        """The real path of a file, as the value of an attribute. An apostrophe stays: seen on Copilot CLI 1.0.102."""
        return escape_html(self.loader.tree.real(target)).replace("&apos;", "'")

    def target(self, path: str, folder: str) -> str:
        """The path that a token names; empty if it is in the home of an unknown user."""
        if path[0] != "~" or self.imports.form == "copilot":
            return join(folder, path)
        name, _, rest = path[1:].partition("/")
        if name not in self.homes:
            self.homes[name] = user_home(name)
        return join(self.homes[name], rest) if self.homes[name] else ""

    def _is_inside_project(self, target: str, written: str) -> bool:
        if written.startswith(("http://", "https://", "file://")) or (written[0] == "/" and not self.imports.absolute):
            return False
        is_led_in = self.imports.through_links or is_inside(self.loader.tree.real(target), self.root)
        return is_led_in and is_inside(target, self.root)

    def refusal(self, target: str, written: str, origin: Origin) -> tuple[str, str]:
        """The reason and its detail why a token is not followed; two empty texts if it is."""
        loader, imports = self.loader, self.loader.dialect.imports
        if not target:
            return "unknown-user", f"there is no user {written[1:].partition('/')[0]}"
        if len(target) > MAX_PATH:
            return "bad-name", f"{len(target)} characters"
        reason = ""
        if origin.depth > imports.depth:
            reason = "depth-cap"
        elif not is_text(target, imports):
            reason = "not-a-text-file"
        elif self.root:
            reason = "" if self._is_inside_project(target, written) else "outside-project"
        elif not is_inside(target, loader.surroundings.cwd) and loader.tree.kind(target) == "missing":
            return "", ""  # there is nothing to approve
        elif not is_contained(target, origin.layer, imports, loader.surroundings, loader.tree):
            reason = "outside-project"
        if not reason and loader.is_excluded(target, origin.layer):
            reason = "excluded"
        if reason and not self.root and loader.tree.kind(target) == "missing":
            reason = "missing"
        return reason, ""


#: what is looked for: backticks, a comment, a token
_TOKENS = {
    "mink": re.compile(r"`+|<!--|(?<!\S)@(?=[~./A-Za-z0-9_-])[^\s<]+(?:<(?!!--)[^\s<]*)*"),
    "gemini": re.compile(r"`+|(?<![^ \t\r\n])@(?=[./A-Za-z])[^ \t\r\n]+"),
    # seen by asking 1.0.102 with every punctuation mark before, after and in a name
    "copilot": re.compile(r"`+|(?<![A-Za-z0-9._%+-])@(?!@|~/)[^\s`\"'<>]+"),
}
_CLOSING = {"mink": CLOSING, "gemini": "", "copilot": "!),.:;?]}"}
_MAY_BE_CODE = re.compile(r"(?m)```|~~~|^[ >*+.)0-9-]*?(?: {4}|\t)")
_MARGIN = r"(?:[ \t]*(?:>|[*+-][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*"
_EMPTY = re.compile(_MARGIN)
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\r?\n|[>#]|```|~~~|[*+-][ \t]|[0-9]{1,9}[.)][ \t])")
_HEADING = re.compile(_MARGIN + r"#{1,6}[ \t]")
_FENCE = re.compile(_MARGIN + r"(`{3,}(?!.*`)|~{3,})")


class ImportMark(NamedTuple):
    """A comment at the level of a block, or a token with its path, in running text."""

    start: int
    end: int
    path: str  #: empty for a comment


def marks_of(text: str, imports: Imports = Imports()) -> tuple[list[ImportMark], bool]:  # noqa: B008 - a value
    """The marks of a text in order, and whether its code blocks could be found."""
    if "<!--" not in text and "@" not in text:
        return [], True
    blocks: list[tuple[int, int]] = []
    is_exact = True
    if imports.regions == "markdown":
        blocks, is_exact = _code_blocks(text)
    elif imports.regions == "fences" and ("```" in text or "~~~" in text):
        lines = text.split("\n")
        blocks = _offsets(lines, _fences(lines))
    if not blocks and "`" not in text and (imports.form != "mink" or "<!--" not in text):
        return _plain_marks(text, imports), is_exact
    return list(_marks(text, blocks, imports)), is_exact


def _plain_marks(text: str, imports: Imports) -> list[ImportMark]:
    """The marks of a text without code and comments: all of them are tokens. Twice as fast."""
    closing = _CLOSING[imports.form]
    paths: dict[str, str] = {}
    marks = []
    for found in _TOKENS[imports.form].finditer(text):
        token, start = found[0], found.start()
        path = paths.get(token)
        if path is None:
            path = paths[token] = token[1:].rstrip(closing)
        if path and (imports.form != "copilot" or _is_path(path)):
            marks.append(ImportMark(start, start + 1 + len(path), path))
    return marks


def _marks(text: str, blocks: list[tuple[int, int]], imports: Imports) -> Iterator[ImportMark]:
    at = block = 0
    spans = _Spans(text, bounded=imports.regions != "backticks")
    search, closing = _TOKENS[imports.form].search, _CLOSING[imports.form]
    is_open = True  #: whether a comment may still end
    is_clear = True  #: whether nothing is on the line before `at`
    while found := search(text, at):
        last, (start, at) = at, found.span()
        while block < len(blocks) and blocks[block][1] <= start:
            block += 1
        was_clear, is_clear = is_clear, False
        if block < len(blocks) and blocks[block][0] <= start:
            at = blocks[block][1]
            is_clear = True
        elif text[start] == "`":
            at = spans.end(start, at)
        elif text[start] == "@":
            path = found[0][1:].rstrip(closing)
            if path and (imports.form != "copilot" or _is_path(path)):
                yield ImportMark(start, start + 1 + len(path), path)
        elif is_open:
            end = text.find("-->", at)
            is_open = end >= 0
            if is_open:
                at = end + 3
                is_clear = _is_at_margin(text, last, start, is_clear=was_clear)
                if is_clear:
                    yield ImportMark(start, at, "")


def _is_at_margin(text: str, last: int, start: int, *, is_clear: bool) -> bool:
    """Whether a line has nothing in it before `start`; `is_clear` says so of what is before `last`."""
    line = text.rfind("\n", last, start) + 1
    if not line and not is_clear:
        return False
    return _EMPTY.fullmatch(text, line or last, start) is not None


def _is_path(name: str) -> bool:
    """Whether a name is taken for that of a file: `@alice` is not. # seen on Copilot CLI 1.0.102"""
    return ("." in name or "/" in name) and not name.endswith("/")


class _Spans:
    """Where spans of code end: at the next run of as many backticks in the same paragraph.

    Where a span is not `bounded`, it ends at the next run of at least as many, anywhere.
    """

    __slots__ = ("bounded", "heading_end", "limit", "line_end", "longest", "runs", "starts", "text")

    def __init__(self, text: str, *, bounded: bool) -> None:
        self.text, self.limit, self.bounded = text, -1, bounded
        self.runs: dict[int, list[int]] | None = None  #: width -> where runs of so many backticks are
        self.starts: list[int] | None = None  #: of all runs
        self.longest: list[int] = []  #: of each and those after it, how long the longest is
        self.line_end = self.heading_end = -1  #: of the line that was looked at last; of a heading, else no limit

    def _end_anywhere(self, start: int, end: int) -> int:
        r"""Where `(`+)([\s\S]*?)\1` ends: the run gives back backticks until as many follow, in it or later."""
        if self.starts is None:
            found = [match.span() for match in re.finditer("`+", self.text)]
            self.starts = [at for at, _ in found]
            lengths = accumulate((after - at for at, after in reversed(found)), max)
            self.longest = [*lengths][::-1]
        at = bisect_left(self.starts, end)
        half = (end - start) // 2
        width = min(end - start, self.longest[at] if at < len(self.longest) else 0)
        if width > half:
            return self.text.index("`" * width, end) + width
        return start + 2 * half if half else end

    def end(self, start: int, end: int) -> int:
        if not self.bounded:
            return self._end_anywhere(start, end)
        before = self.text[max(0, start - 100) : start]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            start += 1  # the first one is escaped
        if self.runs is None:
            self.runs = {}
            for found in re.finditer("`+", self.text):
                self.runs.setdefault(len(found[0]), []).append(found.start())
        runs = self.runs.get(end - start, [])
        at = bisect_left(runs, end)
        if at == len(runs) or runs[at] > self._paragraph_end(end):
            return end
        return runs[at] + end - start

    def _paragraph_end(self, at: int) -> int:
        if self.limit < at:
            found = _PARAGRAPH_END.search(self.text, at)
            self.limit = found.start() if found else len(self.text)
        if at > self.line_end:  # the same line is asked about many times, and may be long
            line = max(self.line_end, self.text.rfind("\n", max(0, self.line_end), at)) + 1
            self.line_end = self.text.find("\n", at) % (len(self.text) + 1)
            self.heading_end = self.line_end if _HEADING.match(self.text, line) else len(self.text)
        return min(self.limit, self.heading_end)


def _code_blocks(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Start and end of the code blocks of a text, and whether all could be found; else these are the fenced ones."""
    if not _MAY_BE_CODE.search(text):
        return [], True
    from foretold.text.markdown.blocks import Effort, TangledError, cut

    lines = text.split("\n")
    plain = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
    effort = Effort(len(text))

    def ranges(blocks: list[MarkdownBlock] | tuple[MarkdownBlock, ...], first: int) -> Iterator[tuple[int, int]]:
        for block in blocks:
            if block.kind in ("code", "fence"):
                yield first + block.start, first + block.end
            elif block.kind == "quote":
                yield from ranges(block.blocks, first + block.start)
            elif block.kind == "list":
                for item in block.items:
                    if _MAY_BE_CODE.search("\n".join(item.lines)):
                        below = cut(item.lines, effort, top=False, depth=1)
                        yield from ranges(below, first + item.start)

    is_exact = True
    try:
        found = list(ranges(cut(plain, effort), 0))
    except (TangledError, RecursionError):
        found, is_exact = list(_fences(plain)), False
    return _offsets(lines, found), is_exact


def _offsets(lines: list[str], ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of lines as ranges of characters."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return [(starts[first], starts[end]) for first, end in ranges]


def _fences(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First line and end of fenced code, wherever it is."""
    opening, start = "", 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if not found:
            continue
        if not opening:
            opening, start = found[1], number
        elif found[1][0] == opening[0] and len(found[1]) >= len(opening) and not line[found.end() :].strip():
            yield start, number + 1
            opening = ""
    if opening:
        yield start, len(lines)


BLOCK = "--- File: {path} ---\n{text}\n--- End of File: {path} ---"


def expand_flat(loader: Loader, real: str, text: FileText, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """A text with the files that it imports after it, and their paths."""
    folder = real.rpartition("/")[0] or "/"
    whole = Inlining(loader, real, folder, origin.layer)
    waiting: list[tuple[str, str, FileText, int]] = [(folder, folder, text, 0)]
    seen: set[str] = set()
    blocks: list[str] = []
    while waiting:
        path, base, found, depth = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        blocks.append(BLOCK.format(path=path, text=trim(found.shown)))
        if depth >= loader.dialect.imports.depth:
            continue
        below = origin._replace(kind="import", parent=path, depth=depth + 1)
        marks = dict.fromkeys(mark.path for mark in reversed(marks_of(found.shown, whole.imports)[0]))
        for written in reversed(
            marks
        ):  # the last is taken from the stack first; of equal ones, the others are seen then
            if whole.is_full(path):
                break
            target = whole.target(written, base)
            if not whole.refusal(target, written, below)[0]:
                more = read_text(loader.tree, target, loader.dialect, "import")
                if isinstance(more, Fault):
                    loader.skip(target, more.reason, below, more.detail)
                else:
                    waiting.append((target, target.rpartition("/")[0] or "/", more, depth + 1))
    return "\n\n".join(blocks), tuple(path for path in seen if path != folder)
