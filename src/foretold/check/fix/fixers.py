"""The table of fixers: for each rule that can be fixed, the function that makes the fix of a finding.

A fixer gives None where it is not certain what to write. Whether its fix does what it announces is proven later
(`proof.py`). `Rule.fixable` in the registry says the same as this table; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from foretold.check.finding import CheckFinding, Fix
from foretold.check.fix import imports, names, rules, words
from foretold.check.project import Project

Fixer = Callable[[CheckFinding, Project], "Fix | None"]

MOST_ATTACHED = 1_000  #: findings of a report that are shown with their fixes

SAFE: dict[str, Fixer] = {
    "byte-order-mark": rules.remove_mark,
    "definition-repaired": rules.quote_header,
    "frontmatter-invalid": rules.quote_header,
    "frontmatter-repaired": rules.quote_header,
    "frontmatter-unread": rules.open_header,
    "glob-never-matches": rules.correct_pattern,
    "import-directive": imports.drop_directive,
    "import-form": imports.separate_import,
    "import-missing": imports.complete_path,
    "import-punctuation": imports.separate_punctuation,
    "import-space": imports.escape_spaces,
    "local-not-ignored": names.ignore_file,
    "name-case": names.correct_case,
    "path-moved": words.follow_move,
    "rule-key-unread": rules.rename_key,
}
UNSAFE: dict[str, Fixer] = {
    "definition-extension": names.rename_file,
    "definition-key": words.correct_word,
    "definition-model": words.correct_word,
    "definition-tools": words.correct_word,
    "file-shadowed": names.create_importer,
    "hook-event": words.correct_word,
    "import-in-code": imports.leave_code,
    "instructions-hidden": words.delete_hidden,
    "path-missing": words.correct_path,
    "rule-extension": rules.rename_rule,
    "setting-unknown": words.correct_word,
    "skill-name": words.correct_word,
    "skill-place": names.rename_file,
    "wrong-place": names.move_file,
}
FIXERS = {**SAFE, **UNSAFE}


def find_fix(finding: CheckFinding, project: Project) -> Fix | None:
    """How a finding can be fixed; None if that is not certain, or a person has to decide."""
    if finding.fix is not None:
        return finding.fix
    make = FIXERS.get(finding.code)
    return make(finding, project) if make and project.is_checked(finding.path) else None


def attach_fixes(findings: Iterable[CheckFinding], project: Project, most: int = MOST_ATTACHED) -> list[CheckFinding]:
    """Findings with how each of them can be fixed; only the first ones, so that a report costs little."""
    found = list(findings)
    return [each._replace(fix=find_fix(each, project)) for each in found[:most]] + found[most:]
