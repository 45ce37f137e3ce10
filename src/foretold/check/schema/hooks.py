"""Hooks: events, groups, matchers, handlers, and the scripts that they run.

1. An agent ignores an event that it does not know, so a slip of one it knows is lost. A name that is like none may be
   of a newer release.
2. Where an agent has groups, each is `{matcher, hooks: [handlers]}`; a handler in place of a group is not run.
3. A matcher is a regular expression, or names with `|` between; one that can match no tool is reported.
4. A handler needs a type, and what that type runs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.scripts import ScriptDoubt, check_scripts, find_in_arguments, find_scripts
from foretold.check.schema.source import SourceFile
from foretold.check.schema.spelling import find_near
from foretold.check.schema.values import find_slips, is_windows_path
from foretold.dialects.extensions.tables import HookTable
from foretold.dialects.releases.history import version_key
from foretold.harness.permissions.rules import parse_rule
from foretold.types import Facts, NamedTuple

MOST_MEANT = 1e12  #: of a timeout; a larger number is nonsense in any unit, and cannot be written as a float
MOST_SECONDS = 3_600  #: a hook that may run for more than an hour was meant to have milliseconds
FEWEST_MILLISECONDS = 100  #: no process starts in less
LONGEST_MATCHER = 1_000
_EXACT = re.compile(r"[\w\s,|-]*")
_RULE = re.compile(r"[A-Za-z_]+\(.*\)", re.DOTALL)


class HookPlace(NamedTuple):
    """Where hooks were found."""

    source: SourceFile
    table: HookTable
    agents: tuple[str, ...]
    base: str  #: the folder that the agent starts in
    plugin: str = ""  #: the top of a plugin
    version: str = ""  #: of the agent, if one was asked for
    keys: tuple[str, ...] = ("hooks",)  #: above the events


def check_hooks(project: Project, place: HookPlace, hooks: object) -> Iterator[CheckFinding | ScriptDoubt]:
    """What is wrong with the hooks of one file."""
    if hooks is None:
        return
    if not isinstance(hooks, dict):
        yield _finding(place, "hook-shape", "`hooks` is not an object with a key for each event", place.keys)
        return
    has_timeout = False  # who mixes up the unit does so everywhere: once is enough
    for event, groups in hooks.items():
        yield from _check_event(place, str(event), hooks)
        is_slip = str(event) not in place.table.events and bool(find_near(str(event), place.table.events))
        if not isinstance(groups, list):
            if str(event) in place.table.events:
                said = f"`{event}` is not a list, so the agent does not run what is in it"
                yield _finding(place, "hook-shape", said, (*place.keys, event))
            continue
        for finding in (each for group in groups for each in _check_group(project, place, str(event), group)):
            code = finding.code if isinstance(finding, CheckFinding) else ""
            if is_slip and code == "hook-shape":
                continue  # that it is not an event says why it is not run
            if code != "hook-timeout" or not has_timeout:
                yield finding
            has_timeout = has_timeout or code == "hook-timeout"


def _check_event(place: HookPlace, event: str, hooks: Mapping[str, object]) -> Iterator[CheckFinding]:
    table = place.table
    if event in table.events:
        since = table.events[event]
        if since and place.version and version_key(place.version) < version_key(since):
            said = f"`{event}`: this event exists from version {since} on, not in {place.version}"
            yield _finding(place, "hook-event", said, (*place.keys, event))
        return
    if event[:1] in "_$#/" or event in ("state", "description", "version", "enabled", "disabled", "notifications"):
        return
    near = find_near(event, table.events)
    hint = f"write {near}" if near else f"see {table.document} for the events of your release"
    said = f"`{event}` is not an event of this agent, so its hooks never run"
    finding = _finding(place, "hook-event", said, (*place.keys, event), hint)
    finding = finding._replace(facts=Facts(event, near)) if near else finding
    # next to the event as it should be, such a key is what is left of it
    yield finding if near and near not in hooks else finding._replace(severity="warning")


def _check_group(project: Project, place: HookPlace, event: str, group: object) -> Iterator[CheckFinding | ScriptDoubt]:
    keys = (*place.keys, event)
    if not isinstance(group, dict):
        yield _finding(place, "hook-shape", f"`{event}` has an item that is not an object", keys)
        return
    if not place.table.has_groups:
        nested = group.get("hooks")
        handlers = nested if isinstance(nested, list) else [group]
        for handler in handlers:
            yield from _check_handler(project, place, event, handler)
        return
    yield from _check_matcher(place, event, group)
    if "hooks" not in group:
        if "command" in group or "type" in group:
            said = f"`{event}` has a handler where a group belongs, so it is not run"
            hint = 'write {"matcher": …, "hooks": [{"type": "command", "command": …}]}'
            yield _finding(place, "hook-shape", said, (*keys, group.get("command") or "type"), hint)
        else:
            near = next((key for key in group if find_near(str(key), ("hooks",))), "")
            hint = f"write hooks instead of {near}" if near else "give it a list `hooks`"
            yield _finding(place, "hook-shape", f"`{event}` has a group without `hooks`", (*keys, near), hint)
        return
    handlers = group["hooks"]
    if not isinstance(handlers, list):
        yield _finding(place, "hook-shape", f"`hooks` of a group of `{event}` is not a list", keys)
        return
    for handler in handlers:
        yield from _check_handler(project, place, event, handler)


# -- matchers


def _check_matcher(place: HookPlace, event: str, group: Mapping[str, object]) -> Iterator[CheckFinding]:
    matcher = group.get("matcher")
    if matcher is None or matcher in ("", "*"):
        return
    keys = (*place.keys, event, "matcher")
    if not isinstance(matcher, str):
        said = f"the matcher of `{event}` is not a text, so the agent refuses the file"
        yield _finding(place, "hook-matcher", said, keys, 'write names with | between them: "Edit|Write"')
        return
    if len(matcher) > LONGEST_MATCHER:
        return
    keys = (*place.keys, event, matcher)
    table = place.table
    why = find_pattern_fault(matcher) if not _EXACT.fullmatch(matcher) else ""
    if why:
        yield _finding(place, "hook-matcher", f"`{matcher}`: not a valid regular expression: {why}", keys)
    elif event in table.tool_events and table.tools:
        yield from _check_tool_matcher(place, matcher, keys)
    elif event in table.matched and _EXACT.fullmatch(matcher):
        for name in _names(matcher):
            near = find_near(name, table.matched[event]) if name not in table.matched[event] else ""
            if near:
                said = f"`{name}`: a matcher of `{event}` that never matches"
                yield _finding(place, "hook-matcher", said, keys, f"write {near}")


def _check_tool_matcher(place: HookPlace, matcher: str, keys: tuple[object, ...]) -> Iterator[CheckFinding]:
    if (
        _RULE.fullmatch(matcher)
        and "|" not in matcher.partition("(")[0]
        and re.search(r"\([^)|]*[ :*/][^)]*\)", matcher)
    ):
        said = f"`{matcher}`: a matcher is the name of a tool, not a permission rule, so this never matches"
        hint = f'write "matcher": "{matcher.partition("(")[0]}", and "if": "{matcher}" in the handler'
        yield _finding(place, "hook-matcher", said, keys, hint)
        return
    if not _EXACT.fullmatch(matcher):
        return
    for name in _names(matcher):
        if name in place.table.tools:
            continue
        if re.fullmatch(r"mcp__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*", name):
            said = f"`{name}`: the name of a server alone matches no tool"
            yield _finding(place, "hook-matcher", said, keys, f"write {name}__.*")
            continue
        near = "" if name.startswith("mcp__") else find_near(name, place.table.tools)
        if near:
            said = f"`{name}` is not a tool, so the matcher never matches it"
            yield _finding(place, "hook-matcher", said, keys, f"write {near}")


def _names(matcher: str) -> list[str]:
    return [name for each in re.split(r"[|,]", matcher) if (name := each.strip())]


#: what makes a regular expression invalid in JavaScript, and in Python for the same reason
_FAULTS = ("nothing to repeat", "missing )", "unbalanced parenthesis", "unterminated character set", "multiple repeat")


def find_pattern_fault(pattern: str) -> str:
    """Why a pattern is not a valid regular expression of JavaScript; empty if it is, or that is not certain.

    >>> find_pattern_fault("Edit|(Write"), find_pattern_fault("mcp__.*"), find_pattern_fault("*Bash")
    ('missing ), unterminated subpattern', '', 'nothing to repeat')
    """
    if re.match(r"\(\?[a-z]+\)", pattern):
        return "JavaScript has no flags in the pattern"
    if "[]" in pattern or "[^]" in pattern:  # valid there, and not in Python
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))
    except (re.error, RecursionError, OverflowError) as error:
        said = str(error).partition(" at position")[0]
        return said if said.startswith(_FAULTS) else ""
    return ""


# -- handlers


def _check_handler(
    project: Project, place: HookPlace, event: str, handler: object
) -> Iterator[CheckFinding | ScriptDoubt]:
    table, keys = place.table, (*place.keys, event)
    if not isinstance(handler, dict):
        yield _finding(place, "hook-shape", f"a handler of `{event}` is not an object", keys)
        return
    for key, near in find_slips([str(key) for key in handler], table.fields):
        yield _finding(
            place, "hook-handler", f"`{key}` in a handler of `{event}` is not read", (*keys, key), f"write {near}"
        )
    kind = handler.get("type")
    if kind is None and table.needs_type:
        first = next((str(handler[field]) for field in ("command", "url", "prompt") if field in handler), "")
        said = f"a handler of `{event}` has no `type`, so the agent refuses it"
        yield _finding(place, "hook-handler", said, (*keys, first), 'add "type": "command"')
    elif kind is not None and str(kind) not in table.handlers:
        near = find_near(str(kind), table.handlers)
        known = ", ".join(table.handlers)
        said = f"`{kind}` is not a type of a handler"
        yield _finding(
            place, "hook-handler", said, (*keys, "type", kind), f"write {near}" if near else f"write one of {known}"
        )
    needed = table.handlers.get(str(kind or "command"), ())
    if needed and not any(handler.get(field) for field in needed) and not find_slip_of(handler, needed):
        said = f"a handler of `{event}` has no `{needed[0]}`, so it does nothing"
        yield _finding(place, "hook-handler", said, (*keys, "type"), f"add {needed[0]}")
    yield from _check_details(place, event, handler)
    yield from _check_commands(project, place, event, handler)


def find_slip_of(handler: Mapping[object, object], needed: tuple[str, ...]) -> bool:
    """Whether a handler has what it needs under a name that is nearly the right one: then that was reported."""
    return any(find_near(str(key), needed) for key in handler)


def _check_details(place: HookPlace, event: str, handler: Mapping[str, object]) -> Iterator[CheckFinding]:
    """Timeouts in the wrong unit, and conditions that never hold."""
    keys = (*place.keys, event)
    timeout = handler.get("timeout")
    if isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout < MOST_MEANT:
        if place.table.unit == "seconds" and timeout > MOST_SECONDS and timeout % 100 == 0:
            said = f"`timeout` is {timeout:g} seconds: {timeout / 3600:.1f} hours"
            yield _finding(place, "hook-timeout", said, (*keys, "timeout"), f"write {timeout / 1000:g} for seconds")
        if place.table.unit == "milliseconds" and 0 < timeout < FEWEST_MILLISECONDS:
            said = f"`timeout` is {timeout:g} milliseconds, so the hook is stopped before it has started"
            yield _finding(place, "hook-timeout", said, (*keys, "timeout"), f"write {timeout * 1000:g}")
    condition = handler.get("if")
    if condition is None or not place.table.conditional:
        return
    if event in place.table.events and event not in place.table.tool_events:
        said = f"a handler of `{event}` has `if`, which only events about tools have: it never runs"
        yield _finding(place, "hook-handler", said, (*keys, "if"), "remove `if`")
    elif isinstance(condition, str) and parse_rule(condition) is None:
        said = f"`{condition}`: `if` is not a permission rule"
        yield _finding(place, "hook-handler", said, (*keys, "if"), "write Tool or Tool(…)")


def _check_commands(
    project: Project, place: HookPlace, event: str, handler: Mapping[str, object]
) -> Iterator[CheckFinding | ScriptDoubt]:
    for field in place.table.commands:
        command = handler.get(field)
        if not isinstance(command, str) or handler.get("cwd"):
            continue
        arguments = handler.get("args")
        uses = find_in_arguments(command, arguments) if isinstance(arguments, list) else find_scripts(command)
        folder = place.source.path.rpartition("/")[0]
        uses = [use for use in uses if not is_windows_path(use.path)]
        for script in check_scripts(project, uses, place.base, place.plugin, folder):
            shown = project.relative(script.path)
            keys = (*place.keys, event, command)
            if script.is_there:
                said = f"{shown} is not executable, so the hook of `{event}` fails"
                yield _finding(place, "hook-not-executable", said, keys, f"chmod +x {shown}")
            else:
                said = f"{shown}: there is no such script, so the hook of `{event}` fails"
                finding = CheckFinding(place.source.path, None, "hook-script-missing", said, "", place.agents)
                yield ScriptDoubt(script.places, finding, place.source, tuple(filter(None, keys)))
        return


def _finding(place: HookPlace, code: str, message: str, keys: tuple[object, ...], hint: str = "") -> CheckFinding:
    line = place.source.line_of(*(key for key in keys if key))
    return CheckFinding(place.source.path, line, code, message, hint, place.agents)
