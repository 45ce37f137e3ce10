"""The instructions of this place as hooks need them: which files at the start, which rules wait for which paths.

1. They are loaded once, and cached until a file that the load depends on changes.
2. For a touched file, the rules and nested files that apply to it are found. Rules come from the cache; a nested file
   is only looked for, and its text is loaded when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from foretold.types import TYPE_CHECKING, NamedTuple, estimate_tokens

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext

LONGEST = 16 * 1024  #: characters of a rule that is cached; of a longer one only the name


class WaitingRule(NamedTuple):
    """A rule that waits for paths relative to `base`."""

    path: str
    base: str
    globs: tuple[str, ...]
    text: str  #: as the model would see it; empty if it is too long to be cached


class LoadedInstructions(NamedTuple):
    """What hooks need of a view."""

    loaded: tuple[tuple[str, str], ...]  #: what `InstructionsLoaded` will report at the start: path and reason
    started: tuple[str, ...]  #: the files of the start
    rules: tuple[WaitingRule, ...]
    names: tuple[str, ...]  #: of nested files and rule folders
    triggers: tuple[tuple[str, str], ...]  #: the tools with which the agent itself attaches, and the field they read
    template: str
    restores: int  #: how many files the agent attaches again after a compaction
    patterns: str = "ignore"  #: how the globs of the rules match


def instructions_here(context: HookContext) -> LoadedInstructions:
    """The instructions of this place."""
    value = context.cached("instructions")
    if value is None:
        value = load_instructions(context)
    loaded, started, rules, *others = value
    return LoadedInstructions(loaded, started, tuple(WaitingRule(*rule) for rule in rules), *others)


def load_instructions(context: HookContext) -> tuple[object, ...]:
    """Load the view again, and cache what is needed of it."""
    from foretold.dialects.claude_code.compaction import compaction_rules
    from foretold.dialects.compaction import effect_of
    from foretold.dialects.registry import make_request
    from foretold.instructions.load import load_view
    from foretold.serve.hooks.discovery import note_programs
    from foretold.storage.tree import Disk

    caller, disk = context.caller, Disk()
    choice, request = make_request(context.folder, caller.agent, **caller.around)
    view = load_view(disk, choice, request)
    note_programs(disk, choice, caller)
    dialect = choice.dialect
    sources = [each for each in (view.surroundings.touch or dialect.touch) if each.base == "below"]
    value = (
        tuple((str(load["file_path"]), str(load["load_reason"])) for load in view.loaded),
        tuple(entry.path for entry in view.entries),
        tuple(
            (rule.entry.path, rule.base, rule.entry.globs, rule.entry.text if len(rule.entry.text) <= LONGEST else "")
            for rule in view.waiting
        ),
        tuple(dict.fromkeys(source.name for source in sources)),
        tuple((trigger.tool, trigger.key) for trigger in dialect.triggers),
        dialect.template.nested,
        compaction_rules(dialect.version).files if effect_of("compact", dialect.agent).restores else 0,
        dialect.rules.patterns,
    )
    context.store("instructions", value, disk, dialect.environment)
    return value


def rules_for(here: LoadedInstructions, path: str) -> list[WaitingRule]:
    """The rules that wait for a path, in their order."""
    plausible = [rule for rule in here.rules if path != rule.base and path.startswith(rule.base.rstrip("/") + "/")]
    if not plausible:
        return []
    from foretold.text.globs.early_ignore import matcher_of

    matcher = matcher_of(here.patterns)
    likely = [rule for rule in plausible if _may_match(rule.globs, path.lower())]
    below = [(rule, path[len(rule.base.rstrip("/")) + 1 :]) for rule in likely]
    return [rule for rule, inside in below if matcher(rule.globs).matches(inside)]


def _may_match(globs: Iterable[str], path: str) -> bool:
    """Whether a path has the literal parts of one of the globs: this rules out most rules cheaply.

    >>> _may_match(["src/**/*.ts"], "/r/src/a/b.ts"), _may_match(["lib/*.py", "*.go"], "/r/src/a/b.ts")
    (True, False)
    """
    for line in globs:
        if not line.isascii() or not path.isascii() or "[" in line or "\\" in line or "!" in line or "?" in line:
            return True
        parts = line.lower().strip(" \r\n").replace("/**", "**").replace("**/", "**").split("*")
        if all(part.strip("/ ") in path for part in parts):
            return True
    return False


def nested_for(here: LoadedInstructions, folder: str, path: str) -> list[str]:
    """The nested files and rule folders between the folder of the conversation and a file, the outermost first."""
    inside = path[len(folder.rstrip("/")) + 1 :] if path.startswith(folder.rstrip("/") + "/") else ""
    found, at = [], folder.rstrip("/")
    for part in inside.split("/")[:-1]:
        at = f"{at}/{part}"
        found += [f"{at}/{name}" for name in here.names if os.path.lexists(f"{at}/{name}")]
    return found


def load_nested(context: HookContext, path: str, without: frozenset[str]) -> list[tuple[str, str]]:
    """Path and text of what reading a file would attach; slow and exact."""
    from foretold.instructions.session import Session

    session = Session(context.folder, agent=context.caller.agent, **context.caller.around)
    session.start()
    return [(entry.path, entry.text) for entry in session.read(path).entries if entry.path not in without]


def inside_texts(context: HookContext, texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Files with their text; without it where a link leads out of the project: such a file is named, not quoted."""
    roots = [os.path.realpath(folder).rstrip("/") + "/" for folder in (context.folder, context.place.root)]

    def is_inside(path: str) -> bool:
        real = os.path.realpath(path)
        return real == path or any(real.startswith(root) for root in roots)

    return [(path, text if is_inside(path) else "") for path, text in texts]


def fit_texts(opening: str, texts: list[tuple[str, str]], template: str, budget: int) -> str:
    """Files with their text, as many as fit; the others by name. Empty if there are none.

    >>> print(fit_texts("Lost:", [("a.md", "Use tabs."), ("b.md", "x" * 900)], "Contents of {path}:\\n\\n{text}", 50))
    Lost:
    <BLANKLINE>
    Contents of a.md:
    <BLANKLINE>
    Use tabs.
    <BLANKLINE>
    Too long to quote here; read before you continue: b.md
    """
    if not texts:
        return ""
    parts, left, room = [opening], [], budget - estimate_tokens(opening)
    for path, text in texts:
        shown = template.replace("{path}", path).replace("{text}", text.strip())
        cost = estimate_tokens(shown) + 1
        if text and cost <= room:
            room -= cost
            parts.append(shown)
        else:
            left.append(path)
    if left:
        parts.append(f"Too long to quote here; read before you continue: {', '.join(left)}")
    return "\n\n".join(parts)
