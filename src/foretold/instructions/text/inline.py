"""Imports in place of their tokens: a file and what it imports become one text.

1. What a token is, where none is looked for, and what stands in its place are fields of the dialect (`Inline`). mink's
   is an `@` at the start or after white space, followed by `~`, `.`, `/`, a letter, digit, `_` or `-`; it reaches
   to the next white space, and closing punctuation behind the path stays where it is.
2. Code is left alone, blocks and spans: neither tokens nor comments are looked for there.
3. A comment goes, wherever else it stands, if the dialect says so; one without an end is text.
4. What a token names is put in its place, with its own tokens and comments treated alike, down to the dialect's depth.
   A file stands once in a text, or once in a chain of imports.
5. A token whose file is missing, refused or too deep stays as it is, and is a skip. So is one in code, in a comment or
   behind punctuation, if there is such a file: somebody may have meant it.
"""

from __future__ import annotations

import re

from foretold.dialects.schema import Inline
from foretold.dialects.surroundings import join, marked_top, user_home
from foretold.instructions.text.imports import MAX_PATH, is_contained, is_text
from foretold.instructions.text.marks import Mark, marks_of
from foretold.instructions.text.read import read_text
from foretold.storage.tree import Fault, is_inside
from foretold.types import TYPE_CHECKING, Finding, Skip

if TYPE_CHECKING:
    from foretold.instructions.engine import Run
    from foretold.instructions.origin import Origin
    from foretold.instructions.text.read import Text

CLOSING = ".,;:)]}"
NEARLY = "punctuation stands before the @"
MOST_MEANT = 200  #: tokens of one file that are looked at for what somebody may have meant
_MEANT = re.compile(r"@(?<![\w/.@+%\\#&?=]@)([~./A-Za-z0-9_-][^\s`\"'()<>\[\]{}|,;*\\#]*)")


class _Frame:
    """A file that is being put together."""

    __slots__ = (
        *("after", "at", "begun", "capped", "chain", "counted", "folder", "line", "marks", "origin", "path", "starts"),
        "text",
    )

    def __init__(
        self, path: str, real: str, text: Text, origin: Origin, run: Run, chain: frozenset[str] = frozenset()
    ) -> None:
        self.after, self.begun = "", 0  #: what follows its text, and where that began
        self.chain = chain  #: the files that led here
        self.path, self.text, self.at = path, text, 0
        self.folder = real.rpartition("/")[0] or "/"
        self.origin = origin
        self.capped: set[str] = set()
        self.line, self.counted = 1 + text.offset, 0
        marks, is_told = marks_of(text.shown, run.dialect.imports.inline)
        self.marks = iter(marks)
        self.starts = {mark.start for mark in marks}
        if not is_told:
            said = "too tangled to tell its code from its text: @ in code may have been taken for imports"
            run.findings.append(Finding(path, None, "markdown-nesting", said))

    def line_of(self, mark: Mark) -> int:
        """The line of a mark; marks are asked for in their order."""
        self.line += self.text.shown.count("\n", self.counted, mark.start)
        self.counted = mark.start
        return self.line


def expand(run: Run, path: str, real: str, text: Text, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """A text with what it imports in it, and the paths of those files."""
    if "@" not in text.shown and "<!--" not in text.shown:
        return text.shown, ()
    inline = run.dialect.imports.inline
    whole = Inlining(run, real, inline)
    done: list[str] = []
    chain = frozenset((real,)) if inline.top_counts else frozenset[str]()
    frames = [_Frame(path, real, text, origin, run, chain)]
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
    """What one text has in it already, and what was not to be had."""

    def __init__(self, run: Run, real: str, inline: Inline) -> None:
        self.run, self.inline = run, inline
        self.reals = {real} if inline.top_counts else set[str]()
        self.failed = dict(inline.failed)
        self.tried: dict[str, str | None] = {}  #: target -> what stands for it without reading it again
        self.homes = {"": run.surroundings.home}
        folder = real.rpartition("/")[0] or "/"
        self.root = ""  #: what every file must lie in, if that is not the working directory
        if inline.within == "project":
            self.root = marked_top(run.tree, folder, run.surroundings.markers) or folder
        self.paths: list[str] = []

    def follow(self, frame: _Frame, mark: Mark) -> _Frame | str | None:
        """A file to be put in place of a token; a text that is; None if the token stays."""
        target = self.target(mark.path, frame.folder)
        known = target or mark.path
        if known in self.tried:
            return self._said(self.tried[known], mark.path, target)
        if target in frame.capped:
            return None
        line, depth = frame.line_of(mark), frame.origin.depth + 1
        origin = frame.origin._replace(kind="import", parent=frame.path, line=line, depth=depth, wait=None)
        refusal = self.refusal(target, mark.path, origin)
        if refusal is not None and refusal.reason == "depth-cap":
            frame.capped.add(target)
            self.run.skips.append(refusal)
            return None
        text: Text | Fault
        if refusal is not None:
            text = Fault(refusal.reason, refusal.detail)
        else:
            text = read_text(self.run.tree, target, self.run.dialect, origin.kind)
        if not isinstance(text, Fault) and "\0" in text.raw and not self.failed:
            text = Fault("not-a-text-file", "it has NUL characters in it")
        if isinstance(text, Fault):
            self.tried[known] = self.failed.get(text.reason)
            self.run.skip(known, text.reason, origin, text.detail)
            return self._said(self.tried[known], mark.path, target)
        return self._enter(frame, target, mark.path, text, origin)

    def _enter(self, frame: _Frame, target: str, path: str, text: Text, origin: Origin) -> _Frame | str:
        real = self.run.tree.real(target)
        before = self.reals if self.inline.once == "text" else frame.chain
        if real in before:
            if self.inline.once == "text":
                self.tried[target] = self.inline.again
            return _filled(self.inline.again, path, target)
        self.reals.add(real)
        if target not in self.paths:
            self.paths.append(target)
            self.run.findings += text.findings
        if self.inline.once == "text":
            self.tried[target] = self.inline.again
        return _Frame(target, real, text, origin, self.run, frame.chain | {real})

    def _said(self, template: str | None, path: str, target: str) -> str | None:
        return None if template is None else _filled(template, path, target)

    def note_meant(self, frame: _Frame) -> None:
        """Tell the tokens of a file that are none, where there is a file of that name."""
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
                and self.run.tree.kind(target) == "file"
            ):
                before = text[found.start() - 1 : found.start()]
                is_code = not before.strip() or before == "`"
                line = text.count("\n", 0, found.start()) + 1 + frame.text.offset
                reason, detail = ("in-code", "code or a comment") if is_code else ("not-an-import", NEARLY)
                self.run.skips.append(Skip(target, reason, detail, frame.origin.layer, frame.path, line))

    def target(self, path: str, folder: str) -> str:
        """The path that a token names; empty if it is in the home of nobody."""
        if path[0] != "~":
            return join(folder, path)
        name, _, rest = path[1:].partition("/")
        if name not in self.homes:
            self.homes[name] = user_home(name)
        return join(self.homes[name], rest) if self.homes[name] else ""

    def _is_inside_project(self, target: str, written: str) -> bool:
        if written.startswith(("http://", "https://", "file://")) or (written[0] == "/" and not self.inline.absolute):
            return False
        return is_inside(target, self.root) and is_inside(self.run.tree.real(target), self.root)

    def refusal(self, target: str, written: str, origin: Origin) -> Skip | None:
        run, imports = self.run, self.run.dialect.imports
        reason = detail = ""
        if not target:
            target, reason, detail = written, "unknown-user", f"nobody here is called {written[1:].partition('/')[0]}"
        elif len(target) > MAX_PATH:
            reason, detail = "bad-name", f"{len(target)} characters"
        elif origin.depth > imports.depth:
            reason = "depth-cap"
        elif not is_text(target, imports):
            reason = "not-a-text-file"
        elif self.root:
            reason = "" if self._is_inside_project(target, written) else "outside-project"
        elif not is_inside(target, run.surroundings.cwd) and run.tree.kind(target) == "missing":
            return None  # nobody is asked to approve it
        elif not is_contained(target, origin.layer, imports, run.surroundings, run.tree):
            reason = "outside-project"
        if not reason and run.is_excluded(target, origin.layer):
            reason = "excluded"
        if not reason:
            return None
        if reason not in ("unknown-user", "bad-name") and not self.root and run.tree.kind(target) == "missing":
            reason = "missing"
        return Skip(target, reason, detail, origin.layer, origin.parent, origin.line)
