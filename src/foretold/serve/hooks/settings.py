"""Settings of hooks: `[hooks]` in the user's `config.toml`, and in `.foretold.toml` of a repository.

1. Each thing that a hook says can be switched off, and whole events too (`off`). The budget is for a prompt's recall.
2. What writes files (`archive`) or costs money (`extract`, the name of a model) is off until the user switches it on.
3. A repository can only make hooks quieter: it switches off, never on, and lowers the budget, never raises it. It
   cannot stop memories from being guarded: neither with `guard`, nor by switching off the event (GUARDS).
4. A setting that is not understood is ignored, and logged once when it is read.
"""

from __future__ import annotations

from foretold.serve.hooks import EVENTS
from foretold.types import NamedTuple

BUDGET = 1200  #: tokens
LARGEST = 20_000
SWITCHES = ("recall", "team", "rules", "drift", "archive")
GUARDS = ("PreToolUse",)  #: events that only the user switches off
#: what a repository may do with a setting
LIMITS = dict.fromkeys((*SWITCHES, "extract"), "a repository can only set it to false")
LIMITS |= dict.fromkeys(("budget", "off"), "this is not understood")


class HookSettings(NamedTuple):
    """What hooks may do here."""

    recall: bool = True  #: memories that a prompt is about
    budget: int = BUDGET  #: tokens for them
    team: bool = True  #: the team's index at the start
    rules: bool = True  #: instructions that the agent misses, and those that a compaction dropped
    drift: bool = True  #: memories that name a file which was just changed
    guard: bool = True  #: the policy for writing memories
    archive: bool = False  #: archive the transcript at the end of a turn
    extract: str = ""  #: the model that learns from a turn; empty: none does
    off: tuple[str, ...] = ()  #: events for which nothing is said or done


def merge_settings(user: object, repository: object, problems: list[str]) -> HookSettings:
    """The user's settings, made quieter by the repository's.

    >>> both = {"budget": 800, "archive": True}, {"recall": False, "budget": 5000, "extract": "x"}
    >>> merge_settings(*both, problems := [])[:3], problems
    ((False, 800, True), [".foretold.toml: hooks.extract is 'x'; a repository can only set it to false"])
    """
    found = HookSettings()
    for key, value in _items(user, "config.toml", problems):
        wrong = _problem(key, value)
        if wrong:
            problems.append(f"config.toml: hooks.{key} {wrong}")
        else:
            found = _with(found, key, tuple(value) if isinstance(value, list) else value)
    for key, value in _items(repository, ".foretold.toml", problems):
        if key in (*SWITCHES, "extract") and value is False:
            found = _with(found, key, "" if key == "extract" else False)
        elif key == "budget" and not _problem(key, value):
            found = found._replace(budget=min(found.budget, int(str(value))))
        elif key == "off" and isinstance(value, list) and not _problem(key, value):
            found = found._replace(off=(*found.off, *(event for event in value if event not in GUARDS)))
            kept = [event for event in value if event in GUARDS]
            problems += [f".foretold.toml: hooks.off has {event}; a repository cannot switch it off" for event in kept]
        elif value is not True or key not in SWITCHES:
            limit = LIMITS.get(key, "a repository cannot set it")
            problems.append(f".foretold.toml: hooks.{key} is {toml_text(value)}; {limit}")
    return found


def keep_guard(settings: HookSettings, usual: HookSettings) -> HookSettings:
    """Settings of a file that a variable names; the guard is off only if the user's usual file says so too.

    >>> keep_guard(HookSettings(guard=False, off=("PreToolUse", "Stop")), HookSettings())[5:]
    (True, False, '', ('Stop',))
    """
    off = tuple(event for event in settings.off if event not in GUARDS or event in usual.off)
    return settings._replace(guard=settings.guard or usual.guard, off=off)


def toml_text(value: object) -> str:
    """A value as a settings file has it.

    >>> toml_text(False), toml_text("yes")
    ('false', "'yes'")
    """
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _with(settings: HookSettings, key: str, value: object) -> HookSettings:
    return settings._replace(**{key: value})  # type: ignore[arg-type]


def _items(values: object, file: str, problems: list[str]) -> list[tuple[str, object]]:
    if isinstance(values, dict):
        return [(str(key), value) for key, value in values.items()]
    problems.append(f"{file}: hooks is not a table")
    return []


def _problem(key: str, value: object) -> str:
    """What is wrong with a setting; empty if nothing is."""
    default = getattr(HookSettings(), key) if key in HookSettings._fields else None
    if default is None:
        return f"is not a setting; the settings are: {', '.join(HookSettings._fields)}"
    if key == "off":
        unknown = [each for each in value if each not in EVENTS] if isinstance(value, list) else [value]
        return f"has {unknown[0]!r}, which is not an event" if unknown else ""
    if key == "budget":
        is_right = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST
        return "" if is_right else f"is {toml_text(value)}, not a number of tokens up to {LARGEST}"
    wanted = "the name of a model" if key == "extract" else "true or false"
    return "" if type(value) is type(default) else f"is {toml_text(value)}, not {wanted}"
