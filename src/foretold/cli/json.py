"""The JSON that `--json` prints (`docs/formats/json.md`). A change of shape changes SCHEMA."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.instructions.explain import FileVerdict, NestedFiles
    from foretold.instructions.session import Attachment
    from foretold.instructions.view import View, Waiting
    from foretold.types import Entry, Finding, Skip

SCHEMA = 1


def emit(kind: str, data: Mapping[str, object]) -> None:
    """Print one JSON document."""
    document = {"schema": f"foretold.{kind}/{SCHEMA}", **data}
    text = json.dumps(document, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a file name that is not UTF-8, or a terminal that is not
        text = json.dumps(document, indent=2)
    if sys.stdout.isatty():
        from foretold.cli.output import escape_json

        text = escape_json(text)
    print(text)


def pick(value: object, names: str) -> dict[str, object]:
    """Attributes of a value, named with spaces between."""
    return {name: getattr(value, name) for name in names.split()}


def view_json(view: View) -> dict[str, object]:
    return {
        "agent": view.dialect.agent,
        "version": view.dialect.version,
        "asked_version": view.choice.asked or None,
        "assumed": view.assumed,
        "evidence": view.dialect.evidence,
        "cwd": view.surroundings.cwd,
        "home": view.surroundings.home,
        "model": view.surroundings.model,
        "tokens": view.tokens,
        "refusal": view.refusal or None,
        "entries": [entry_json(entry) for entry in view.entries],
        "waiting": [waiting_json(rule, view) for rule in view.waiting],
        "skips": [skip_json(skip) for skip in view.skips],
        "findings": findings_json(view.findings),
        "absent": list(view.absent),
    }


def waiting_json(rule: Waiting, view: View) -> dict[str, object]:
    """A rule that waits; `paths` are its patterns as they are written."""
    from foretold.instructions.discover.rule_conditions import written_patterns

    return {**entry_json(rule.entry), "base": rule.base, "paths": written_patterns(rule.entry, view.dialect.rules)}


def tree_json(view: View, nested: NestedFiles) -> dict[str, object]:
    """A view, and what becomes of the instruction files below its folder; findings are those of both."""
    return {
        **view_json(view),
        "findings": findings_json((*view.findings, *nested.findings)),
        "nested": [verdict_json(verdict) for verdict in nested.verdicts],
        "nested_cut": nested.cut,
    }


def verdict_json(verdict: FileVerdict) -> dict[str, object]:
    return {**verdict._asdict(), "findings": findings_json(verdict.findings)}


def entry_json(entry: Entry) -> dict[str, object]:
    return {
        **pick(entry, "path layer kind reason parent trigger"),
        "globs": list(entry.globs),
        "includes": list(entry.includes),
        "bytes": entry.size,
        **pick(entry, "tokens differs_from_disk text"),
    }


def skip_json(skip: Skip) -> dict[str, object]:
    return {**skip._asdict(), "globs": list(skip.globs)}


def findings_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Findings by file and line, with their severity; one without a hint of its own has the fix of its rule."""
    from foretold.findings.registry import hint_of, severity_of, sort_findings

    found = sort_findings(dict.fromkeys(findings))
    return [{**each._asdict(), "severity": severity_of(each), "hint": hint_of(each)} for each in found]


def attachment_json(attachment: Attachment) -> dict[str, object]:
    return {
        "entries": [entry_json(entry) for entry in attachment.entries],
        "blocks": [dict(block._asdict()) for block in attachment.blocks],
        "skips": [skip_json(skip) for skip in attachment.skips],
        "findings": findings_json(attachment.findings),
    }
