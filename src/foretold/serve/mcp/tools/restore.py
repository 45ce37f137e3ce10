"""`restore_file`: a file as it was before an agent changed it.

1. Only files of this project that a recorded checkpoint knows can be put back, and only to what the checkpoint holds.
2. Nothing is written at first: the plan is shown, with its difference, under a token. The same call with the token and
   `apply` does it, if the plan is still the same; what was overwritten is kept, under an id that takes it back.
3. One file at a time. Whole sessions are put back by people: `foretold files rewind`.
"""

from __future__ import annotations

import time

from foretold.errors import RestoreRefused
from foretold.files.restore.look import content
from foretold.serve.mcp.paging import clip, digest_of, end_text
from foretold.serve.mcp.schema import CUT, flag, number, record, several, switch, takes, text
from foretold.serve.mcp.tool import CallAnswer, McpTool
from foretold.serve.mcp.tools.file_versions import tracked
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.files.history.versions import Version
    from foretold.files.restore.plans import FileChange, RestorePlan
    from foretold.serve.mcp.context import CallContext
    from foretold.serve.mcp.schema import Row
    from foretold.serve.mcp.tool import Given

SHOWN = 8_000  #: bytes of a difference
LARGEST = 256 * 1024  #: bytes of a file that is compared line by line
ACTIONS = {"write": "change", "create": "make again", "delete": "delete", "mode": "set its mode"}


def restore_file(context: CallContext, given: Given) -> CallAnswer:
    """What putting a file back would do; with the token of that, do it."""
    from foretold.files.history.versions import find_version
    from foretold.files.restore.plans import make_plan
    from foretold.files.restore.restore import Undo, refuse_problems, restore, state_folder

    path, sessions = tracked(context, str(given["file"]))
    version = find_version(sessions, path, str(given["at"]), time.time())
    plan = make_plan([version.wanted])
    changes = [[each.path, each.action, list(each.before), list(each.after), each.source] for each in plan.changes]
    # a name for what would be done: another one as soon as that would be something else
    token = digest_of([version.name, version.session, changes, [list(each) for each in plan.problems], plan.same])
    undo = ""
    if given["apply"]:
        refuse_problems(plan)
        if given.get("token") != token:
            changed = "the file, or what is kept of it, has changed since the plan was shown"
            remedy = "Call it without apply, look at the plan, and give the token it shows"
            raise RestoreRefused(f"{changed if given.get('token') else 'no token'}: nothing was written. {remedy}")
        why = f"restore {path} as of {version.name} (through mcp{f', {context.client}' if context.client else ''})"
        undo = restore(plan, Undo(state_folder(*context.homes)), why).undo
    data = _describe(context, version, plan, token, done=bool(given["apply"]), undo=undo)
    return CallAnswer(_restore_text(data), data)


def _describe(context: CallContext, version: Version, plan: RestorePlan, token: str, *, done: bool, undo: str) -> Row:
    change = plan.changes[0] if plan.changes else None
    diff = _difference(change) if change and not done else ""
    shown = clip(diff, SHOWN)
    return {
        "file": context.short_path(version.wanted.path),
        "at": version.name,
        "action": ACTIONS[change.action] if change else "nothing",
        "done": done,
        "added": plan.added,
        "removed": plan.removed,
        "diff": shown,
        "notes": [clip(note, 300) for note in (change.notes if change else ())],
        "problems": [clip(f"{each.message}; {each.hint}", 600) for each in plan.problems],
        "token": "" if done else token,
        "undo": undo,
        "cut": ["the difference is cut: it is longer than is shown here"] if shown != diff else [],
    }


def _difference(change: FileChange) -> str:
    """The lines that would change, as a unified diff."""
    from difflib import unified_diff

    sides = [content(path, LARGEST) if path else b"" for path in (change.path, change.source)]
    now, then = (
        b"" if found.kind == "missing" else data
        for found, data in zip((change.before, change.after), sides, strict=True)
    )
    if now is None or then is None or b"\0" in now + then:
        return "(it is not text, or too large to compare; the two differ)"
    before, after = (data.decode("utf-8", "replace").split("\n") for data in (now, then))
    return "\n".join(unified_diff(before, after, "now", "then", lineterm=""))


def _restore_text(data: Row) -> str:
    if data["done"]:
        undo = f"\nUndo it: foretold files undo {data['undo']}" if data["undo"] else ""
        return f"{data['file']} is as it was at {data['at']}.{undo}"
    if data["problems"]:
        return "\n".join([f"{data['file']} cannot be put back; nothing was changed:", *map(str, data["problems"])])  # type: ignore[call-overload]
    if data["action"] == "nothing":
        return f"{data['file']} is what it was at {data['at']} already: there is nothing to do."
    said = [f"Nothing is changed yet. This would {data['action']} {data['file']}, as it was at {data['at']}:"]
    said += [f"+{data['added']} -{data['removed']} lines", str(data["diff"])]
    said += [f"Note: {note}" for note in data["notes"]]  # type: ignore[attr-defined]
    return end_text([*said, f"Do it: the same call with apply: true and token: {data['token']}"], data)


_RESTORE = """\
Bring a file of this project back to an earlier state (`at`: a name from file_versions such as 4d1f2c3a@v3, or a \
time such as 2h or 2026-10-31T14:00). Without `apply` nothing is changed: the answer shows what would be done, with a \
token. Show that to the user; then the same call with apply: true and the token does it. What is overwritten is kept, \
and the answer has the id that takes it back."""

TOOLS = (
    McpTool(
        "restore_file",
        "Bring back a file",
        _RESTORE,
        takes(
            "file",
            "at",
            file=text("a file of this project", most=4_000, least=1),
            at=text("a name from file_versions, or a time", most=100, least=1),
            apply=switch("do it; needs the token of the plan"),
            token=text("of the plan that was shown", most=64),
        ),
        record(
            file="the file",
            at="the state",
            action="change, make again, delete, set its mode, or nothing",
            done=flag("whether it was done"),
            added=number("lines"),
            removed=number("lines"),
            diff="what would change; empty if it was done",
            notes=several("what to know"),
            problems=several("what is in the way"),
            token=text("give it with apply; empty if it was done"),
            undo="what takes it back: foretold files undo ID",
            cut=CUT,
        ),
        restore_file,
        writes=True,
        destroys=True,
    ),
)
