"""Whether a tool may be used: rules, a mode, and the folders that a conversation works in.

1. Rules that refuse come first, then those that ask, then those that allow. The first that matches a call decides, no
   matter how specific another one is.
2. Without a rule: reading is free in the folders that the conversation works in, and so are commands that only look
   there; anything else is asked.
3. Modes: `default`; `acceptEdits` also allows changes of files there; `plan` refuses all changes of files; `dontAsk`
   refuses what would be asked; `bypassPermissions` allows everything that no rule refuses or asks about, except to
   remove what no one removes on purpose, and to run commands whose names are not known where rules name commands.
4. Files that configure git, editors, shells or the agent are never changed without asking, even if a rule allows it.
   In the memory folder, notes are written freely, as the agent does.
5. `Agent`, `Skill` and `ToolSearch` are free unless a rule says otherwise: what they lead to is checked itself.
6. A file is judged by all its spellings: a rule that refuses one refuses the file; to allow it, it must allow all.

This imports nothing of the instructions that a conversation has, nor they of this. The wording of a refusal is ours and
says who refused: Claude Code tells its model that the user has not granted it *yet*, even where no one was asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from foretold.harness.permissions.paths import are_below, is_protected, spellings, with_real_paths
from foretold.harness.permissions.rules import CHANGING, PATHS, PermissionRule, check_mode, first_match, parse_rule
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.types import Finding

USER_REFUSED = "The user was asked and said no. It was not done: do not try it in another way, ask what to do instead."
NOT_ASKED = "No one can be asked here, so it was not done. Do without it, or tell the user which permission is missing."
#: tools that do nothing by themselves: what a subagent or a loaded tool does is asked about then
FREE = frozenset({"Agent", "Skill", "ToolSearch"})
_NEEDS_PERMISSION = "{what} {path} needs the user's permission."
_REASONS = {
    "deny": "Permission to use {tool} has been denied.",
    "ask": "Using {tool} needs the user's permission.",
    "allow": "",
}


class PermissionVerdict(NamedTuple):
    """Whether a call is permitted."""

    decision: str  #: allow, deny, ask
    reason: str = ""  #: for the model and for a person
    rule: str = ""  #: the rule that decided

    def refuse(self, why: str) -> PermissionVerdict:
        """What would be asked, as a refusal that says why.

        >>> PermissionVerdict("ask", "This command requires approval").refuse("No one can be asked here.").reason
        'This command requires approval. No one can be asked here.'
        """
        return self._replace(decision="deny", reason=f"{self.reason.rstrip('.')}. {why}")


class Permission:
    """What a conversation may do.

    >>> permission = Permission(allow=["Bash(npm run *)"], deny=["Read(./secrets/**)"], cwd="/repo", home="/home/ann")
    >>> def asked(tool, **given):
    ...     return permission.check(tool, given).decision
    >>> asked("Read", file_path="a.py"), asked("Read", file_path="secrets/key"), asked("Read", file_path="/etc/passwd")
    ('allow', 'deny', 'ask')
    >>> asked("Bash", command="npm run test"), asked("Bash", command="npm run test && rm x")
    ('allow', 'ask')
    """

    def __init__(
        self,
        mode: str = "default",
        allow: Iterable[str | PermissionRule] = (),
        deny: Iterable[str | PermissionRule] = (),
        ask: Iterable[str | PermissionRule] = (),
        *,
        cwd: str | os.PathLike[str] = ".",
        add_dirs: Iterable[str | os.PathLike[str]] = (),
        home: str | os.PathLike[str] = "",
        memory: str | os.PathLike[str] = "",
        findings: Iterable[Finding] = (),
    ) -> None:
        """Rules are texts, whose paths begin at `cwd`, or rules of settings. `memory` is the memory folder, if any.

        ValueError for a mode that is none.
        """
        self.mode = check_mode(mode)
        self.cwd = os.path.abspath(cwd)
        self.home = os.fspath(home) or os.path.expanduser("~")
        self.memory = os.fspath(memory)
        self.add_dirs = tuple(os.path.join(self.cwd, os.fspath(folder)) for folder in add_dirs)
        self.folders = with_real_paths((self.cwd, *self.add_dirs))
        found = list(findings)
        self.allow = self._rules(allow, "allow", found)
        self.deny = self._rules(deny, "deny", found)
        self.ask = self._rules(ask, "ask", found)
        self.findings = tuple(found)

    def _rules(
        self, rules: Iterable[str | PermissionRule], kind: str, findings: list[Finding]
    ) -> tuple[PermissionRule, ...]:
        from foretold.harness.permissions.settings import check_rule

        where = {"base": self.cwd, "cwd": self.cwd, "home": self.home}
        parsed = [(parse_rule(one, **where), one) if isinstance(one, str) else (one, one.text) for one in rules]
        return tuple(filter(None, (check_rule(*each, kind, "permissions", findings) for each in parsed)))

    @classmethod
    def load(
        cls,
        cwd: str | os.PathLike[str] = ".",
        *,
        home: str | os.PathLike[str] = "",
        env: Mapping[str, str] | None = None,
        managed: str = "",
        mode: str = "",
        add_dirs: Iterable[str | os.PathLike[str]] = (),
        memory: str | os.PathLike[str] = "",
        trusted: bool | None = None,
    ) -> Permission:
        """What the settings of Claude Code permit here. `trusted`: whether the project is; else as the agent has it."""
        from foretold.harness.permissions.settings import read_settings

        found = read_settings(os.path.abspath(cwd), os.fspath(home), env, managed, trusted=trusted)
        return cls(
            mode or found.mode,
            *found.rules.values(),  # in the order of the parameters
            cwd=cwd,
            add_dirs=(*found.add_dirs, *add_dirs),
            home=found.home,
            memory=memory,
            findings=found.findings,
        )

    def check(self, tool: str, given: Mapping[str, object], *, cwd: str = "") -> PermissionVerdict:
        """Whether a call is permitted. Relative paths begin at `cwd`, by default at the folder of the conversation."""
        here = cwd or self.cwd
        if tool == "Bash":
            verdict = self._check_command(given, here)
        elif tool in PATHS:
            verdict = self._check_file(tool, given, self.place_of(tool, given, here))
        else:
            verdict = self._check_tool(tool, given)
        if verdict.decision == "ask" and self.mode == "dontAsk":
            return verdict.refuse(NOT_ASKED)
        return verdict

    def works_in(self, path: str) -> bool:
        """Whether a path is in the folders that the conversation works in, by all its spellings."""
        return are_below(spellings(os.path.join(self.cwd, path)), self.folders)

    def may_show(self, path: str) -> bool:
        """Whether a search may show a file: no rule refuses to read it."""
        return not any(rule.fits_tool("Read", loosely=True) for rule in self.deny) or self.refusal("Read", path) is None

    def may_read(self, path: str) -> bool:
        """Whether a file may be read without asking. As in the kernel, `..` is applied after links."""
        return self._check_file("Read", {}, os.path.join(self.cwd, path)).decision == "allow"

    def may_edit(self, path: str) -> bool:
        """Whether a file may be changed without asking."""
        return self._check_file("Edit", {}, os.path.join(self.cwd, path)).decision == "allow"

    def may_search(self, folder: str) -> bool:
        """Whether no rule refuses to read anything that may be in a folder."""
        rules = [rule for rule in self.deny if rule.fits_tool("Read", loosely=True)]
        return not any(rule.may_reach(path) for path in spellings(folder) for rule in rules)

    def refusal(self, tool: str, path: str) -> PermissionRule | None:
        """The rule that refuses a file to a tool."""
        return first_match(self.deny, tool, spellings(path))

    def field_rule(
        self, rules: Iterable[PermissionRule], tool: str, given: Mapping[str, object]
    ) -> PermissionRule | None:
        """A rule about a field of the input."""
        found = (rule for rule in rules if rule.fits_tool(tool, loosely=True) and rule.fits_field(given, tool))
        return next(found, None)

    def _check_tool(self, tool: str, given: Mapping[str, object]) -> PermissionVerdict:
        """Tools that are not ours: by their names."""
        for decision, rules in (("deny", self.deny), ("ask", self.ask), ("allow", self.allow)):
            for rule in rules:
                if not rule.fits_tool(tool, loosely=decision != "allow"):
                    continue
                is_fit = rule.fits_subject(given, tool) or (decision != "allow" and rule.fits_field(given, tool))
                if not rule.about or is_fit:
                    return PermissionVerdict(decision, _REASONS[decision].format(tool=tool), rule.text)
        if self.mode == "bypassPermissions" or tool in FREE:
            return PermissionVerdict("allow")
        return PermissionVerdict("ask", _REASONS["ask"].format(tool=tool))

    def _check_command(self, given: Mapping[str, object], cwd: str) -> PermissionVerdict:
        from foretold.harness.permissions.bash import CommandCheck

        command = str(given.get("command") or "")
        check = CommandCheck(self, command, cwd)
        deny, ask, allow = (
            [rule for rule in rules if rule.fits_tool("Bash", loosely=rules is not self.allow)]
            for rules in (self.deny, self.ask, self.allow)
        )
        if rule := check.first_rule(deny) or self.field_rule(deny, "Bash", given) or check.refused_file():
            return PermissionVerdict(
                "deny", f"Permission to use Bash with command {command} has been denied.", rule.text
            )
        if rule := check.first_rule(ask) or self.field_rule(ask, "Bash", given):
            return PermissionVerdict("ask", "This command requires approval", rule.text)
        is_meant = any(rule.is_exact and rule.about == command.strip() for rule in allow)
        if not is_meant and (unknown := check.unknown_command([*deny, *ask])):
            return PermissionVerdict("ask", f"This command requires approval: {unknown}")
        if removed := check.removes_too_much():
            return PermissionVerdict("ask", f"This command removes {removed}, which is never done without approval")
        if self.mode == "bypassPermissions":
            return PermissionVerdict("allow")
        parts = check.parts_to_ask(allow)
        if parts is None:
            return PermissionVerdict("ask", f"This command requires approval: {check.line.opaque}")
        if not parts:
            return PermissionVerdict("allow")
        why = f": {check.git_programs}" if check.git_programs else ""
        if len(check.line.parts) == 1:
            return PermissionVerdict("ask", f"This command requires approval{why}")
        require = "part requires" if len(parts) == 1 else "parts require"
        reason = f"This Bash command contains multiple operations. The following {require} approval: "
        return PermissionVerdict("ask", reason + ", ".join(dict.fromkeys(parts)) + why)

    def _check_file(self, tool: str, given: Mapping[str, object], path: str) -> PermissionVerdict:
        changes = tool in CHANGING
        paths = spellings(path)
        asks = _NEEDS_PERMISSION.format(what="Writing to" if changes else "Reading from", path=path)
        if rule := first_match(self.deny, tool, paths) or self.field_rule(self.deny, tool, given):
            reason = "File is in a directory that is denied by your permission settings."
            return PermissionVerdict("deny", reason, rule.text)
        if tool == "Edit" and (rule := first_match(self.deny, "Read", paths)):
            reason = "File is covered by a Read deny rule in your permission settings and cannot be edited."
            return PermissionVerdict("deny", reason, rule.text)
        if rule := first_match(self.ask, tool, paths) or self.field_rule(self.ask, tool, given):
            return PermissionVerdict("ask", asks, rule.text)
        if self.mode == "bypassPermissions":
            return PermissionVerdict("allow")
        if changes:
            from foretold.memory.format.agent import writes_without_asking

            if self.mode == "plan":
                return PermissionVerdict("deny", f"Nothing is changed in plan mode: {paths[0]}")
            if self.memory and writes_without_asking(paths[0], self.memory):
                return PermissionVerdict("allow")
            if any(is_protected(path, self.folders) for path in paths):
                return PermissionVerdict("ask", asks)
        if (rule := first_match(self.allow, tool, paths, every=True)) is not None:
            return PermissionVerdict("allow", rule=rule.text)
        readable = (*self.folders, *with_real_paths([self.memory])) if self.memory else self.folders
        is_free = self.mode == "acceptEdits" or not changes
        is_free = is_free and are_below(paths, self.folders if changes else readable)
        return PermissionVerdict("allow") if is_free else PermissionVerdict("ask", asks)

    def place_of(self, tool: str, given: Mapping[str, object], cwd: str) -> str:
        """The absolute path that a call is about."""
        path = str(given.get(PATHS[tool]) or "").strip()
        pattern = str(given.get("pattern") or "")
        if tool == "Glob" and pattern.startswith("/"):
            from foretold.harness.tools.walk import split_pattern

            path = split_pattern(pattern, path)[0]
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return os.path.normpath(os.path.join(cwd, path))
