"""Findings that follow from what was skipped: what the agent drops in silence, said aloud, with what to do.

A name that merely looks like an import (`@alice`) is a skip, not a finding: a finding needs a path that somebody
meant, or a file that somebody wrote.
"""

from __future__ import annotations

from foretold.instructions.discover.rule_conditions import never_matches
from foretold.instructions.origin import Waiting
from foretold.storage.tree import Tree
from foretold.types import TYPE_CHECKING, Finding, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PUNCTUATION = ".,;:!?)]}>\"'*_`"

#: reason -> (code, what happened, what to do)
ADVICE = {
    "depth-cap": ("import-too-deep", "the import is not followed: too many levels", "import it from a file nearer"),
    "in-code": ("import-in-code", "the import is not followed: it stands in {detail}", "write it as plain text"),
    "not-an-import": ("import-form", "not imported: {detail}", "put white space before the @, or ./ behind it"),
    "not-a-text-file": (
        "import-extension",
        "the import is not followed: the agent imports no such files",
        "rename the file to .md",
    ),
    "outside-project": (
        "outside-project",
        "it is not loaded: it lies outside the working directory",
        "start the agent higher up, move the file, or approve external imports",
    ),
    "symlink-loop": ("symlink-loop", "it is not loaded: the link leads back to itself", "remove the link"),
    "too-large": ("too-large", "it is not loaded: {detail}", "split the file"),
    "unreadable": ("unreadable", "it is not loaded: {detail}", "mend its permissions"),
    "not-a-file": ("not-a-file", "it is not loaded: it is no regular file", "put a file in its place"),
    "folder": ("not-a-file", "it is not loaded: it is a folder", "put a file in its place"),
    "unknown-user": ("unknown-user", "it is not loaded: {detail}", "write the whole path"),
    "bad-name": ("bad-name", "it is not loaded: no file can have this name", "shorten the name"),
}


def advise(skips: Sequence[Skip], waiting: Sequence[Waiting], tree: Tree) -> Iterator[Finding]:
    """The findings for a list of skips and waiting rules."""
    for skip in skips:
        if skip.reason == "missing":
            yield from _missing(skip, tree)
        elif skip.reason in ADVICE and not (skip.reason == "folder" and skip.parent):
            code, said, hint = ADVICE[skip.reason]
            detail = skip.detail or skip.reason
            yield Finding(skip.parent or skip.path, skip.line, code, f"{skip.path}: {said.format(detail=detail)}", hint)
    for rule in waiting:
        alone = all(glob.startswith("!") for glob in rule.entry.globs)
        for glob in rule.entry.globs:
            why = never_matches(glob, alone=alone)
            if why:
                yield Finding(rule.entry.path, None, "glob-never-matches", f"`{glob}`: {why}")


def _missing(skip: Skip, tree: Tree) -> Iterator[Finding]:
    """An import of something that is not there."""
    if skip.parent is None:
        yield Finding(skip.path, None, "dangling-link", f"{skip.path}: the link leads nowhere", "mend the link")
        return
    name = skip.path.rpartition("/")[2]
    meant = skip.path.rstrip(PUNCTUATION)
    if meant != skip.path and tree.kind(meant) == "file":
        extra = skip.path[len(meant) :]
        said = f"{skip.path}: not imported, because {extra!r} is taken as part of the name"
        yield Finding(skip.parent, skip.line, "import-punctuation", said, "put white space behind the path")
    elif name in ("include", "import"):
        said = f"@{name} is no directive; the agent looks for a file of that name"
        yield Finding(skip.parent, skip.line, "import-directive", said, "write @ before the path itself")
    elif "." in name.strip(".") and "@" not in name:
        said = f"{skip.path}: not imported, there is no such file"
        yield Finding(skip.parent, skip.line, "import-missing", said, "mend the path, or write it without @")
