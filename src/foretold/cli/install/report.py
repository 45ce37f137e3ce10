"""What an install or an uninstall would change, for people and for programs.

1. Each file with its difference. A line that does not fit continues below, indented, with its sign; of a long line in
   which little changes, the rest is cut. Credentials are not shown.
2. Notes follow: what to know, and on a separate line what to type.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator

from foretold.cli.json import pick
from foretold.cli.output import Paint, plural, printable
from foretold.secrets.forms import credentials_in
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.install.plan import Edit, InstallPlan

CONTEXT = 2  #: lines around a change
HANG = 4  #: how much a continued line is indented
KEPT = 24  #: characters that are left on both sides of a change in a long line

_SAME = {"install": "already installed", "uninstall": "not installed"}
_HOW = {
    "": ":",
    "created": ": a new file",
    "deleted": ": was created for foretold, and is deleted",
    "restored": ": as it was before foretold, byte for byte",
    "removed": ": was changed since; only foretold's entries are removed",
}


def print_plan(plan: InstallPlan, paint: Paint, kind: str) -> None:
    """Each file and what changes in it."""
    if not plan.edits:
        is_left_out = kind == "install" and not plan.same
        why = "it takes only the MCP server" if is_left_out else f"{_SAME[kind]} ({plan.scope})"
        print(f"{plan.agent}: {why}, nothing to change")
    for edit in plan.edits:
        print(paint.bold(paint.path(edit.path)) + _about(edit, paint))
        for line in _diff(edit, paint):
            print(line)
        print()
    for note in plan.notes:
        text, _, remedy = note.partition("; try: ")
        print(paint.wrap(f"Note: {text.removesuffix('.')}.", 0))
        if remedy:  # whole and on its own line, to be copied
            print(f"  try: {printable(remedy)}")


def summarize_plan(plan: InstallPlan, paint: Paint, kind: str) -> str:
    """What a plan does, in a sentence; empty if it does nothing."""
    if not plan.edits:
        return ""
    if kind == "repair":
        return f"This isolates foretold in {plan.agent}, with the command {shlex.join(plan.command)}"
    if kind == "uninstall":
        return f"This removes foretold from {plan.agent}: {_join([paint.path(edit.path) for edit in plan.edits])}."
    parts = {part for edit in plan.edits for part in edit.settings.parts}
    hooks = sum(piece.part == "hooks" for piece in plan.pieces if piece.part in parts)
    server = any(piece.part == "mcp" and "mcp" in parts for piece in plan.pieces)
    what = [*([plural(hooks, "hook")] if hooks else []), *(["the MCP server"] if server else [])]
    return f"{plan.agent} gets {_join(what)}: {shlex.join(plan.command)}"


def _join(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _about(edit: Edit, paint: Paint) -> str:
    linked = f", which is {paint.path(edit.settings.target)}" if edit.settings.target != edit.path else ""
    names = edit.settings.found.names
    if names > 1:
        linked += f" (it has {names} hard links; the others are not changed)"
    how = "created" if edit.is_new else "deleted" if edit.after is None else edit.how
    return linked + _HOW[how]


def _difference(edit: Edit) -> list[str]:
    before, after = edit.settings.text, (edit.after or b"").decode()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=CONTEXT, lineterm="")
    return [line[:1] + mask_credentials(line[1:]) for line in list(lines)[2:]]


def _diff(edit: Edit, paint: Paint) -> Iterator[str]:
    """The difference in rows that fit."""
    if edit.after is None:
        return
    room = max(20, paint.width - 4)
    for sign, text in _short(_difference(edit), room):
        if sign == "@":
            if not edit.is_new:
                yield paint.faint(f"  line {text.split()[2].lstrip('+').partition(',')[0]}")
            continue
        dress = {"+": paint.bold, "-": paint.red}.get(sign, paint.faint)
        for row in rows_of(printable(text.replace("\t", "    ")), room):
            yield dress(f"  {sign} {row}".rstrip())


def _short(lines: list[str], room: int) -> list[tuple[str, str]]:
    """Signs and texts; of long lines, what does not change is cut."""
    found = [(line[:1], line[1:]) for line in lines]
    for at, (sign, text) in enumerate(found):
        if sign == " " and len(text) > room:
            found[at] = (sign, text[: room - 1] + "…")
        elif sign == "-" and (not at or found[at - 1][0] != "-"):
            new = next((number for number in range(at, len(found)) if found[number][0] != "-"), at)
            if new < len(found) and found[new][0] == "+" and max(len(text), len(found[new][1])) > 2 * room:
                old, other = _cut(text, found[new][1])
                found[at], found[new] = (sign, old), ("+", other)
    return found


def _cut(old: str, new: str) -> tuple[str, str]:
    """Two lines without most of what they have in common at both ends.

    >>> _cut("a" * 50 + "x" + "b" * 50, "a" * 50 + "y" + "b" * 50)
    ('…aaaaaaaaaaaaaaaaaaaaaaaaxbbbbbbbbbbbbbbbbbbbbbbbb…', '…aaaaaaaaaaaaaaaaaaaaaaaaybbbbbbbbbbbbbbbbbbbbbbbb…')
    """
    start = _alike(old, new)
    head = max(0, start - KEPT)
    tail = max(0, _alike(old[start:][::-1], new[start:][::-1]) - KEPT)
    first, second = ("…" * bool(head) + text[head : len(text) - tail] + "…" * bool(tail) for text in (old, new))
    return first, second


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common at the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def rows_of(text: str, room: int) -> list[str]:
    """A line in rows that fit, broken at spaces, preferably after commas; the first is indented least.

    >>> rows_of('  "a": "one two three"', 15)
    ['  "a": "one two', '      three"']
    """
    at_commas, at_spaces = (_rows(text, room, comma=comma) for comma in (True, False))
    return at_commas if len(at_commas) <= len(at_spaces) else at_spaces


def _rows(text: str, room: int, *, comma: bool) -> list[str]:
    inner = len(text) - len(text.lstrip())
    hang = " " * min(inner + HANG, room // 2)
    rows: list[str] = []
    while len(text) > room:
        at = text.rfind(", ", room // 2, room) + 1 if comma else 0
        at = at or text.rfind(" ", inner + 1, room + 1)
        if at < 0:
            at = room
        rows.append(text[:at])
        text, inner = hang + text[at:].removeprefix(" "), len(hang)
    return [*rows, text]


def mask_credentials(text: str) -> str:
    """A line without credentials."""
    for found in sorted(credentials_in(text), key=lambda each: -each.start):
        text = text[: found.start] + "…" + text[found.end :]
    return text


def plan_json(plan: InstallPlan, *, done: bool) -> dict[str, object]:
    changes = [
        {
            "path": edit.path,
            "file": edit.settings.target,
            "action": "create" if edit.is_new else "delete" if edit.after is None else "write",
            "how": edit.how or "added",
            "diff": "\n".join(_difference(edit)),
        }
        for edit in plan.edits
    ]
    return {**pick(plan, "agent scope"), "done": done, "changes": changes, **pick(plan, "same notes")}
