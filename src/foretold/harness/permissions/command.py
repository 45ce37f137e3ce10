"""The verdict on a Bash call."""

from __future__ import annotations

from foretold.harness.permissions.bash import Judge, not_permitted, refused_file, refusing, removes_too_much
from foretold.harness.permissions.verdict import Verdict
from foretold.text.shell.parse import read_command
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.harness.permissions.check import Permission


def check_command(permission: Permission, given: Mapping[str, object], cwd: str) -> Verdict:
    """Whether a command may run."""
    command = str(given.get("command") or "")
    line = read_command(command)
    judge = Judge(
        cwd,
        permission.home,
        permission.folders,
        permission.refused_read,
        permission.refused_edit,
        permission.may_read,
        permission.may_edit,
        permission.may_search,
        accepts_edits=permission.mode == "acceptEdits",
    )
    deny, ask, allow = (
        [rule for rule in rules if rule.fits_tool("Bash", loosely=rules is not permission.allow)]
        for rules in (permission.deny, permission.ask, permission.allow)
    )
    denied = f"Permission to use Bash with command {command} has been denied."
    rule = refusing(line, command, deny) or permission.field_rule(deny, "Bash", given) or refused_file(line, judge)
    if rule is not None:
        return Verdict("deny", denied, rule.text)
    rule = refusing(line, command, ask) or permission.field_rule(ask, "Bash", given)
    if rule is not None:
        return Verdict("ask", "This command requires approval", rule.text)
    removed = removes_too_much(line, judge)
    if removed:
        return Verdict("ask", f"This command removes {removed}, which is never done without approval")
    if permission.mode == "bypassPermissions":
        return Verdict("allow")
    parts = not_permitted(command, line, allow, judge)
    if parts is None:
        return Verdict("ask", f"This command requires approval: {line.opaque}")
    if not parts:
        return Verdict("allow")
    if len(line.parts) == 1:
        return Verdict("ask", "This command requires approval")
    require = "part requires" if len(parts) == 1 else "parts require"
    listed = ", ".join(dict.fromkeys(parts))
    return Verdict("ask", f"This Bash command contains multiple operations. The following {require} approval: {listed}")
