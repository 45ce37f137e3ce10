"""Settings of hooks: `[hooks]` in the user's `config.toml`, and in `.foretold.toml` of a repository.

1. What a hook says can be switched off, one by one; whole events too (`off`). The budget is that of a prompt's recall.
2. What leaves a trace (`archive`) or costs money (`extract`, the name of a model) is off until the user switches it on.
3. A repository can only make hooks quieter: it switches off, never on, and makes the budget smaller, never larger. That
   memories are guarded (`guard`) is not its to say.
4. What cannot be understood is not used; it is named once in the log, when it is read.
"""

from __future__ import annotations

from foretold.serve.hooks import EVENTS
from foretold.types import NamedTuple

BUDGET = 1200  #: tokens
LARGEST = 20_000


class Settings(NamedTuple):
    """What hooks may do here."""

    recall: bool = True  #: memories that a prompt is about
    budget: int = BUDGET  #: tokens for them
    team: bool = True  #: the team's index at the start
    rules: bool = True  #: instructions that the agent misses, and those that a compaction took
    drift: bool = True  #: that memories speak of a file which was just changed
    guard: bool = True  #: the policy for writing memories
    archive: bool = False  #: keep the transcript at the end of a turn
    extract: str = ""  #: the model that learns from a turn; empty: none does
    off: tuple[str, ...] = ()  #: events to which nothing is said or done


SWITCHES = ("recall", "team", "rules", "drift", "archive")


def settled(user: object, repository: object, complaints: list[str]) -> Settings:
    """The user's settings, made quieter by the repository's.

    >>> settled({"budget": 800, "archive": True}, {"recall": False, "budget": 5000, "extract": "x"}, told := [])[:3]
    (False, 800, True)
    >>> told
    [".foretold.toml: hooks.extract is 'x'; a repository can only set it to false"]
    """
    found = Settings()
    for key, value in _items(user, "config.toml", complaints):
        wrong = _wrong(key, value)
        if wrong:
            complaints.append(f"config.toml: hooks.{key} {wrong}")
        else:
            found = _with(found, key, tuple(value) if isinstance(value, list) else value)
    for key, value in _items(repository, ".foretold.toml", complaints):
        if key in (*SWITCHES, "extract") and value is False:
            found = _with(found, key, "" if key == "extract" else False)
        elif key == "budget" and not _wrong(key, value):
            found = found._replace(budget=min(found.budget, int(str(value))))
        elif key == "off" and isinstance(value, list) and not _wrong(key, value):
            found = found._replace(off=(*found.off, *value))
        elif value is not True or key not in SWITCHES:
            complaints.append(f".foretold.toml: hooks.{key} is {shown(value)}; {_allowed(key)}")
    return found


def _allowed(key: str) -> str:
    """What a repository may do with a setting."""
    if key in (*SWITCHES, "extract"):
        return "a repository can only set it to false"
    if key in ("budget", "off"):
        return "this is not understood"
    return "a repository cannot set it"


def shown(value: object) -> str:
    """A value as it stands in a file of settings.

    >>> shown(False), shown("yes")
    ('false', "'yes'")
    """
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _with(settings: Settings, key: str, value: object) -> Settings:
    return settings._replace(**{key: value})  # type: ignore[arg-type]


def _items(values: object, file: str, complaints: list[str]) -> list[tuple[str, object]]:
    if isinstance(values, dict):
        return [(str(key), value) for key, value in values.items()]
    complaints.append(f"{file}: hooks is no table")
    return []


def _wrong(key: str, value: object) -> str:
    """What is wrong with a setting; empty if nothing is."""
    default = getattr(Settings(), key) if key in Settings._fields else None
    if default is None:
        return f"means nothing; there are: {', '.join(Settings._fields)}"
    if key == "off":
        unknown = [each for each in value if each not in EVENTS] if isinstance(value, list) else [value]
        return f"has {unknown[0]!r}, which is no event" if unknown else ""
    if key == "budget":
        is_right = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST
        return "" if is_right else f"is {shown(value)}, not a number of tokens up to {LARGEST}"
    wanted = "the name of a model" if key == "extract" else "true or false"
    return "" if type(value) is type(default) else f"is {shown(value)}, not {wanted}"
