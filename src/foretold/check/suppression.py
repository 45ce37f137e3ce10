"""Findings that a comment in a file, or a setting for a file, keeps back.

1. A comment names rules or families: `foretold: ignore CODE, CODE`, perhaps with `: the reason` after them. Alone in
   its line, it is about the next line that has text; else about its own line. `ignore-file` is about the whole file.
2. It is written as the file has comments: `<!-- … -->` in Markdown, `#` in the frontmatter and in TOML and YAML, `//`
   in JSON with comments. In code that Markdown shows it is an example, and means nothing.
3. It must cost no tokens: one that an agent in use is sent with the file does not count, and is a finding. Most agents
   send HTML comments; Claude Code takes out those that are a block of their own. What an agent is sent is known from
   loading (`project`), so this is asked, not guessed. Of skills, agents and commands only the frontmatter is known not
   to be sent.
4. A comment that keeps nothing back, or names no rule, is a finding, and can be removed safely. Where only some rules
   or agents were asked about, it is not known whether it does, and nothing is said. A comment with a word in the place
   of `ignore` that is nearly that, or is followed by the name of a rule, is a finding as well; only its author knows
   what it was meant to keep back, so nothing is fixed.
5. `per-file-ignores` of the settings come after comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate

from foretold.check.finding import CheckFinding, Fix, TextEdit
from foretold.check.project import MAX_TEXT, Project
from foretold.check.settings import CheckSettings, check_rules
from foretold.findings.registry import CHECKED, family_of
from foretold.storage.tree import Fault, is_inside
from foretold.text.globs.npm_ignore import IgnoreMatcher
from foretold.text.markdown.lines import closes_fence, fence_of
from foretold.types import NamedTuple

MARK = "foretold:"
_WORDS = re.compile(r"foretold:[ \t]*(ignore(?:-file)?)\b([^\n]*)")
_SLIP = re.compile(r"foretold:[ \t]*([A-Za-z][\w-]{0,40})\b([^\n]*)")
_OPENING = {"<!--": "html", "#": "hash", "//": "slash"}
#: how the names of files end, by the comments that they can have
_MARKDOWN = (".md", ".mdc", ".markdown", ".mdx", ".txt", "rules", "goosehints")
_HASH, _SLASH = (".toml", ".yaml", ".yml"), (".jsonc", ".json5")
MOST, MOST_RULES = 1000, 50  #: comments of one file, and rules of one comment
MOST_GUESSED = 200  #: wrong names for which it is guessed what was meant: that takes a millisecond each


class IgnoreComment(NamedTuple):
    """A comment that keeps findings back."""

    line: int
    target: int | None  #: the line that it is about; None: the whole file
    rules: tuple[str, ...]
    text: str  #: as it is written
    is_html: bool
    is_alone: bool  #: whether nothing else is in its line
    slip: str = ""  #: what it says in the place of `ignore`; then it has no rules


class SuppressedFindings(NamedTuple):
    """What is left of the findings, with those about comments; and how many were kept back."""

    findings: list[CheckFinding]
    ignored: int


def suppress_findings(
    findings: Iterable[CheckFinding], project: Project, settings: CheckSettings
) -> SuppressedFindings:
    """Take out what comments and settings for files ignore."""
    found = list(findings)
    comments = _Comments(project, settings, found)
    ignores = _FileIgnores(project, settings)
    kept = [each for each in found if not comments.ignore(each) and not ignores.ignore(each)]
    problems = [each for each in comments.list_problems() if settings.is_selected(each.code)]
    problems = [each for each in problems if not ignores.ignore(each)]
    return SuppressedFindings([*kept, *problems], len(found) - len(kept))


class _FileIgnores:
    """`per-file-ignores` of the settings; each path is compared with the patterns once."""

    def __init__(self, project: Project, settings: CheckSettings) -> None:
        self.project = project
        ignores = settings.per_file_ignores.items()
        self._ignores = [(IgnoreMatcher([pattern]), rules) for pattern, rules in ignores]
        self._rules: dict[str, set[str]] = {}  #: path -> the rules that are ignored there

    def ignore(self, finding: CheckFinding) -> bool:
        """Whether the settings ignore a finding."""
        path = finding.path
        if not self._ignores or not is_inside(path, self.project.top):
            return False
        if path not in self._rules:
            inside = self.project.relative(path)
            named = [rules for matcher, rules in self._ignores if matcher.matches(inside)]
            self._rules[path] = {rule for rules in named for rule in rules}
        return not self._rules[path].isdisjoint((finding.code, family_of(finding.code)))


# Comments of a file


def find_comments(path: str, text: str) -> list[IgnoreComment]:
    """The comments of a text that keep findings back.

    >>> find_comments("a.md", "<!-- foretold: ignore import-missing -->\\n\\nSee @docs/a.md\\n")[0][:3]
    (1, 3, ('import-missing',))
    """
    if MARK not in text:
        return []
    lines = text.split("\n")
    marked = [at for at, line in enumerate(lines) if MARK in line and _find_words(line)][:MOST]
    kinds = _list_kinds(path, lines) if marked else {}
    found = []
    for at in marked:
        comment = _parse_comment(lines[at].rstrip("\r"), at, kinds.get(at, ""))
        if comment is not None:
            found.append(comment)
    return _aim_all(found, lines)


def _list_kinds(path: str, lines: list[str]) -> dict[int, str]:
    """The kind of comment that counts in each line of a file; none in those that are left out."""
    if path.endswith(_HASH):
        return dict.fromkeys(range(len(lines)), "hash")
    if path.endswith(_SLASH):
        return dict.fromkeys(range(len(lines)), "slash")
    if not path.lower().endswith(_MARKDOWN):
        return {}
    front = _count_front(lines)
    kinds = dict.fromkeys(range(1, front), "hash")
    fence = ""
    for at in range(front, len(lines)):
        line = lines[at].rstrip("\r")
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif fence_of(line):
            fence = fence_of(line)
        elif not line.startswith(("    ", "\t")):
            kinds[at] = "html"
    return kinds


def _count_front(lines: list[str]) -> int:
    """The lines of a frontmatter, with those that open and close it; 0 if there is none."""
    if lines[0].removeprefix("\ufeff").rstrip() != "---":
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip() == "---"), 0)


def _find_words(line: str) -> re.Match[str] | None:
    """What a line says to us: to ignore something, or what may be meant so."""
    return _WORDS.search(line) or _SLIP.search(line)


def _is_slip(word: str, rules: tuple[str, ...]) -> bool:
    """Whether a word was meant to be `ignore`: it is nearly that, or a rule comes after it."""
    from difflib import get_close_matches

    is_near = bool(get_close_matches(word.lower(), ("ignore", "ignore-file"), 1, 0.7))
    return is_near or any(rule in CHECKED or family_of(rule) in CHECKED for rule in rules)


def _parse_comment(line: str, at: int, kind: str) -> IgnoreComment | None:
    found = _find_words(line)
    before = line[: found.start()].rstrip() if found else ""
    opening = next((mark for mark in _OPENING if before.endswith(mark)), "")
    if found is None or not opening or _OPENING[opening] != kind or before.count("`") % 2:
        return None
    start = len(before) - len(opening)
    words, end = found[2], len(line)
    if kind == "html":
        words, close, _ = words.partition("-->")
        end = found.start(2) + len(words) + len(close)
    rules = tuple(word for word in re.split(r"[,\s]+", words.partition(":")[0]) if word)
    if len(rules) > MOST_RULES:
        return None
    is_alone = not line[:start].strip() and not line[end:].strip()
    target = None if found[1] == "ignore-file" else at + 1
    comment = IgnoreComment(at + 1, target, rules, line[start:end].rstrip(), kind == "html", is_alone)
    if found[1] in ("ignore", "ignore-file"):
        return comment
    return comment._replace(rules=(), slip=found[1]) if _is_slip(found[1], rules) else None


def _aim_all(comments: list[IgnoreComment], lines: list[str]) -> list[IgnoreComment]:
    """Comments, of which those that are alone in their line are about the next line that has text."""
    own = {comment.line for comment in comments if comment.is_alone}
    aimed, following, at = [], 0, len(lines)
    for comment in reversed(comments):  # from the end, so that no line is looked at twice
        while at > comment.line:
            following = at if lines[at - 1].strip() and at not in own else following
            at -= 1
        is_alone = comment.is_alone and comment.target == comment.line
        aimed.append(comment._replace(target=following or comment.line) if is_alone else comment)
    return aimed[::-1]


# Comments of a project


def _read_comments(project: Project, path: str) -> list[IgnoreComment]:
    text = project.read(path) if is_inside(path, project.top) and project.is_checked(path) else None
    return find_comments(path, text) if text is not None else []


class _Comments:
    """All comments of a project that keep findings back, and which of them did."""

    def __init__(self, project: Project, settings: CheckSettings, findings: list[CheckFinding]) -> None:
        self.project, self.settings = project, settings
        self.found: dict[str, tuple[str, list[IgnoreComment]]] = {}  #: real path -> path as it is shown, comments
        paths = dict.fromkeys((*project.instruction_files, *(each.path for each in findings)))
        read = project.remember_each("ignore comments", paths, partial(_read_comments, project))
        for path, comments in zip(paths, read, strict=True):
            if comments:
                real = project.tree.real(path)
                self.found.setdefault(real, (real if is_inside(real, project.top) else path, comments))
        self.sent = _list_sent(project) if self.found else {}
        self._named = {project.tree.real(path) for path in project.inventory.paths} if self.found else set()
        self.refused = {real: self._list_refused(real) for real in self.found}
        self.used: set[tuple[str, int, str]] = set()
        self._lines: dict[str, tuple[list[bytes], list[int]]] = {}
        self._faults: dict[str, str] = {}
        self._aimed: dict[tuple[str, int | None], list[IgnoreComment]] = {}  #: by file and the line they are about
        for real, (_, comments) in self.found.items():
            for comment in comments:
                if comment.line not in self.refused[real]:
                    self._aimed.setdefault((real, comment.target), []).append(comment)

    def ignore(self, finding: CheckFinding) -> bool:
        """Whether a comment keeps a finding back; it is used then."""
        if not self.found:
            return False
        real = self.project.tree.real(finding.path)
        is_kept = False
        for target in {None, finding.line}:
            for comment in self._aimed.get((real, target), ()):
                rules = [rule for rule in comment.rules if rule in (finding.code, family_of(finding.code))]
                self.used.update((real, comment.line, rule) for rule in rules)
                is_kept = is_kept or bool(rules)
        return is_kept

    def _list_refused(self, real: str) -> dict[int, str]:
        """The comments of a file that do not count: line -> why."""
        # loading says all about a file that agents look for by its name
        sent, known = self.sent.get(real, []), real in self.sent or real in self._named
        refused = {}
        for comment in self.found[real][1]:
            agents = sorted({agent for agent, text in sent if comment.text in text})
            if agents:
                refused[comment.line] = f"this comment is sent to {' and '.join(agents[:3])} with the file"
            elif comment.is_html and not known:
                refused[comment.line] = "whether agents are sent this comment is not known"
        return refused

    def list_problems(self) -> Iterator[CheckFinding]:
        """Findings about the comments themselves."""
        for real, (path, comments) in self.found.items():
            for comment in comments:
                reason = self.refused[real].get(comment.line)
                if comment.slip:
                    yield _report_slip(path, comment)
                elif reason:
                    yield self._refuse(path, comment, reason)
                else:
                    yield from self._list_unused(real, path, comment)

    def _refuse(self, path: str, comment: IgnoreComment, reason: str) -> CheckFinding:
        rules = ", ".join(f'"{rule}"' for rule in comment.rules)
        setting = f'per-file-ignores = {{"{self.project.relative(path)}" = [{rules}]}}'
        hint = f"remove it, and write in .foretold.toml: {setting}"
        return CheckFinding(path, comment.line, "ignore-delivered", f"{reason}, so it ignores nothing", hint)

    def _list_unused(self, real: str, path: str, comment: IgnoreComment) -> Iterator[CheckFinding]:
        wrong = {rule: self._find_fault(rule) for rule in comment.rules}
        unused = [rule for rule in comment.rules if self._is_unused(real, comment, rule, wrong[rule])]
        said = next((wrong[rule] for rule in unused if wrong[rule]), "")
        if not comment.rules:
            said = "this comment names no rule, so it ignores nothing"
        if unused or not comment.rules:
            about = "in this file" if comment.target is None else f"in line {comment.target}"
            message = said or f"there is no {' or '.join(unused)} {about} to ignore"
            fix = self._remove(path, comment, unused)
            yield CheckFinding(path, comment.line, "ignore-unused", message, fix=fix)

    def _is_unused(self, real: str, comment: IgnoreComment, rule: str, fault: str) -> bool:
        if fault:
            return True
        is_whole = self.project.options.agents in ((), self.settings.agents) and not self.project.inventory.cut
        has_run = self.settings.is_selected(rule) if family_of(rule) else self.settings.runs(rule)
        return is_whole and has_run and (real, comment.line, rule) not in self.used

    def _remove(self, path: str, comment: IgnoreComment, unused: list[str]) -> Fix | None:
        """The change that removes a comment, or those rules of it that it does not need."""
        rows, starts = self._split(path)
        row, written = rows[comment.line - 1] if comment.line <= len(rows) else b"", comment.text.encode()
        left, at = [rule for rule in comment.rules if rule not in unused], row.find(written)
        if at < 0 or (comment.is_html and not comment.text.endswith("-->")):
            return None  # of a comment that goes on in the next line, the rest would be sent
        start = starts[comment.line - 1]
        if left:
            words = "foretold: ignore-file" if comment.target is None else "foretold: ignore"
            head, _, tail = comment.text.partition(MARK)
            reason = tail.partition(":")[2] if ":" in tail else " -->" if comment.is_html else ""
            text = f"{head}{words} {', '.join(left)}{':' if ':' in tail else ''}{reason}"
            return Fix(f"write {text}", (TextEdit(path, start + at, start + at + len(written), text),))
        if comment.is_alone:
            end = start + len(row) + (1 if comment.line < len(rows) else 0)
            return Fix("remove the comment", (TextEdit(path, start, end, ""),))
        blank = len(row[:at]) - len(row[:at].rstrip())
        return Fix("remove the comment", (TextEdit(path, start + at - blank, start + at + len(written), ""),))

    def _split(self, path: str) -> tuple[list[bytes], list[int]]:
        """The lines of a file in bytes, and where each begins; none if it cannot be read."""
        if path not in self._lines:
            data = self.project.tree.read(path, MAX_TEXT)
            rows = [] if isinstance(data, Fault) else data.split(b"\n")
            self._lines[path] = rows, [0, *accumulate(len(row) + 1 for row in rows)]
        return self._lines[path]

    def _find_fault(self, rule: str) -> str:
        """What is wrong with the name of a rule; empty if nothing is. What was meant is guessed for some only."""
        if rule not in self._faults:
            try:
                check_rules((rule,), is_guessed=len(self._faults) < MOST_GUESSED)
                self._faults[rule] = ""
            except ValueError as error:
                self._faults[rule] = str(error)
        return self._faults[rule]


def _report_slip(path: str, comment: IgnoreComment) -> CheckFinding:
    said = f"`{comment.slip}` is not `ignore` or `ignore-file`, so this comment ignores nothing"
    return CheckFinding(path, comment.line, "ignore-unused", said, "write: foretold: ignore CODE")


def _list_sent(project: Project) -> dict[str, list[tuple[str, str]]]:
    """What agents are sent of each file: real path -> agents with their texts. Of a file whose name alone is listed at
    the start, they read all."""
    sent: dict[str, list[tuple[str, str]]] = {}
    for choice in project.choices:
        views = [project.view(choice, folder) for folder in project.starts(choice)]
        entries = [entry for view in views for entry in (*view.entries, *(rule.entry for rule in view.waiting))]
        if choice.dialect.touch and not choice.dialect.touch_asked:
            nested = project.nested(choice)
            entries += [*nested.entries, *(rule.entry for rule in nested.waiting)]
        for entry in entries:
            text = entry.raw if entry.is_listed else entry.text
            for path in (entry.path, *entry.includes):
                sent.setdefault(project.tree.real(path), []).append((choice.dialect.name, text))
    return sent
