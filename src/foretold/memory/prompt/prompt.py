"""The memory prompt: what teaches a model to use a memory directory.

1. It says that the directory exists, so that no turn is spent on making or listing it; what the four types are; what
   not to save; how to save; when to look; what to verify before relying on a memory; and what belongs elsewhere.
2. Saving takes two steps, a file and a line in the index; without an index (`skip_index`) it takes one. With
   `daily_log` everything is appended to the log of the day, and a separate process makes memories from it.
3. With `team` there are two directories, and each type says which of them it goes to.
4. After that follow, each if given: extra guidelines, how to search, the index, and memories that were recalled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from foretold.errors import ForetoldError
from foretold.instructions.render.escape import escape_tag
from foretold.memory.note import INDEX, Memory
from foretold.memory.prompt import text as words

Folder = str | os.PathLike[str]
WORDINGS = ("long", "short")
SEARCHES = ("tools", "embedded")
SAME = " of the same directory"


def memory_prompt(
    folder: Folder,
    *,
    wording: str = "long",
    team: Folder | None = None,
    skip_index: bool = False,
    daily_log: bool = False,
    extra_guidelines: Iterable[str] = (),
    search: str | None = None,
    project_dir: Folder = "",
    grep_tool_name: str = "Grep",
    index: str = "",
    team_index: str = "",
    recalled: Iterable[Memory] = (),
    flat: bool = False,
) -> str:
    """The text that teaches a model to use the memory in a folder.

    `wording` is long, for models that need to be taught, or short. `search` adds how to search memories and, below
    `project_dir`, transcripts: with a tool (`tools`) or in a shell (`embedded`). `index` and `team_index` are the texts
    of the two indexes, as they are loaded. `flat`: a memory has its `type` at the top level of the frontmatter.
    """
    _check(wording, search, team, daily_log=daily_log)
    private, shared = with_slash(folder), with_slash(team) if team else ""
    values = {"folder": private, "team": shared, "place": SAME if shared else "", "lines": str(words.LINES)}
    values |= {"units": f"{words.UNITS:,}", "index": "" if skip_index else words.LOG_INDEX}
    make = _long if wording == "long" else _short
    chosen = make(has_team=bool(shared), skip_index=skip_index, daily_log=daily_log)
    if flat:
        other = {words.FILE: words.FLAT_FILE, words.SHORT_FILE: words.SHORT_FLAT_FILE}
        chosen = [other.get(part, part) for part in chosen]
    parts = [part.format(**values) for part in chosen if part]
    guidelines = [text for text in extra_guidelines if text.strip()]
    if guidelines:
        parts += ["## Further guidelines", *guidelines]
    if search:
        lines = search_section(private, project_dir, embedded=search == "embedded", grep_tool_name=grep_tool_name)
        parts.append("\n".join(lines[:-1]))
    parts += _indexes(index, team_index) + _recalled(recalled)
    return "\n\n".join(parts)


def _check(wording: str, search: str | None, team: Folder | None, *, daily_log: bool) -> None:
    if wording not in WORDINGS:
        raise ForetoldError(f"{wording!r} is not a wording of the memory prompt; use one of {', '.join(WORDINGS)}")
    if search is not None and search not in SEARCHES:
        raise ForetoldError(f"{search!r} is not a way to search; use one of {', '.join(SEARCHES)}")
    if team and daily_log:
        raise ForetoldError("a daily log is kept in one directory; leave out team= or daily_log=")


def with_slash(folder: Folder) -> str:
    """A directory as the agent names it, with one slash at its end."""
    return os.fspath(folder).rstrip("/") + "/"


def search_section(
    folder: Folder, project_dir: Folder = "", *, embedded: bool = False, grep_tool_name: str = "Grep"
) -> list[str]:
    """The lines on searching past context: memories, then transcripts if their directory is given."""
    places = [("1. Search topic files in your memory directory:", os.fspath(folder), "*.md")]
    if project_dir:
        title = "2. Session transcript logs (last resort — large files, slow):"
        places.append((title, with_slash(project_dir), "*.jsonl"))
    lines = ["## Searching past context", "", "When looking for past context:"]
    for title, place, glob in places:
        lines += [title, "```", _command(place, glob, "" if embedded else grep_tool_name), "```"]
    advice = "Use narrow search terms (error messages, file paths, function names) rather than broad keywords."
    return [*lines, advice, ""]


def _command(place: str, glob: str, tool: str) -> str:
    if tool:
        return f'{tool} with pattern="<search term>" path="{place}" glob="{glob}"'
    from shlex import quote

    return f'grep -rn "<search term>" {quote(place)} --include="{glob}"'


def _long(*, has_team: bool, skip_index: bool, daily_log: bool) -> list[str]:
    return [
        "# Memory" if has_team else "# auto memory",
        words.DIRECTORIES if has_team else words.DIRECTORY,
        words.AIM,
        f"{words.WISHES} {words.FORGET if skip_index or daily_log else words.FORGET_INDEXED}",
        _types(is_scoped=has_team),
        words.SCOPES if has_team else "",
        words.EXCLUDED,
        *([words.DAILY_LOG] if daily_log else _saving(has_team=has_team, skip_index=skip_index)),
        words.ACCESS,
        words.DRIFT,
        words.ELSEWHERE,
    ]


def _types(*, is_scoped: bool) -> str:
    """The four types as a list in tags."""
    lines = ["## Types of memory", "", "Every memory is of one of four types:", "", "<types>"]
    for kind in words.TYPE_GUIDES:
        lines += ["<type>", f"    <name>{kind.name}</name>"]
        fields = ("scope",) if is_scoped else ()
        for field in (*fields, "description", "when_to_save", "how_to_use", "body_structure"):
            lines.append(f"    <{field}>{getattr(kind, field)}</{field}>")
        lines.append("    <examples>")
        for said, saved in kind.examples:
            lines += [f"    user: {said}", f"    assistant: [saves {kind.name} memory: {saved}]"]
        lines += ["    </examples>", "</type>"]
    return "\n".join([*lines, "</types>"])


def _saving(*, has_team: bool, skip_index: bool) -> list[str]:
    one = words.STEP_ONE.format(place=" in the directory of its scope" if has_team else "")
    if skip_index:
        return ["## How to save memories", f"To save, {one}", words.FILE, words.HYGIENE]
    steps = [f"**Step 1**: {one}", words.FILE, f"**Step 2**: {words.STEP_TWO}"]
    return ["## How to save memories", "Saving takes two steps:", *steps, f"{words.INDEX_RULES}\n{words.HYGIENE}"]


def _short(*, has_team: bool, skip_index: bool, daily_log: bool) -> list[str]:
    directory = words.SHORT_DIRECTORIES if has_team else words.SHORT_DIRECTORY
    forget = words.FORGET if skip_index or daily_log else words.FORGET_INDEXED
    return [
        "# Memory",
        f"{directory} {words.WISHES} {forget}",
        words.SHORT_SCOPES if has_team else "",
        words.SHORT_LOG if daily_log else words.SHORT_FILE,
        words.SHORT_TYPES,
        "" if skip_index or daily_log else words.SHORT_INDEX,
        words.SHORT_EXCLUDED,
        words.SHORT_ACCESS,
    ]


def _indexes(index: str, team_index: str) -> list[str]:
    parts = [f"## {INDEX}\n\n{index}"] if index.strip() else []
    if team_index.strip():
        text = escape_tag(team_index, "team-memory-content")
        wrapped = f'<team-memory-content source="shared">\n{text}\n</team-memory-content>'
        parts.append(f"## {INDEX} of the team\n\n{wrapped}")
    return parts


def _recalled(memories: Iterable[Memory]) -> list[str]:
    """Memories in tags that their texts cannot close."""
    parts = []
    for memory in memories:
        scope = "" if memory.scope == "private" else memory.scope
        about = {"file": memory.file, "type": memory.type, "description": memory.description, "scope": scope}
        shown = " ".join(f'{key}="{_quoted(value)}"' for key, value in about.items() if value)
        parts.append(f"<memory {shown}>\n{escape_tag(memory.body, 'memory')}\n</memory>")
    return ["## Recalled memories", *parts] if parts else []


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")
