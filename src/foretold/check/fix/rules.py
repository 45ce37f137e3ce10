"""Fixes of rules: frontmatter that is not read, keys of other agents, values without quotes, patterns.

Nothing is dropped: patterns and all other keys stay. A rule that says when it is meant then waits for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from foretold.check.finding import CheckFinding, Effect, Fix, Rename
from foretold.check.fix.edits import EditedText, open_text
from foretold.check.project import Project
from foretold.dialects.registry import AGENTS, dialects_of
from foretold.dialects.schema import Rules
from foretold.instructions.discover.inventory import list_names
from foretold.instructions.discover.rule_conditions import NEARLY_KEYS, find_unread_header
from foretold.text.frontmatter import MAX_LENGTH, parse, quote_values, split

_KEY_LINE = re.compile(r"([A-Za-z_-]+)[ \t]*:(?:[ \t]|$)")


def remove_mark(finding: CheckFinding, project: Project) -> Fix | None:
    """The byte order mark goes."""
    file = open_text(project, finding.path)
    if file is None or not file.text.startswith("\ufeff"):
        return None
    return _make_fix("remove the byte order mark", file, file.text[1:])


def rename_key(finding: CheckFinding, project: Project) -> Fix | None:
    """`globs: "*.ts,*.tsx"` -> `paths:` with a list of both; if another agent reads that key here, it stays as well"""
    file = open_text(project, finding.path)
    key = _find_key(project, finding.path)
    if file is None or not key:
        return None
    keeps = _is_read_by_others(file)
    new = _write_key(file.text, key, file.newline, keeps=keeps)
    return _make_fix(f"{'add' if keeps else 'write'} `{key}`", file, new) if new else None


def _find_key(project: Project, path: str) -> str:
    """The key with which a rule says what it is for, to every agent that reads it; empty if there is none for all."""
    tables = [*_list_tables(project, path)]
    keys = [[key for key in (rules.key, rules.other_key) if key] for rules in tables]
    common = [key for key in (keys[0] if keys else ()) if all(key in each for each in keys)]
    return common[0] if common else ""


def _list_tables(project: Project, path: str) -> Iterable[Rules]:
    """How the agents that are in use read a rule: those that look for it."""
    for choice in project.choices:
        folder = list_names(choice.dialect).find_rules(path)
        if folder is not None and path.endswith(folder[1].suffix) and choice.dialect.rules.key:
            yield choice.dialect.rules


def _is_read_by_others(file: EditedText) -> bool:
    """Whether an agent, in use or not, reads the other key in this very file: it may be the target of a link."""
    front = split(file.text, after_bom=True)[0] or ""
    keys = {row.partition(":")[0] for row in front.split("\n")}
    for agent in AGENTS:
        dialect = dialects_of(agent)[-1]
        folder = list_names(dialect).find_rules(file.path)
        if folder is not None and file.path.endswith(folder[1].suffix) and dialect.rules.key in keys:
            return True
    return False


def _write_key(text: str, key: str, newline: str, *, keeps: bool = False) -> str | None:
    """A text whose frontmatter says with this key what it is for; None if no other key does.

    With `keeps`, the other key stays, and this one comes before it.
    """
    front, _ = split(text, after_bom=True)
    if front is None:
        return None
    rows = front.split("\n")
    at = next((at for at, row in enumerate(rows) if _is_foreign(row, key)), -1)
    written = rows[at].partition(":")[0] if at >= 0 else ""
    if at < 0 or any(row.startswith(f"{key}:") for row in rows):
        return None
    value = parse(front.replace("\r\n", "\n")).values.get(written)
    old = rows[at]
    if isinstance(value, str) and not _is_block(rows, at):
        if " #" in rows[at] or not value.strip():
            return None
        rows[at] = _write_patterns(key, _split_patterns(value), rows[at], newline)
    elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        rows[at] = _write_patterns(key, value, old, newline) if keeps else key + old[len(written) :]
    else:
        return None
    rows[at + 1 : at + 1] = [old] if keeps else []
    start = text.index(front, text.index("\n"))
    return text[:start] + "\n".join(rows) + text[start + len(front) :]


def _is_foreign(row: str, key: str) -> bool:
    name, colon, _ = row.partition(":")
    return bool(colon) and name != key and name.lower() in NEARLY_KEYS


def _is_block(rows: list[str], at: int) -> bool:
    """Whether the value of a line goes on below."""
    following = rows[at + 1] if at + 1 < len(rows) else ""
    return following.startswith((" ", "\t", "- "))


def _split_patterns(value: str) -> list[str]:
    """The patterns of a list with commas; those in braces separate nothing.

    >>> _split_patterns("src/*.{ts,tsx}, docs/**")
    ['src/*.{ts,tsx}', 'docs/**']
    """
    found, depth, start = [], 0, 0
    for at, char in enumerate(value):
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            found.append(value[start:at])
            start = at + 1
    return [each.strip() for each in (*found, value[start:]) if each.strip()]


def _write_patterns(key: str, patterns: list[str], row: str, newline: str) -> str:
    end = "\r" if row.endswith("\r") else ""
    if len(patterns) == 1:
        return f"{key}: {_quote(patterns[0])}{end}"
    return newline.join([f"{key}:", *(f"  - {_quote(each)}" for each in patterns)]) + end


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def open_header(finding: CheckFinding, project: Project) -> Fix | None:
    """Blank lines before `---` go; a `---` that is missing after the last key is put in, `...` becomes one."""
    file = open_text(project, finding.path)
    header = find_unread_header(file.text) if file else None
    is_marked = file is not None and file.text.startswith("\ufeff")  # which is to be fixed first
    if file is None or header is None or is_marked or "text before" in header.why:
        return None
    if "blank line before" in header.why:
        new, title = file.text.lstrip(), "remove the blank lines before the frontmatter"
    else:
        new, title = _close_header(file, is_dotted="`...`" in header.why), "close the frontmatter with `---`"
    key = _find_key(project, finding.path)
    if key and (renamed := _write_key(new, key, file.newline)):
        new, title = renamed, f"{title}, and write `{key}`"
    return _make_fix(title, file, new)


def _close_header(file: EditedText, *, is_dotted: bool) -> str:
    """The text with a line `---` where its frontmatter ends: at its `...`, else before the first line without a key."""
    rows = file.text.split("\n")
    end = "\r" if file.newline == "\r\n" else ""
    if is_dotted:
        at = next(at for at, row in enumerate(rows) if row.rstrip() == "...")
        rows[at] = f"---{end}"
        return "\n".join(rows)
    at = 1
    while at < len(rows) and (_KEY_LINE.match(rows[at]) or rows[at].startswith((" ", "\t", "- "))) and rows[at].strip():
        at += 1
    return "\n".join([*rows[:at], f"---{end}", *rows[at:]])


def quote_header(finding: CheckFinding, project: Project) -> Fix | None:
    """`paths: *.ts` -> `paths: "*.ts"`: as the agent reads it; and items of lists, which it does not repair"""
    file = open_text(project, finding.path)
    front = split(file.text, after_bom=True)[0] if file else None
    if file is None or not front or "\r" in front or len(front) > MAX_LENGTH:
        return None
    new = quote_values(front)
    if parse(new).problem:
        new = quote_values("\n".join(map(_quote_item, front.split("\n"))))
    if new == front or parse(new).problem:
        return None
    start = file.text.index(front, file.text.index("\n"))
    title = "put the value in quotes" if new.count('"') - front.count('"') == 2 else "put the values in quotes"
    return _make_fix(title, file, file.text[:start] + new + file.text[start + len(front) :])


def _quote_item(row: str) -> str:
    """An item of a list that begins with a character that means something in YAML, in quotes.

    >>> _quote_item("  - **/*.ts "), _quote_item("  - src/**"), _quote_item('  - "*.ts"')
    ('  - "**/*.ts"', '  - src/**', '  - "*.ts"')
    """
    lead, dash, value = row.partition("- ")
    item = value.strip()
    is_plain = not dash or lead.strip() or not item or item[0] not in "*&!|>%@`{[?" or "'" in item or '"' in item
    return row if is_plain else f"{lead}- {_quote(item)}"


def correct_pattern(finding: CheckFinding, project: Project) -> Fix | None:
    """`./src/**` -> `src/**`, and one slash where there are two"""
    file, written = open_text(project, finding.path), finding.facts.subject if finding.facts else ""
    front = split(file.text, after_bom=True)[0] if file else None
    if file is None or not written or not front:
        return None
    meant = re.sub(r"/{2,}", "/", re.sub(r"^(?:\./)+", "", written))
    if meant == written or not meant or meant.startswith("/"):
        return None
    new = re.sub(rf"(?<![^\s\"',\[]){re.escape(written)}(?![^\s\"',\]])", lambda _: meant, front)
    start = file.text.index(front, file.text.index("\n"))
    return _make_fix(f"write {meant}", file, file.text[:start] + new + file.text[start + len(front) :])


def rename_rule(finding: CheckFinding, project: Project) -> Fix | None:
    """`api.mdc` -> `api.md`, with the keys of the agent that reads it; others may read it, so this is not safe."""
    file, name = open_text(project, finding.path), finding.facts.meant if finding.facts else ""
    if file is None or not name or file.path != finding.path:
        return None
    to = f"{file.folder}/{name}"
    if project.tree.kind(to) != "missing":
        return None
    key = _find_key(project, to)
    new = _write_key(file.text, key, file.newline) if key else None
    title = f"rename it to {name}" + (f", and write `{key}`" if new else "")
    edits = file.replace(new) if new else ()
    return Fix(title, edits, (Rename(file.path, to),), is_safe=False, effect=Effect((to,)))


def _make_fix(title: str, file: EditedText, new: str) -> Fix | None:
    edits = file.replace(new)
    return Fix(title, edits, effect=Effect((file.path,), (file.path,))) if edits else None
