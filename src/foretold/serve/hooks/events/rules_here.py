"""What the agent is told here, in the form that hooks need: which files at the start, which rules wait for which paths.

1. It is worked out by loading, once, and kept until a file that the load depends on changes.
2. For a file that was touched it is asked which rules and nested files speak for it. Rules come from what is kept; a
   nested file is only looked for, and its text is loaded when it is wanted.
"""

from __future__ import annotations

import os

from foretold.types import TYPE_CHECKING, NamedTuple, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.serve.hooks.context import Scene

LONGEST = 16 * 1024  #: characters of a rule that are kept; of a longer one only the name


class Rule(NamedTuple):
    """A rule that waits: for paths seen from `base`."""

    path: str
    base: str
    globs: tuple[str, ...]
    text: str  #: as the model would see it; empty if it is too long to be kept


class Told(NamedTuple):
    """What hooks need to know of a view."""

    loaded: tuple[tuple[str, str], ...]  #: what `InstructionsLoaded` will report at the start: path and reason
    started: tuple[str, ...]  #: the files of the start
    rules: tuple[Rule, ...]
    names: tuple[str, ...]  #: of nested files and rule folders
    triggers: tuple[tuple[str, str], ...]  #: the tools with which the agent itself attaches, and the field they read
    template: str
    restores: int  #: how many files the agent attaches again after a compaction


def told_here(scene: Scene) -> Told:
    """The table of this place."""
    value = scene.recalled("told")
    if value is None:
        value = look(scene)
    loaded, started, rules, *others = value
    return Told(loaded, started, tuple(Rule(*rule) for rule in rules), *others)


def look(scene: Scene) -> tuple[object, ...]:
    """Load the view anew, and keep what is needed of it."""
    from foretold.dialects.claude_code.compaction import form_of
    from foretold.dialects.compaction import after
    from foretold.instructions.load import ask, load_view
    from foretold.serve.hooks.placing import note_programs
    from foretold.storage.tree import Disk

    asking, disk = scene.asking, Disk()
    choice, request = ask(
        scene.folder, asking.agent, asking.home, asking.managed or None, asking.env, (), None, None, None, ()
    )
    view = load_view(disk, choice, request)
    note_programs(disk, choice, asking)
    dialect = choice.dialect
    sources = [each for each in (view.surroundings.touch or dialect.touch) if each.base == "below"]
    value = (
        tuple((str(said["file_path"]), str(said["load_reason"])) for said in view.loaded),
        tuple(entry.path for entry in view.entries),
        tuple(
            (rule.entry.path, rule.base, rule.entry.globs, rule.entry.text if len(rule.entry.text) <= LONGEST else "")
            for rule in view.waiting
        ),
        tuple(dict.fromkeys(source.name for source in sources)),
        tuple((trigger.tool, trigger.key) for trigger in dialect.triggers),
        dialect.template.nested,
        form_of(dialect.version).files if after("compact", dialect.agent).restores else 0,
    )
    scene.keep("told", value, disk, dialect.environment)
    return value


def rules_for(told: Told, path: str) -> list[Rule]:
    """The rules that wait for a path, in their order."""
    plausible = [rule for rule in told.rules if path != rule.base and path.startswith(rule.base.rstrip("/") + "/")]
    if not plausible:
        return []
    from foretold.text.globs.npm_ignore import Matcher

    found = []
    folded = path.lower()
    for rule in plausible:
        if not _may_match(rule.globs, folded):
            continue
        if Matcher(rule.globs).matches(path[len(rule.base.rstrip("/")) + 1 :]):
            found.append(rule)
    return found


def _may_match(globs: Iterable[str], path: str) -> bool:
    """Whether a path has the plain letters that a line asks for, for one of the lines: most rules are told apart so.

    >>> _may_match(["src/**/*.ts"], "/r/src/a/b.ts"), _may_match(["lib/*.py", "*.go"], "/r/src/a/b.ts")
    (True, False)
    """
    for line in globs:
        if not line.isascii() or not path.isascii() or "[" in line or "\\" in line or "!" in line or "?" in line:
            return True
        stretches = line.lower().strip(" \r\n").replace("/**", "**").replace("**/", "**").split("*")
        if all(stretch.strip("/ ") in path for stretch in stretches):
            return True
    return False


def nested_for(told: Told, folder: str, path: str) -> list[str]:
    """The nested files and folders of rules between the folder of the conversation and a file, the outermost first."""
    inside = path[len(folder.rstrip("/")) + 1 :] if path.startswith(folder.rstrip("/") + "/") else ""
    found, at = [], folder.rstrip("/")
    for part in inside.split("/")[:-1]:
        at = f"{at}/{part}"
        found += [f"{at}/{name}" for name in told.names if os.path.lexists(f"{at}/{name}")]
    return found


def nested_texts(scene: Scene, path: str, without: frozenset[str]) -> list[tuple[str, str]]:
    """Path and text of what reading a file would attach, the slow and exact way."""
    from foretold.instructions.session import Session

    asking = scene.asking
    session = Session(
        scene.folder, agent=asking.agent, home=asking.home, managed=asking.managed or None, env=asking.env
    )
    session.start()
    return [(entry.path, entry.text) for entry in session.read(path).entries if entry.path not in without]


def within(opening: str, texts: list[tuple[str, str]], template: str, budget: int) -> str:
    """Files with their text, as many as fit; the others by name. Empty if there are none.

    >>> print(within("Lost:", [("a.md", "Use tabs."), ("b.md", "x" * 900)], "Contents of {path}:\\n\\n{text}", 50))
    Lost:
    <BLANKLINE>
    Contents of a.md:
    <BLANKLINE>
    Use tabs.
    <BLANKLINE>
    Too long to be quoted here; read before you go on: b.md
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
        parts.append(f"Too long to be quoted here; read before you go on: {', '.join(left)}")
    return "\n\n".join(parts)
