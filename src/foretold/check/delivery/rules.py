"""Rules whose patterns match no file of the tree: they wait for something that is not there.

1. A rule is reported if none of its patterns matches a file. That one of several does not is not a mistake.
2. The files of a tree are those of one walk. A pattern about files that git ignores (`dist/**`) is not judged, nor is
   one about files of dependencies, which the walk does not enter.
3. Only files below the part of a pattern that has no wildcards are tried.
4. The loader reports keys of other agents where they make a rule unconditional. Where they leave a rule without its
   condition in another way (in Cursor, it is never attached by itself), that is reported here.
5. Claude Code takes rules in the order in which the file system lists them. A rule that names another one and speaks of
   order counts on what nobody promises.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice
from foretold.instructions.advice import can_match
from foretold.instructions.discover.inventory import list_names
from foretold.instructions.discover.nested import WaitingRules
from foretold.instructions.discover.rule_conditions import NEARLY_KEYS, find_unread_key, written_patterns
from foretold.instructions.view import Waiting
from foretold.storage.tree import is_inside
from foretold.text.frontmatter import split
from foretold.text.globs.fnmatch_walk import PRUNED

MAX_RULE = 100_000  #: characters of a rule that are read for words about order
_ORDER = re.compile(r"(?i)\b(?:after|before|overrides?|precedence|comes (?:first|last)|wins)\b")


def find_dead_rules(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Rules that no file of the tree wakes."""
    listed = project.remember("sorted files", lambda: sorted(project.files))
    patterns = choice.dialect.rules.patterns
    for rule in _rules_of(project, choice):
        bare = rule._replace(entry=rule.entry._replace(text="", raw="", size=0))
        key = ("woken", choice.dialect.name, rule.entry.path)
        if not project.remember(key, partial(_is_woken, bare, listed, project, patterns)):
            yield _describe(project, rule, choice)
    for folder in project.starts(choice):
        for skip in project.view(choice, folder).skips:
            if skip.reason == "no-match" and skip.globs and _may_judge(skip.globs, project):
                said = f"it is never loaded: no file of the tree matches {_list(skip.globs)}"
                yield CheckFinding(skip.path, None, "glob-matches-nothing", said, "", (choice.dialect.name,))


def find_foreign_keys(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Rules of agents that decide by several keys, which have the key of another agent in place of theirs."""
    rules = choice.dialect.rules
    if not rules.key or not rules.admits:
        return
    names = list_names(choice.dialect)
    for path in project.inventory.select(names):
        folder = names.find_rules(path)
        if folder is None or not path.endswith(folder[1].suffix) or not project.is_checked(path):
            continue
        unread = find_unread_key(split(project.read(path) or "", after_bom=True)[0] or "", rules._replace(admits=""))
        known = (rules.key.lower(), rules.other_key.lower())
        if unread is not None and unread.key.lower() in NEARLY_KEYS and unread.key.lower() not in known:
            said = f"`{unread.key}` is not a key that {choice.dialect.agent} reads, so the rule waits for no files"
            hint = f"write `{rules.key}`"
            yield CheckFinding(path, unread.line + 2, "rule-key-unread", said, hint, (choice.dialect.name,))


def find_expected_orders(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """Rules whose text counts on coming before or after another one, where the agent takes them as they are listed."""
    rules = [entry for entry in project.view(choice).entries if entry.kind == "rule"]
    if choice.dialect.rules.ordered or len(rules) < 2 or choice.dialect.evidence == "documented":
        return
    names = {entry.path.rpartition("/")[2]: entry.path for entry in rules}
    for entry in rules:
        for number, row in enumerate(entry.raw[:MAX_RULE].split("\n"), 1):
            other = next((name for name in names if name in row and names[name] != entry.path), "")
            if other and _ORDER.search(row) and project.is_checked(entry.path):
                said = f"{names[other]}: this rule counts on an order of the two, and {choice.dialect.agent} has none"
                agents = (choice.dialect.name,)
                yield CheckFinding(entry.path, number, "order-unspecified", said, "", agents)


def _rules_of(project: Project, choice: DialectChoice) -> Iterator[Waiting]:
    for rule in (*project.view(choice).waiting, *project.nested(choice).waiting):
        if project.is_checked(rule.entry.path) and is_inside(rule.base, project.top):
            yield rule


def _is_woken(rule: Waiting, listed: Sequence[str], project: Project, patterns: str) -> bool:
    """Whether a file of the tree, or one that cannot be listed, matches a rule."""
    if not can_match(rule.entry, patterns):
        return True  # as far as we are concerned: the loader reports it, with the reason
    globs = [glob for glob in rule.entry.globs if not glob.startswith("!")]
    if not globs or not _may_judge(globs, project):
        return True
    waiting = WaitingRules([rule], patterns)
    base = project.relative(rule.base) if rule.base != project.top else ""
    return any(waiting.matching(project.absolute(path)) for path in _candidates(globs, listed, base))


def _candidates(globs: Sequence[str], listed: Sequence[str], base: str) -> Iterator[str]:
    """The files that may match one of some patterns, by their fixed beginning and their fixed end."""
    start = f"{base}/" if base else ""
    for glob in globs:
        head, end = _fixed_folder(glob), _fixed_end(glob)
        first = f"{start}{head}"
        at = bisect_left(listed, first)
        while at < len(listed) and listed[at].startswith(first):
            if listed[at].endswith(end):
                yield listed[at]
            at += 1


def _fixed_folder(glob: str) -> str:
    """The folders that a pattern names before its first wildcard, with a slash after each.

    >>> _fixed_folder("/src/api/**/*.ts"), _fixed_folder("src"), _fixed_folder("docs/a.md")
    ('src/api/', '', 'docs/')
    """
    wild = next((at for at, char in enumerate(glob) if char in "*?[{\\\\"), len(glob))
    head = glob[:wild].rpartition("/")[0].lstrip("/")
    return f"{head}/" if head else ""


def _fixed_end(glob: str) -> str:
    """The end that a match must have; empty if a folder may match.

    >>> _fixed_end("src/**/*.ts"), _fixed_end("src/api"), _fixed_end("*.test.{a,b}")
    ('.ts', '', '')
    """
    name = glob.rpartition("/")[2]
    tail = name.rpartition("*")[2]
    return tail if tail.startswith(".") and "*" in name and not any(char in tail for char in "?[]{}\\\\!") else ""


def _may_judge(globs: Sequence[str], project: Project) -> bool:
    """Whether what a pattern is about would be listed: not what git ignores, nor dependencies."""
    for glob in globs:
        parts = [part for part in glob.strip("/").split("/") if part]
        if any(part in PRUNED for part in parts):
            return False
        head = _fixed_folder(glob).rstrip("/") or (parts[0] if len(parts) == 1 and "*" not in glob else "")
        if head and project.git is not None and project.git.ignored([head, f"{head}/x"]):
            return False
    return True


def _describe(project: Project, rule: Waiting, choice: DialectChoice) -> CheckFinding:
    seen = "" if rule.base == project.top else f", seen from {rule.base}"
    written = written_patterns(rule.entry, choice.dialect.rules)
    said = f"it is never loaded: no file of the tree matches {_list(written)}{seen}"
    return CheckFinding(rule.entry.path, None, "glob-matches-nothing", said, "", (choice.dialect.name,))


def _list(globs: Sequence[str]) -> str:
    shown = ", ".join(f"`{glob}`" for glob in globs[:3])
    return shown + (f" and {len(globs) - 3} more" if len(globs) > 3 else "")
