"""What the loader itself reports, for every agent and every folder in which it is asked.

1. A finding about an import or a rule is reported if it holds at the top of the tree or for files below it. Agents that
   look only at their start are asked in every folder that has files of their own.
2. Of an agent that is known from its documents alone, only what is certain is reported: that we do not know an order,
   or how it reads YAML that is not valid, is not the author's concern.
3. A rule that is loaded always by accident is reported with what it costs.
4. An import that fails is not reported where nobody means one: in a comment, in a line of a style sheet
   (`@import "theme.css"`), and in a line which says that the file need not be there.
5. `@payments` may name a person, a package or an agent as well as payments.md: that is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from foretold.check.finding import CheckFinding, from_findings
from foretold.check.project import Project
from foretold.dialects.registry import DialectChoice
from foretold.types import Finding, estimate_tokens

#: codes of rules that are loaded always though they were not meant to be
UNCONDITIONAL = ("rule-key-unread", "frontmatter-unread", "paths-ignored", "byte-order-mark")
#: what is not known of an agent that was not recorded: its order, its parser, its limits, which endings it reads
UNCERTAIN = ("order-unspecified", "frontmatter-repaired", "frontmatter-invalid", "too-large", "rule-extension")
#: findings that are made here with more words, or that are about the machine and not about the tree
LEFT_OUT = ("budget-cut", "index-cut", "git-unavailable", "git-program-not-run", "git-work-tree-elsewhere")
#: a line that imports a style sheet, which the agents take for one of theirs
_STYLE = re.compile(r"@import\s+(?:[\"'“]|url\()")
#: words of a line which say that a file need not be there
_OPTIONAL = re.compile(
    r"\b(?:(?:if|when|where)\s+(?:\S+\s+){0,3}(?:exists?|present|there|available)|optional(?:ly)?|may not exist)\b",
    re.IGNORECASE,
)


def find_loader_problems(project: Project, choice: DialectChoice) -> Iterator[CheckFinding]:
    """The findings of all views, and of what is nested below the top."""
    name = choice.dialect.name
    for folder in project.starts(choice):
        findings = [*project.view(choice, folder).findings]
        if folder == project.top:
            findings += project.nested(choice).findings
        kept = (each for each in findings if each.code not in LEFT_OUT)
        if choice.dialect.evidence == "documented":
            kept = (each for each in kept if each.code not in UNCERTAIN)
        kept = (each for each in kept if not _is_meant_otherwise(each, project))
        for found in from_findings((_with_cost(each, project) for each in kept), (name,)):
            yield found._replace(severity="warning") if _may_be_mention(found, project) else found


def _is_meant_otherwise(finding: Finding, project: Project) -> bool:
    """Whether an import that fails is none, or need not be there."""
    if finding.code not in ("import-missing", "import-directive"):
        return False
    row, is_comment = _find_row(finding.path, finding.line, project)
    if finding.code == "import-directive":
        return bool(_STYLE.search(row))
    start = row.partition("@")[0]
    is_comment = (is_comment and "-->" not in start) or start.rfind("<!--") > start.rfind("-->")
    return is_comment or bool(_OPTIONAL.search(row))


def _may_be_mention(finding: CheckFinding, project: Project) -> bool:
    """Whether what an import names is a bare word, which need not be a file though one has it for its name."""
    if finding.code != "import-missing" or not finding.message.endswith(" exists"):
        return False
    name = finding.message.partition(": ")[0].rpartition("/")[2]
    return f"@{name}" in _find_row(finding.path, finding.line, project)[0]


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


def _with_cost(finding: Finding, project: Project) -> Finding:
    text = project.read(finding.path) if finding.code in UNCONDITIONAL else None
    if text is None or "/rules/" not in finding.path:
        return finding
    return finding._replace(message=f"{finding.message}; it costs {estimate_tokens(text):,} tokens in every session")
