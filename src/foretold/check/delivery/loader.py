"""What the loader itself reports, for every agent and every folder in which it is asked.

1. A finding about an import or a rule is reported if it holds at the top of the tree or for files below it. Agents that
   look only at their start are asked in every folder that has files of their own.
2. Of an agent that is known from its documents alone, only what is certain is reported: that we do not know an order,
   or how it reads YAML that is not valid, is not the author's concern.
3. A rule that is loaded always by accident is reported with what it costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.check.delivery.failed_imports import is_meant_otherwise, judge_imports
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
        kept = (each for each in kept if not is_meant_otherwise(each, project))
        given = {entry.path for entry in project.view(choice, folder).entries}
        found = from_findings((_with_cost(each, project) for each in kept), (name,))
        yield from judge_imports(found, project, given)


def _with_cost(finding: Finding, project: Project) -> Finding:
    text = project.read(finding.path) if finding.code in UNCONDITIONAL else None
    if text is None or "/rules/" not in finding.path:
        return finding
    return finding._replace(message=f"{finding.message}; it costs {estimate_tokens(text):,} tokens in every session")
