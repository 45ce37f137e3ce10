"""Imports that fail: whether they were meant, and how serious it is.

1. Nobody means an import in a comment, or in a line of a style sheet (`@import "theme.css"`); and a line may say that
   the file need not be there.
2. It is an error where something is lost. It is a warning for `@payments`, which may name a person, a package or an
   agent as well as payments.md; for a file that git ignores, which its author has; in a file that a script at the top
   installs elsewhere; in code that a sentence says to read; and if the agent is given the file anyway.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.instructions.intent import PUNCTUATION
from foretold.storage.tree import is_inside
from foretold.types import Finding

MOST_ASKED = 1_000  #: paths that git is asked about
#: a line that imports a style sheet, which the agents take for one of theirs
_STYLE = re.compile(r"@import\s+(?:[\"'“]|url\()")
#: words of a line which say that a file need not be there
_OPTIONAL = re.compile(
    r"\b(?:(?:if|when|where)\s+(?:\S+\s+){0,3}(?:exists?|present|there|available)|optional(?:ly)?|may not exist)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"`+[^`]*`+")
_WORD = re.compile(r"[^\W\d_]{2,}")
FEWEST_WORDS = 2  #: around code that make a sentence
#: names of scripts at the top that may install files of the repository elsewhere
_INSTALLER = re.compile(
    r"(?i)(?:install|setup|bootstrap|deploy|sync|link)[\w.-]*|[\w.-]+\.(?:sh|ps1)|makefile|justfile"
)


def is_meant_otherwise(finding: Finding, project: Project) -> bool:
    """Whether an import that fails is none, or need not be there."""
    if finding.code not in ("import-missing", "import-directive"):
        return False
    row, is_comment = _find_row(finding.path, finding.line, project)
    if finding.code == "import-directive":
        return bool(_STYLE.search(row))
    start = row.partition("@")[0]
    is_comment = (is_comment and "-->" not in start) or start.rfind("<!--") > start.rfind("-->")
    return is_comment or bool(_OPTIONAL.search(row))


def judge_imports(findings: Iterable[CheckFinding], project: Project, given: Collection[str]) -> Iterator[CheckFinding]:
    """The same findings; those about imports with which nothing is lost are warnings. `given`: files that arrive."""
    found = list(findings)
    ignored = _find_ignored(found, project)
    for each in found:
        path = each.message.partition(": ")[0]
        is_mild = (
            (each.code == "import-missing" and _is_mild(each, path, project, ignored))
            or (each.code == "import-in-code" and _is_in_sentence(each, project))
            or (each.code == "import-punctuation" and path.rstrip(PUNCTUATION) in given)
        )
        yield each._replace(severity="warning") if is_mild else each


def _is_mild(finding: CheckFinding, path: str, project: Project, ignored: Collection[str]) -> bool:
    return path in ignored or _may_be_mention(finding, path, project) or _is_installed(finding.path, project)


def _find_ignored(findings: Iterable[CheckFinding], project: Project) -> frozenset[str]:
    """Those of the missing files that git ignores."""
    missing = (each.message.partition(": ")[0] for each in findings if each.code == "import-missing")
    inside = {project.relative(path): path for path in missing if is_inside(path, project.top)}
    if not inside or len(inside) > MOST_ASKED or project.git is None or not _has_patterns(project):
        return frozenset()
    return frozenset(inside[path] for path in project.git.ignored(inside) if path in inside)


def _has_patterns(project: Project) -> bool:
    """Whether the tree has a .gitignore: where it has none, git need not be asked. What people ignore is their own."""
    return project.remember("ignore files", lambda: any(f"/{path}".endswith("/.gitignore") for path in project.files))


def _may_be_mention(finding: CheckFinding, path: str, project: Project) -> bool:
    """Whether what an import names is a bare word, which need not be a file though one has it for its name."""
    name = path.rpartition("/")[2]
    return finding.message.endswith(" exists") and f"@{name}" in _find_row(finding.path, finding.line, project)[0]


def _is_installed(path: str, project: Project) -> bool:
    """Whether a script at the top names a file below it: it is made for another place."""
    inside = project.relative(path)
    if "/" not in inside or path == inside:
        return False
    return inside in project.remember("installers", partial(_read_installers, project))


def _read_installers(project: Project) -> str:
    names = [name for name in project.files if "/" not in name and _INSTALLER.fullmatch(name)]
    return "\n".join(project.read(project.absolute(name)) or "" for name in names)


def _is_in_sentence(finding: CheckFinding, project: Project) -> bool:
    """Whether a sentence has an import as code: then the model knows the file, and can read it."""
    row = _find_row(finding.path, finding.line, project)[0]
    return bool(_SPAN.search(row)) and len(_WORD.findall(_SPAN.sub("", row))) >= FEWEST_WORDS


def _find_row(path: str, line: int | None, project: Project) -> tuple[str, bool]:
    """A line of a text, and whether it begins inside a comment."""
    rows, opened = project.remember(("comments", path), partial(_find_comments, project, path))
    return (rows[line - 1], opened[line - 1]) if line and line <= len(rows) else ("", False)


def _find_comments(project: Project, path: str) -> tuple[list[str], list[bool]]:
    """The lines of a text, and whether each begins inside a comment."""
    rows, opened, is_open = (project.read(path) or "").split("\n"), [], False
    for row in rows:
        opened.append(is_open)
        first, last = row.rfind("<!--"), row.rfind("-->")
        is_open = first > last if max(first, last) >= 0 else is_open
    return rows, opened
