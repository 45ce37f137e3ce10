"""The settings that count, as TOML, each with where it comes from: `foretold check --show-settings`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from foretold.check.report.sentences import list_assumed, name_choices
from foretold.check.run import OpenedProject
from foretold.check.settings import PARSERS


def render_settings(opened: OpenedProject, given: Sequence[str] = ()) -> str:
    """All settings; `given` are those that the command line changed."""
    project, source = opened.project, opened.source
    where = project.relative(source.path) if source.path else ""
    lines = [f"# settings of {where}" if where else "# no settings file: these are the defaults"]
    lines += [f"# not used, another one is nearer: {project.relative(path)}" for path in source.unused]
    lines.append(f"# checked for: {name_choices(project)}{'' if project.options.agents else ' (in use here)'}")
    lines += [f"# {line}" for line in list_assumed(project)]
    lines.append("")
    shown = opened.settings._replace(
        agents=project.options.agents,
        exclude=project.options.exclude,
        include_fixtures=project.options.include_fixtures,
        baseline=project.relative(opened.settings.baseline) if opened.settings.baseline else "",
    )
    for key, (field, _) in PARSERS.items():
        value = getattr(shown, field)
        origin = "the command line" if key in given else where if value else "the default"
        lines.append(f"{key} = {write_toml(value)}  # {origin}")
    return "\n".join(lines) + "\n"


def write_toml(value: object) -> str:
    """A value in TOML.

    >>> write_toml({"docs/**": ("truth",), "b": 3}), write_toml(True)
    ('{"docs/**" = ["truth"], b = 3}', 'true')
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write_key(str(key))} = {write_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(write_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _write_key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else json.dumps(key, ensure_ascii=False)
