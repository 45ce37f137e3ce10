"""Fixes of single words: a path that git has moved, a name that is nearly right, characters that nobody sees.

1. Where git recorded a rename, the new path is certain, unless the file was put away (`archive/`). A name that is
   merely similar is not certain, so writing it is not safe.
2. Characters that a person does not see may have a meaning in a script that we do not know, and whoever put them there
   should be asked: deleting them is not safe.
"""

from __future__ import annotations

import os
import re

from foretold.check.finding import CheckFinding, Fix
from foretold.check.fix.edits import EditedText, open_text
from foretold.check.project import Project
from foretold.secrets.invisible import CLASSES

#: folders for what is not used any more: a text about such a file is to be rewritten, not only its path
_RETIRED = re.compile(r"(?i)(?:^|/)(?:_?archived?|legacy|deprecated|old|obsolete|attic|backups?)/")
_PART = r"[\w./@-]"  #: characters of a path


def follow_move(finding: CheckFinding, project: Project) -> Fix | None:
    """The new path of a file, as git has recorded it."""
    fix = _replace_subject(finding, project)
    is_retired = fix is not None and finding.facts is not None and _RETIRED.search(finding.facts.meant) is not None
    return fix._replace(is_safe=not is_retired) if fix else None


def correct_path(finding: CheckFinding, project: Project) -> Fix | None:
    """A path that is nearly that of a file in the same folder; one elsewhere may be another file altogether."""
    facts = finding.facts
    if facts is None or "/" not in facts.subject or os.path.dirname(facts.subject) != os.path.dirname(facts.meant):
        return None
    return correct_word(finding, project)


def correct_word(finding: CheckFinding, project: Project) -> Fix | None:
    """A word that is nearly the right one becomes that."""
    fix = _replace_subject(finding, project)
    return fix._replace(is_safe=False) if fix else None


def _replace_subject(finding: CheckFinding, project: Project) -> Fix | None:
    """Write what was meant in place of what a finding is about, which stands once in its line."""
    old, new = (finding.facts.subject, finding.facts.meant) if finding.facts else ("", "")
    file = open_text(project, finding.path) if old and new else None
    start, row = file.line(finding.line) if file else (0, "")
    found = [*re.finditer(rf"(?<!{_PART}){re.escape(old)}(?!{_PART}*\w)", row)]
    if file is None or len(found) != 1 or old == new or "\n" in new:
        return None
    edits = file.splice(start + found[0].start(), start + found[0].end(), new)
    return Fix(f"write {new}", edits)


def delete_hidden(finding: CheckFinding, project: Project) -> Fix | None:
    """Every character of the kind that a finding names goes."""
    file = open_text(project, finding.path)
    pattern = dict(CLASSES).get(finding.facts.subject) if finding.facts else None
    if file is None or pattern is None:
        return None
    new, count = _delete(file, pattern)
    title = "delete the character" if count == 1 else f"delete {count} characters"
    return Fix(f"{title} that nobody sees", file.replace(new), is_safe=False) if count else None


def _delete(file: EditedText, pattern: re.Pattern[str]) -> tuple[str, int]:
    """A text without what a pattern has in its group; a byte order mark at its start stays."""
    mark = "\ufeff" if file.text.startswith("\ufeff") else ""
    parts, at, count = [], 0, 0
    text = file.text[len(mark) :]
    for found in pattern.finditer(text):
        if found[1]:
            parts.append(text[at : found.start(1)])
            at, count = found.end(1), count + len(found[1])
    return f"{mark}{''.join(parts)}{text[at:]}", count
