"""Resources: memory files, and what an agent is told, each under an address.

    foretold://memory/<file>     a memory of this project
    foretold://team/<file>       a memory of the team
    foretold://told/<agent>      the exact instruction text of an agent's first request

1. A resource is given in parts of at most `PART` bytes; a part that is not the last is followed by the address of the
   next one, `...?from=<character>`.
2. A list has at most `PAGE` entries; only the files of that page are read. Agents are listed if they are set up here.
3. A name that leads out of the store is refused by the store.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from foretold.errors import BadArgument, ForetoldError
from foretold.serve.mcp.paging import clip, cursor_of, end_of_part, position_in
from foretold.serve.mcp.tools.explain import view_of
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.project import Memories
    from foretold.memory.store.store import Store
    from foretold.serve.mcp.context import CallContext
    from foretold.serve.mcp.paging import Position

SCHEME = "foretold://"
PART = 48_000  #: bytes
PAGE = 100
MARKDOWN, PLAIN = "text/markdown", "text/plain"


class ListedResource(NamedTuple):
    """A resource in a list, or a template of some."""

    uri: str
    name: str
    title: str
    about: str
    form: str
    size: int | None = None


class ResourcePart(NamedTuple):
    """A piece of a resource."""

    uri: str
    text: str
    form: str


TEMPLATES = (
    ListedResource(
        "foretold://memory/{+file}", "memory", "A memory", "A memory of this project, by its file.", MARKDOWN
    ),
    ListedResource("foretold://team/{+file}", "team-memory", "A memory of the team", "By its file.", MARKDOWN),
    ListedResource(
        "foretold://told/{agent}",
        "told",
        "What an agent is told",
        "The exact instruction text that an agent receives here at the start of a session; name or name@version.",
        PLAIN,
    ),
)


# Lists


def listed(context: CallContext, cursor: str = "") -> tuple[list[ListedResource], str]:
    """A page of resources, and the cursor of the next one; empty if there is none."""
    memories = context.memories()
    stores = [store for store in (memories.own, memories.under) if store is not None]
    files = {file for store in stores for file in store.folder.files()}
    every = [("told", agent) for agent in _agents(context)]
    every += [("memory", file) for file in sorted(files)]
    every += [("team", file) for file in (sorted(memories.team.folder.files()) if memories.team else ())]
    start = _position_after(every, position_in(cursor, "resources", {})) if cursor else 0
    page = every[start : start + PAGE]
    more = start + PAGE < len(every)
    return [_listed(context, memories, *each) for each in page], cursor_of("resources", {}, [*page[-1]]) if more else ""


def _position_after(every: list[tuple[str, str]], after: Position) -> int:
    """Where a list continues after an entry, even if that is gone."""
    room, file = (*map(str, after), "", "")[:2]
    order = ("told", "memory", "team")
    if room not in order:
        raise BadArgument("this cursor is of something else: begin again without it")
    return sum((order.index(kind), name) <= (order.index(room), file) for kind, name in every)


def _agents(context: CallContext) -> list[str]:
    from foretold.dialects.registry import find_agents
    from foretold.storage.tree import Disk

    homes = context.homes
    return sorted(find_agents(Disk(), context.folder, homes.home, homes.env))


def _listed(context: CallContext, memories: Memories, room: str, name: str) -> ListedResource:
    uri = f"{SCHEME}{room}/{quote(name.encode('utf-8', 'surrogateescape'))}"
    if room == "told":
        about = f"The exact instruction text that {name} receives in {context.folder} at the start of a session."
        return ListedResource(uri, f"told/{name}", f"What {name} is told", about, PLAIN)
    try:
        memory = _store(memories, room, name).read(name)
    except ForetoldError as error:
        return ListedResource(uri, f"{room}/{name}", clip(name, 300), clip(f"cannot be read: {error}", 400), MARKDOWN)
    about = clip(memory.description, 400)
    return ListedResource(uri, f"{room}/{name}", clip(memory.title, 300), about, MARKDOWN, len(memory.text.encode()))


# Reading


def read(context: CallContext, uri: str) -> list[ResourcePart]:
    """A part of a resource, and where the next one is."""
    room, name, start = _address(uri)
    if room == "told":
        said = view_of(context, name).text
        text, form = said if said is not None else f"{name} is told nothing here.", PLAIN
    else:
        text, form = _store(context.memories(), room, name).read(name).text, MARKDOWN
    end = end_of_part(text, start, PART)
    found = [ResourcePart(uri, text[start:end], form)]
    if end < len(text):
        more = f"{uri.partition('?')[0]}?from={end}"
        found.append(ResourcePart(more, f"[{len(text) - end:,} more characters: read {more}]", PLAIN))
    return found


def _address(uri: str) -> tuple[str, str, int]:
    path, _, query = uri.partition("?")
    room, _, name = path.removeprefix(SCHEME).partition("/")
    wrong = BadArgument(f"there is no resource {clip(uri, 200)!r}: foretold://memory/<file>, team/<file>, told/<agent>")
    if not path.startswith(SCHEME) or room not in ("memory", "team", "told") or not name or "\0" in unquote(name):
        raise wrong
    start = query.removeprefix("from=") if query else "0"
    if not (start.isascii() and start.isdecimal() and len(start) < 12):
        raise wrong
    return room, unquote(name, errors="surrogateescape"), int(start)


def _store(memories: Memories, room: str, file: str) -> Store:
    if room == "team":
        if memories.team is None:
            why = "this is not a git repository" if memories.place.is_accepted else "the user has not accepted it"
            raise BadArgument(f"there is no team's memory here: {why}")
        return memories.team
    under = memories.under
    return under if under is not None and file not in memories.own.folder.files() else memories.own
