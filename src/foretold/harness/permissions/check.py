"""Whether a tool may be used: rules, a mode, and the folders that a conversation works in.

1. Rules that refuse come first, then those that ask, then those that permit; the first that is about a call decides,
   however special another one is.
2. Without a rule: reading is free in the folders that the conversation works in, and commands that only look there
   are; everything else is asked.
3. Modes: `default`; `acceptEdits` permits changes of files there, too; `plan` refuses all changes of files; `dontAsk`
   refuses what would be asked; `bypassPermissions` permits everything that no rule refuses or asks about, but a removal
   of what nobody removes on purpose.
4. Files that steer git, editors, shells or the agent are never changed without asking, whatever rules permit; but in
   the memory folder, notes are written freely, as the agent does.
5. A file is judged by all its spellings: what refuses one of them refuses it, what permits it must permit all.

This needs nothing of the instructions that a conversation has, and they nothing of this.
"""

from __future__ import annotations

import os

from foretold.harness.permissions.paths import are_below, both, is_protected, spellings
from foretold.harness.permissions.rules import CHANGING, MODES, PATHS, Rule, first_about, parse_rule
from foretold.harness.permissions.verdict import NOBODY, Verdict
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foretold.types import Finding

__all__ = ["Permission", "Verdict"]

ASKED = "{what} {path} needs the user's permission."


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
        allow: Iterable[str | Rule] = (),
        deny: Iterable[str | Rule] = (),
        ask: Iterable[str | Rule] = (),
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
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
        self.mode = MODES[mode]
        self.cwd = os.path.abspath(cwd)
        self.home = os.fspath(home) or os.path.expanduser("~")
        self.memory = os.fspath(memory)
        self.add_dirs = tuple(os.path.join(self.cwd, os.fspath(folder)) for folder in add_dirs)
        self.folders = both((self.cwd, *self.add_dirs))
        found = list(findings)
        self.allow = self._rules(allow, "allow", found)
        self.deny = self._rules(deny, "deny", found)
        self.ask = self._rules(ask, "ask", found)
        self.findings = tuple(found)

    def _rules(self, rules: Iterable[str | Rule], kind: str, findings: list[Finding]) -> tuple[Rule, ...]:
        from foretold.harness.permissions.settings import checked

        made = []
        for given in rules:
            text = given if isinstance(given, str) else given.text
            rule = parse_rule(given, base=self.cwd, cwd=self.cwd, home=self.home) if isinstance(given, str) else given
            rule = checked(rule, text, kind, "permissions", findings)
            if rule is not None:
                made.append(rule)
        return tuple(made)

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
            found.allow,
            found.deny,
            found.ask,
            cwd=cwd,
            add_dirs=(*found.add_dirs, *add_dirs),
            home=found.home,
            memory=memory,
            findings=found.findings,
        )

    def check(self, tool: str, given: Mapping[str, object], *, cwd: str = "") -> Verdict:
        """Whether a call is permitted. Relative paths begin at `cwd`, by default at the folder of the conversation."""
        here = cwd or self.cwd
        if tool == "Bash":
            from foretold.harness.permissions.command import check_command

            verdict = check_command(self, given, here)
        elif tool in PATHS:
            verdict = self._check_file(tool, given, self.place_of(tool, given, here))
        else:
            verdict = self._check_tool(tool, given)
        if verdict.decision == "ask" and self.mode == "dontAsk":
            return verdict.refused(NOBODY)
        return verdict

    def works_in(self, path: str) -> bool:
        """Whether a path is in the folders that the conversation works in, by all its spellings."""
        return are_below(spellings(os.path.join(self.cwd, path)), self.folders)

    def may_show(self, path: str) -> bool:
        """Whether a search may show a file: no rule refuses to read it."""
        return not any(rule.fits_tool("Read", loosely=True) for rule in self.deny) or self.refused_read(path) is None

    def may_read(self, path: str) -> bool:
        """Whether a file may be read without asking. The path is as the kernel takes it: `..` is behind links."""
        return self._check_file("Read", {}, os.path.join(self.cwd, path)).decision == "allow"

    def may_edit(self, path: str) -> bool:
        """Whether a file may be changed without asking."""
        return self._check_file("Edit", {}, os.path.join(self.cwd, path)).decision == "allow"

    def may_search(self, folder: str) -> bool:
        """Whether no rule refuses to read anything that may be in a folder."""
        rules = [rule for rule in self.deny if rule.fits_tool("Read", loosely=True)]
        return not any(rule.may_reach(path) for path in spellings(folder) for rule in rules)

    def refused_read(self, path: str) -> Rule | None:
        return self._about(self.deny, "Read", spellings(path), every=False)

    def refused_edit(self, path: str) -> Rule | None:
        return self._about(self.deny, "Edit", spellings(path), every=False)

    def _about(self, rules: Iterable[Rule], tool: str, paths: tuple[str, ...], *, every: bool) -> Rule | None:
        return first_about((rule for rule in rules if rule.fits_tool(tool, loosely=not every)), paths, every=every)

    def field_rule(self, rules: Iterable[Rule], tool: str, given: Mapping[str, object]) -> Rule | None:
        """A rule about a field of the input."""
        found = (rule for rule in rules if rule.fits_tool(tool, loosely=True) and rule.fits_field(given, tool))
        return next(found, None)

    def _check_tool(self, tool: str, given: Mapping[str, object]) -> Verdict:
        """Tools that are not ours: by their names."""
        for decision, rules in (("deny", self.deny), ("ask", self.ask), ("allow", self.allow)):
            for rule in rules:
                if not rule.fits_tool(tool, loosely=decision != "allow"):
                    continue
                if not rule.about or (decision != "allow" and rule.fits_field(given, tool)):
                    return Verdict(decision, _DECIDED[decision].format(tool=tool), rule.text)
        if self.mode == "bypassPermissions":
            return Verdict("allow")
        return Verdict("ask", _DECIDED["ask"].format(tool=tool))

    def _check_file(self, tool: str, given: Mapping[str, object], path: str) -> Verdict:
        changes = tool in CHANGING
        paths = spellings(path)
        asks = ASKED.format(what="Writing to" if changes else "Reading from", path=path)
        if (
            rule := self._about(self.deny, tool, paths, every=False) or self.field_rule(self.deny, tool, given)
        ) is not None:
            return Verdict("deny", "File is in a directory that is denied by your permission settings.", rule.text)
        if tool == "Edit" and (rule := self._about(self.deny, "Read", paths, every=False)) is not None:
            said = "File is covered by a Read deny rule in your permission settings and cannot be edited."
            return Verdict("deny", said, rule.text)
        if (
            rule := self._about(self.ask, tool, paths, every=False) or self.field_rule(self.ask, tool, given)
        ) is not None:
            return Verdict("ask", asks, rule.text)
        if self.mode == "bypassPermissions":
            return Verdict("allow")
        if changes:
            return self._check_change(tool, paths, asks)
        if (rule := self._about(self.allow, tool, paths, every=True)) is not None:
            return Verdict("allow", rule=rule.text)
        free = (*self.folders, *both([self.memory])) if self.memory else self.folders
        return Verdict("allow") if are_below(paths, free) else Verdict("ask", asks)

    def _check_change(self, tool: str, paths: tuple[str, ...], asks: str) -> Verdict:
        if self.mode == "plan":
            return Verdict("deny", f"Nothing is changed in plan mode: {paths[0]}")
        if self.memory and self._is_memory(paths[0]):
            return Verdict("allow")
        if any(is_protected(path, self.folders) for path in paths):
            return Verdict("ask", asks)
        if (rule := self._about(self.allow, tool, paths, every=True)) is not None:
            return Verdict("allow", rule=rule.text)
        accepted = self.mode == "acceptEdits" and are_below(paths, self.folders)
        return Verdict("allow") if accepted else Verdict("ask", asks)

    def _is_memory(self, path: str) -> bool:
        from foretold.memory.format.agent import writes_without_asking

        return writes_without_asking(path, self.memory)

    def place_of(self, tool: str, given: Mapping[str, object], cwd: str) -> str:
        """The absolute path that a call is about."""
        path = str(given.get(PATHS[tool]) or "").strip()
        pattern = str(given.get("pattern") or "")
        if tool == "Glob" and pattern.startswith("/"):
            from foretold.harness.tools.walk import search_place

            path = search_place(pattern, path)[0]
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return os.path.normpath(os.path.join(cwd, path))


_DECIDED = {
    "deny": "Permission to use {tool} has been denied.",
    "ask": "Using {tool} needs the user's permission.",
    "allow": "",
}
