"""Imports in place of their tokens: a file and what it imports become one text.

1. What a token is, where none is looked for, and what replaces it are fields of the dialect (`Inline`). mink's is an
   `@` at the start or after white space, followed by `~`, `.`, `/`, a letter, digit, `_` or `-`; it ends at the next
   white space, and closing punctuation after the path stays where it is.
2. Code is left alone: neither tokens nor comments are looked for there. What counts as code is a field, too: the blocks
   and spans of Markdown, fences and spans alone, or anything between backticks. Reading takes linear time.
3. Comments elsewhere are removed, if the dialect says so; one without an end is text.
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
from collections.abc import Callable, Iterable, Iterator

from foretold.dialects.schema import Inline
from foretold.dialects.surroundings import join, marked_top, user_home
from foretold.instructions.text.imports import MAX_PATH, is_contained, is_text
from foretold.instructions.text.read import FileText, read_text
from foretold.storage.tree import Fault, is_inside
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.instructions.engine import Loader
    from foretold.instructions.text.read import FileText
    from foretold.instructions.view import Origin
    from foretold.text.markdown.blocks import MarkdownBlock


CLOSING = ".,;:)]}"
NEARLY = "there is punctuation before the @"
MOST_MEANT = 200  #: tokens of one file that are checked for what may have been meant
_MEANT = re.compile(r"@(?<![\w/.@+%\\#&?=]@)([~./A-Za-z0-9_-][^\s`\"'()<>\[\]{}|,;*\\#]*)")


class _Frame:
    """A file that is being put together."""

    __slots__ = (
        *("after", "at", "begun", "capped", "chain", "counted", "folder", "line", "marks", "origin", "path", "starts"),
        "text",
    )

    def __init__(
        self,
        path: str,
        real: str,
        text: FileText,
        origin: Origin,
        loader: Loader,
        chain: frozenset[str] = frozenset(),
    ) -> None:
        self.after, self.begun = "", 0  #: what follows its text, and where that began
        self.chain = chain  #: the files that led here
        self.path, self.text, self.at = path, text, 0
        self.folder = real.rpartition("/")[0] or "/"
        self.origin = origin
        self.capped: set[str] = set()
        self.line, self.counted = 1 + text.offset, 0
        marks, is_exact = marks_of(text.shown, loader.dialect.imports.inline)
        self.marks = iter(marks)
        self.starts = {mark.start for mark in marks}
        if not is_exact:
            said = "nested too deeply to find its code: an @ in code may have been taken for an import"
            loader.findings.append(Finding(path, None, "markdown-nesting", said))

    def line_of(self, mark: ImportMark) -> int:
        """The line of a mark; marks are asked for in their order."""
        self.line += self.text.shown.count("\n", self.counted, mark.start)
        self.counted = mark.start
        return self.line


def expand(loader: Loader, path: str, real: str, text: FileText, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """A text with what it imports in it, and the paths of those files."""
    if "@" not in text.shown and "<!--" not in text.shown:
        return text.shown, ()
    inline = loader.dialect.imports.inline
    whole = Inlining(loader, real, inline)
    done: list[str] = []
    chain = frozenset((real,)) if inline.top_counts else frozenset[str]()
    frames = [_Frame(path, real, text, origin, loader, chain)]
    while frames:
        frame = frames[-1]
        mark = next(frame.marks, None)
        if mark is None:
            done.append(frame.text.shown[frame.at :])
            whole.note_meant(frames.pop())
            if frame.after:
                if inline.trims:
                    done[frame.begun :] = ["".join(done[frame.begun :]).rstrip()]
                done.append(frame.after)
            continue
        below = whole.follow(frame, mark) if mark.path else "" if inline.comments else None
        if below is None:
            continue
        done.append(frame.text.shown[frame.at : mark.start])
        frame.at = mark.end
        if isinstance(below, str):
            done.append(below)
        else:
            before, _, below.after = _filled(inline.found, mark.path, below.path).partition("{text}")
            done.append(before)
            below.begun = len(done)
            frames.append(below)
    return "".join(done), tuple(whole.paths)


def _filled(template: str, path: str, target: str) -> str:
    return template.replace("{path}", path).replace("{target}", target)


class Inlining:
    """What one text has in it already, and what could not be imported."""

    def __init__(self, loader: Loader, real: str, inline: Inline) -> None:
        self.loader, self.inline = loader, inline
        self.reals = {real} if inline.top_counts else set[str]()
        self.failed = dict(inline.failed)
        self.tried: dict[str, str | None] = {}  #: target -> what replaces it, without reading it again
        self.homes = {"": loader.surroundings.home}
        folder = real.rpartition("/")[0] or "/"
        self.root = ""  #: what every file must lie in, if that is not the working directory
        if inline.within == "project":
            self.root = marked_top(loader.tree, folder, loader.surroundings.markers) or folder
        self.paths: list[str] = []

    def follow(self, frame: _Frame, mark: ImportMark) -> _Frame | str | None:
        """A file to be put in place of a token; a text that is; None if the token stays."""
        target = self.target(mark.path, frame.folder)
        known = target or mark.path
        if known in self.tried:
            return self._replacement(self.tried[known], mark.path, target)
        if target in frame.capped:
            return None
        line, depth = frame.line_of(mark), frame.origin.depth + 1
        origin = frame.origin._replace(kind="import", parent=frame.path, line=line, depth=depth, wait=None)
        refusal = self.refusal(target, mark.path, origin)
        if refusal is not None and refusal.reason == "depth-cap":
            frame.capped.add(target)
            self.loader.skips.append(refusal)
            return None
        text: FileText | Fault
        if refusal is not None:
            text = Fault(refusal.reason, refusal.detail)
        else:
            text = read_text(self.loader.tree, target, self.loader.dialect, origin.kind)
        if not isinstance(text, Fault) and "\0" in text.raw and not self.failed:
            text = Fault("not-a-text-file", "it has NUL characters in it")
        if isinstance(text, Fault):
            self.tried[known] = self.failed.get(text.reason)
            self.loader.skip(known, text.reason, origin, text.detail)
            return self._replacement(self.tried[known], mark.path, target)
        return self._enter(frame, target, mark.path, text, origin)

    def _enter(self, frame: _Frame, target: str, path: str, text: FileText, origin: Origin) -> _Frame | str:
        real = self.loader.tree.real(target)
        before = self.reals if self.inline.once == "text" else frame.chain
        if real in before:
            if self.inline.once == "text":
                self.tried[target] = self.inline.again
            return _filled(self.inline.again, path, target)
        self.reals.add(real)
        if target not in self.paths:
            self.paths.append(target)
            self.loader.findings += text.findings
        if self.inline.once == "text":
            self.tried[target] = self.inline.again
        return _Frame(target, real, text, origin, self.loader, frame.chain | {real})

    def _replacement(self, template: str | None, path: str, target: str) -> str | None:
        return None if template is None else _filled(template, path, target)

    def note_meant(self, frame: _Frame) -> None:
        """Note what looks like a token of a file and is not one, if its file exists."""
        text, seen = frame.text.shown, set[str]()
        for found in _MEANT.finditer(text):
            path = found[1].rstrip(CLOSING)
            if found.start() in frame.starts or not ("/" in path or "." in path.strip(".")) or path in seen:
                continue
            seen.add(path)
            if len(seen) > MOST_MEANT:
                return
            target = self.target(path, frame.folder)
            if (
                target
                and target not in self.tried
                and target not in self.paths
                and self.loader.tree.kind(target) == "file"
            ):
                before = text[found.start() - 1 : found.start()]
                is_code = not before.strip() or before == "`"
                line = text.count("\n", 0, found.start()) + 1 + frame.text.offset
                reason, detail = ("in-code", "code or a comment") if is_code else ("not-an-import", NEARLY)
                self.loader.skips.append(Skip(target, reason, detail, frame.origin.layer, frame.path, line))

    def target(self, path: str, folder: str) -> str:
        """The path that a token names; empty if it is in the home of an unknown user."""
        if path[0] != "~":
            return join(folder, path)
        name, _, rest = path[1:].partition("/")
        if name not in self.homes:
            self.homes[name] = user_home(name)
        return join(self.homes[name], rest) if self.homes[name] else ""

    def _is_inside_project(self, target: str, written: str) -> bool:
        if written.startswith(("http://", "https://", "file://")) or (written[0] == "/" and not self.inline.absolute):
            return False
        return is_inside(target, self.root) and is_inside(self.loader.tree.real(target), self.root)

    def refusal(self, target: str, written: str, origin: Origin) -> Skip | None:
        loader, imports = self.loader, self.loader.dialect.imports
        reason = detail = ""
        if not target:
            target, reason, detail = written, "unknown-user", f"there is no user {written[1:].partition('/')[0]}"
        elif len(target) > MAX_PATH:
            reason, detail = "bad-name", f"{len(target)} characters"
        elif origin.depth > imports.depth:
            reason = "depth-cap"
        elif not is_text(target, imports):
            reason = "not-a-text-file"
        elif self.root:
            reason = "" if self._is_inside_project(target, written) else "outside-project"
        elif not is_inside(target, loader.surroundings.cwd) and loader.tree.kind(target) == "missing":
            return None  # there is nothing to approve
        elif not is_contained(target, origin.layer, imports, loader.surroundings, loader.tree):
            reason = "outside-project"
        if not reason and loader.is_excluded(target, origin.layer):
            reason = "excluded"
        if not reason:
            return None
        if reason not in ("unknown-user", "bad-name") and not self.root and loader.tree.kind(target) == "missing":
            reason = "missing"
        return Skip(target, reason, detail, origin.layer, origin.parent, origin.line)


#: what is looked for: backticks, a comment, a token
_TOKENS = {
    "mink": re.compile(r"`+|<!--|(?<!\S)@(?=[~./A-Za-z0-9_-])[^\s<]+(?:<(?!!--)[^\s<]*)*"),
    "gemini": re.compile(r"`+|(?<![^ \t\r\n])@(?=[./A-Za-z])[^ \t\r\n]+"),
    "copilot": re.compile(r"`+|(?<![\w`@/.])@(?=[./A-Za-z0-9_-])[^\s(),`]+"),
}
_CLOSING = {"mink": ".,;:)]}", "gemini": "", "copilot": "."}
_MAY_BE_CODE = re.compile(r"(?m)```|~~~|^[ >*+.)0-9-]*?(?: {4}|\t)")
_MARGIN = r"(?:[ \t]*(?:>|[*+-][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*"
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\r?\n|[>#]|```|~~~|[*+-][ \t]|[0-9]{1,9}[.)][ \t])")
_HEADING = re.compile(_MARGIN + r"#{1,6}[ \t]")
_FENCE = re.compile(_MARGIN + r"(`{3,}(?!.*`)|~{3,})")


class ImportMark(NamedTuple):
    """A comment, or a token with its path, in running text."""

    start: int
    end: int
    path: str  #: empty for a comment


def marks_of(text: str, inline: Inline = Inline()) -> tuple[list[ImportMark], bool]:  # noqa: B008 - a value
    """The marks of a text in order, and whether its code blocks could be found."""
    if "<!--" not in text and "@" not in text:
        return [], True
    blocks, is_exact = REGIONS[inline.regions](text)
    return list(_marks(text, blocks, inline)), is_exact


def _marks(text: str, blocks: list[tuple[int, int]], inline: Inline) -> Iterator[ImportMark]:
    at = block = 0
    spans = _Spans(text, bounded=inline.regions != "backticks")
    search, closing = _TOKENS[inline.form].search, _CLOSING[inline.form]
    is_open = True  #: whether a comment may still end
    while found := search(text, at):
        start, at = found.span()
        while block < len(blocks) and blocks[block][1] <= start:
            block += 1
        if block < len(blocks) and blocks[block][0] <= start:
            at = blocks[block][1]
        elif text[start] == "`":
            at = spans.end(start, at)
        elif text[start] == "@":
            end = start + 1 + len(found[0][1:].rstrip(closing))
            if end > start + 1:
                yield ImportMark(start, end, text[start + 1 : end])
        elif is_open:
            end = text.find("-->", at)
            is_open = end >= 0
            if is_open:
                at = end + 3
                yield ImportMark(start, at, "")


class _Spans:
    """Where spans of code end: at the next run of as many backticks in the same paragraph.

    Where a span is not `bounded`, it ends at the next run of at least as many, anywhere.
    """

    __slots__ = ("bounded", "limit", "loaders", "text")

    def __init__(self, text: str, *, bounded: bool = True) -> None:
        self.text, self.limit, self.bounded = text, -1, bounded
        self.loaders: dict[int, list[int]] | None = None

    def end(self, start: int, end: int) -> int:
        if not self.bounded:
            closing = self.text.find(self.text[start:end], end)
            return closing + end - start if closing >= 0 else self._shorter(start, end)
        before = self.text[max(0, start - 100) : start]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            start += 1  # the first one is escaped
        if self.loaders is None:
            self.loaders = {}
            for found in re.finditer("`+", self.text):
                self.loaders.setdefault(len(found[0]), []).append(found.start())
        loaders = self.loaders.get(end - start, [])
        at = bisect_left(loaders, end)
        if at == len(loaders) or loaders[at] > self._paragraph_end(end):
            return end
        return loaders[at] + end - start

    def _shorter(self, start: int, end: int) -> int:
        """Where a run ends a span of fewer backticks: `(`+)([\\s\\S]*?)\\1` gives back until it matches."""
        for width in range(end - start - 1, 0, -1):
            closing = self.text.find("`" * width, start + width)
            if closing >= 0:
                return closing + width
        return end

    def _paragraph_end(self, at: int) -> int:
        if self.limit < at:
            found = _PARAGRAPH_END.search(self.text, at)
            self.limit = found.start() if found else len(self.text)
        line = self.text.rfind("\n", 0, at) + 1
        if _HEADING.match(self.text, line):
            return min(self.limit, self.text.find("\n", at) % (len(self.text) + 1))
        return self.limit


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


def _fenced_blocks(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Start and end of fenced code, wherever it is; indented code is text."""
    lines = text.split("\n") if "```" in text or "~~~" in text else []
    return _offsets(lines, _fences(lines)), True


#: where no token is looked for, by name: backticks are seen to as the text is read
REGIONS: dict[str, Callable[[str], tuple[list[tuple[int, int]], bool]]] = {
    "markdown": _code_blocks,
    "fences": _fenced_blocks,
    "backticks": lambda _: ([], True),
}


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
    inline = loader.dialect.imports.inline
    whole = Inlining(loader, real, inline)
    folder = real.rpartition("/")[0] or "/"
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
        for mark in marks_of(found.shown, inline)[0]:  # the last is taken from the stack first
            target = whole.target(mark.path, base)
            below = origin._replace(kind="import", parent=path, depth=depth + 1)
            if whole.refusal(target, mark.path, below) is None:
                more = read_text(loader.tree, target, loader.dialect, "import")
                if isinstance(more, Fault):
                    loader.skip(target, more.reason, below, more.detail)
                else:
                    waiting.append((target, target.rpartition("/")[0] or "/", more, depth + 1))
    return "\n\n".join(blocks), tuple(path for path in seen if path != folder)
