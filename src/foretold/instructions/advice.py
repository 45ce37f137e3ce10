"""The findings that follow from skips and waiting rules: an agent drops files in silence, `advise` reports them.

A name that merely looks like an import (`@alice`) is a skip, not a finding: a finding needs evidence that a path was
meant (`intent.py`), or a file that exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from foretold.instructions.discover.rule_conditions import BROKEN, never_matches, never_matches_globset
from foretold.instructions.engine import NEARLY
from foretold.instructions.view import Waiting
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import TYPE_CHECKING, Entry, FactFinding, Facts, Finding, Skip

if TYPE_CHECKING:
    from foretold.dialects.surroundings import Surroundings
    from foretold.instructions.intent import CodeContext
    from foretold.instructions.view import View
    from foretold.storage.absence import Absences

#: reason -> (code, what happened, what to do)
ADVICE = {
    "depth-cap": ("import-too-deep", "the import is not followed: too many levels", "import it from a file nearer"),
    "in-code": ("import-in-code", "the import is not followed: it is in {detail}", "write it as plain text"),
    "not-an-import": ("import-form", "not imported: {detail}", "put white space before the @, or ./ after it"),
    "not-a-text-file": (
        "import-extension",
        "the import is not followed: the agent does not import such files",
        "rename the file to .md",
    ),
    "outside-project": (
        "outside-project",
        "it is not loaded: it lies outside the working directory",
        "start the agent higher up, move the file, or approve external imports",
    ),
    "bad-encoding": ("not-utf8", "it is not loaded: it has bytes that are not UTF-8", "save the file as UTF-8"),
    "symlink-loop": ("symlink-loop", "it is not loaded: the link leads back to itself", "remove the link"),
    "too-large": ("too-large", "it is not loaded: {detail}", "split the file"),
    "unreadable": ("unreadable", "it is not loaded: {detail}", "fix its permissions"),
    "not-a-file": ("not-a-file", "it is not loaded: it is not a regular file", "put a file in its place"),
    "folder": ("not-a-file", "it is not loaded: it is a folder", "put a file in its place"),
    "unknown-user": ("unknown-user", "it is not loaded: {detail}", "write the whole path"),
    "bad-name": ("bad-name", "it is not loaded: no file can have this name", "shorten the name"),
}


#: where in a text the agent does not look for imports, in words
REGIONS = {
    "code-span": "a code span",
    "code-block": "a code block",
    "html": "HTML",
    "comment": "a comment",
    "link-target": "the target of a link",
    "image": "an image",
    "definition": "the definition of a link",
}
NOT_THERE, NOT_THERE_HINT = "not imported, there is no such file", "fix the path, or write it without @"
CODE = ("code-span", "code-block", "code or a comment")  #: there, an `@path` may well be an example
MAX_CONTEXT = 4 * 1024 * 1024  #: bytes of an importing file that is read again for what stands around an `@path`


def advise(
    skips: Sequence[Skip],
    waiting: Sequence[Waiting],
    tree: Tree,
    roots: Sequence[str] = (),
    patterns: str = "ignore",
    absences: Absences | None = None,
) -> Iterator[Finding]:
    """The findings for a list of skips and waiting rules; `roots` are folders that a path may have been meant from.

    `patterns` says how those of the rules match; `absences` is what is already known not to be there.
    """
    contexts: dict[str, CodeContext] = {}
    if absences is not None:
        yield from _advise_many(skips, absences, roots, contexts)
    else:
        for skip in skips:
            yield from advise_skip(skip, tree, roots, contexts)
    for rule in waiting:
        for written, reason in _dead_globs(rule.entry, patterns).values():
            why, _, remedy = reason.partition(": ")
            yield FactFinding(
                rule.entry.path, None, "glob-never-matches", f"`{written}`: {why}", remedy, facts=Facts(written)
            )


def _advise_many(
    skips: Sequence[Skip], absences: Absences, roots: Sequence[str], contexts: dict[str, CodeContext]
) -> Iterator[Finding]:
    """The same for a great many skips, most of which are imports of what is not there."""
    from foretold.instructions.intent import is_plain_name, is_plain_path
    from foretold.storage.absence import ListedTree

    listed, is_missing = ListedTree(absences), absences.is_missing
    parent, start, is_root = None, 0, False
    for skip in skips:
        if skip.reason == "missing" and skip.parent is not None:
            if skip.parent != parent:
                parent = skip.parent
                folder = listed.real(parent).rpartition("/")[0] or "/"
                start, is_root = len(folder) + 1, folder in roots and folder != "/"
            path = skip.path
            if is_root and path.startswith(folder) and is_plain_path(path[start:]) and is_missing(path):
                yield FactFinding(
                    parent, skip.line, "import-missing", f"{path}: {NOT_THERE}", NOT_THERE_HINT, facts=Facts(path)
                )
                continue
            if is_plain_name(path) and all(is_missing(each) for each in _with_ending(path, parent)):
                continue
        yield from advise_skip(skip, listed, roots, contexts)


def advise_skip(skip: Skip, tree: Tree, roots: Sequence[str], contexts: dict[str, CodeContext]) -> Iterator[Finding]:
    """The finding for one skip, if there is one; `contexts` are the texts that were read for the skips before it."""
    if skip.reason == "missing":
        yield from _missing(skip, tree, roots)
    elif skip.reason in ADVICE and not (skip.reason == "folder" and skip.parent):
        if skip.detail in CODE and not _is_import(skip, tree, contexts):
            return
        if skip.detail == NEARLY["bad-start"] and tree.kind(skip.path) != "file":
            return
        if skip.reason == "outside-project" and skip.parent and tree.kind(skip.path) == "folder":  # `@/components`
            return
        code, said, hint = ADVICE[skip.reason]
        detail = REGIONS.get(skip.detail, skip.detail) or skip.reason
        said, facts = f"{skip.path}: {said.format(detail=detail)}", Facts(skip.path, detail=skip.detail)
        yield FactFinding(skip.parent or skip.path, skip.line, code, said, hint, facts=facts)


def find_unreported(view: View, tree: Tree) -> list[Skip]:
    """The skips of a view that no finding speaks of; rules that wait are not among them."""
    roots = list_roots(view.surroundings)
    contexts: dict[str, CodeContext] = {}
    broken = {each.path for each in view.findings if each.code in (*BROKEN, "glob-never-matches")}
    return [
        skip
        for skip in view.skips
        if skip.reason not in ("not-yet-read", "wrong-extension")  # which is said with the files below
        and not (skip.reason in ("bad-frontmatter", "no-match") and skip.path in broken)
        and next(advise_skip(skip, tree, roots, contexts), None) is None
    ]


def list_roots(surroundings: Surroundings) -> tuple[str, ...]:
    """The folders that people write paths from: the working directory, and the top of its repository."""
    return tuple(dict.fromkeys((surroundings.cwd, surroundings.top)))


def find_dead_globs(entry: Entry, patterns: str) -> dict[str, str]:
    """Those of a rule's globs that can match no file, each with a sentence that has it as it is written."""
    return {glob: f"`{written}`: {why}" for glob, (written, why) in _dead_globs(entry, patterns).items()}


def _dead_globs(entry: Entry, patterns: str) -> dict[str, tuple[str, str]]:
    """Those of a rule's globs that can match no file: as they are written, and why, with a remedy after a colon."""
    if patterns == "globset":
        return {glob: (glob, why) for glob in entry.globs if (why := never_matches_globset(glob))}
    alone = all(glob.startswith("!") for glob in entry.globs)
    found = ((glob, never_matches(glob, alone=alone, patterns=patterns)) for glob in entry.globs)
    return {glob: (f"{glob}/**" if f"{glob}/**" in entry.raw else glob, why) for glob, why in found if why}


def can_match(entry: Entry, patterns: str) -> bool:
    """Whether some file could wake a rule that waits."""
    dead = find_dead_globs(entry, patterns)
    return not all(glob in dead or (glob.startswith("!") and patterns != "globset") for glob in entry.globs)


def _is_import(skip: Skip, tree: Tree, contexts: dict[str, CodeContext]) -> bool:
    """Whether an import in code was meant as one."""
    from foretold.instructions.intent import CodeContext  # most texts have no need of this

    parent = skip.parent or ""
    if parent not in contexts:
        data = tree.read(parent, MAX_CONTEXT)
        contexts[parent] = CodeContext("" if isinstance(data, Fault) else data.decode("utf-8", "replace"))
    return contexts[parent].is_import(skip.line or 0, skip.path)


def _missing(skip: Skip, tree: Tree, roots: Sequence[str]) -> Iterator[Finding]:
    """An import of something that is not there."""
    if skip.parent is None:
        yield Finding(skip.path, None, "dangling-link", f"{skip.path}: the link is broken", "fix the link")
        return
    from foretold.instructions.intent import PUNCTUATION, is_path

    name, facts = skip.path.rpartition("/")[2], Facts(skip.path)
    meant = skip.path.rstrip(PUNCTUATION)
    folder = tree.real(skip.parent).rpartition("/")[0] or "/"
    if meant != skip.path and tree.kind(meant) == "file":
        extra = skip.path[len(meant) :]
        said = f"{skip.path}: not imported, because {extra!r} is taken as part of the name"
        yield FactFinding(
            skip.parent, skip.line, "import-punctuation", said, "put white space after the path", facts=facts
        )
    elif name in ("include", "import"):
        said = f"@{name} is not a directive of this agent, which looks for a file of that name"
        yield FactFinding(
            skip.parent, skip.line, "import-directive", said, "write @ before the path itself", facts=facts
        )
    elif is_path(skip.path, folder, tree):
        said, hint = _describe_missing(skip.path, folder, tree, roots)
        similar = _find_nearly(meant, tree)
        hint = f"did you mean @{os.path.relpath(similar, folder)}?" if similar else hint
        yield FactFinding(skip.parent, skip.line, "import-missing", said, hint, facts=facts)
    elif similar := next((each for each in _with_ending(meant, skip.parent) if tree.kind(each) == "file"), ""):
        said = f"{skip.path}: not imported, there is no such file; {similar} exists"
        hint = f"did you mean @{os.path.relpath(similar, folder)}?"
        yield FactFinding(skip.parent, skip.line, "import-missing", said, hint, facts=facts)


def _with_ending(path: str, parent: str) -> list[str]:
    """What an import without its ending may mean: not the file that holds it (`@tailwind` in tailwind.md)."""
    return [each for each in (f"{path}.md", f"{path}.txt") if each != parent]


def _find_nearly(path: str, tree: Tree) -> str:
    """The file whose path differs from one that is not there only in capitals; empty if there is none."""
    folder, _, name = path.rpartition("/")
    items = tree.scan(folder or "/")
    names = [] if isinstance(items, Fault) else [item.name for item in items]
    return next((f"{folder}/{each}" for each in names if each.lower() == name.lower() and each != name), "")


def _describe_missing(path: str, folder: str, tree: Tree, roots: Sequence[str]) -> tuple[str, str]:
    """What is wrong with an import of a file that is not there, and what to do: paths count from the importing file."""
    from foretold.instructions.intent import PUNCTUATION

    said, hint = f"{path}: {NOT_THERE}", NOT_THERE_HINT
    if not roots or folder in roots or not is_inside(path, folder):
        return said, hint
    written = path[len(folder.rstrip("/")) + 1 :].rstrip(PUNCTUATION)
    said += f": imports are relative to the folder of the importing file, {folder}"
    for root in roots:
        there = f"{root.rstrip('/')}/{written}"
        if tree.kind(there) == "file":
            return f"{said}; {there} exists", f"write @{os.path.relpath(there, folder)}"
    return said, hint
