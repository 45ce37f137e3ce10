"""What to do about a file that an agent does not load: advice that works for that file.

1. A file of another agent is named as such; source code, memories and skills are what they are, and are not imported.
2. A document of the project can be imported, where the agent imports, or become a rule, where it has rules.
3. A path that is not there may be a slip for one that is.
4. `@include path` names no file, and its line is where the import was meant to be.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from foretold.dialects.registry import EVIDENCE, dialects_of
from foretold.dialects.surroundings import join
from foretold.instructions.discover.inventory import NameTable, list_names
from foretold.instructions.intent import DOCUMENTS, extension_of_path
from foretold.instructions.text.imports import is_text
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import TYPE_CHECKING, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.dialects.schema import Fallback
    from foretold.instructions.view import View

DIRECTIVES = ("include", "import")  #: words after an `@` that other programs take as a directive
MOST_READERS = 3  #: agents that are named
MAX_DIRECTIVE = 4 * 1024 * 1024  #: bytes of a file whose line is read again
SKILL = "it is a skill: its name and description are listed, and its text is loaded when the skill is used"
MEMORY = "it is a memory: the index MEMORY.md names it, and its text is read on demand"


class Remedy(NamedTuple):
    """Why a file is not loaded, and what to change; there may be nothing to change."""

    why: str
    change: tuple[str, ...] = ()


def find_remedy(view: View, path: str, names: NameTable, holders: Sequence[str]) -> Remedy:
    """What to say of a file that the agent does not look for; `holders` are the folders that it may speak for."""
    surroundings = view.surroundings
    name = path.rpartition("/")[2]
    stores = filter(None, (surroundings.store, surroundings.memory))
    if any(is_inside(path, store) for store in stores):
        return Remedy(MEMORY, (f"foretold memory show {os.path.splitext(name)[0]}",) if name != "MEMORY.md" else ())
    if name == "SKILL.md":
        return Remedy(SKILL)
    if not any(is_inside(path, base) for base in (surroundings.cwd, surroundings.top, *surroundings.added)):
        starts = tuple(f"start the agent in {holder}" for holder in holders[:1])
        return Remedy("it is outside the folder that the agent starts in", starts)
    readers = find_readers(path, view.dialect.agent) if not holders else []
    if not readers and extension_of_path(path) not in ("", *DOCUMENTS):
        asked = f"foretold explain --file {_relative(path, surroundings.cwd)} says what reading it adds"
        return Remedy("it is not an instruction file", (asked,))
    change = _describe_import(view, path, names, is_ours=not readers)
    if readers:
        return Remedy(f"{_enumerate(readers)} look{'s' * (len(readers) == 1)} for it; this agent does not", change)
    said = "the agent does not look there"
    return Remedy(f"{said}, and nothing imports it" if change else said, change)


def _describe_import(view: View, path: str, names: NameTable, *, is_ours: bool) -> tuple[str, ...]:
    """How the text of a file could be loaded: as an import, or as a rule, unless it has the format of another agent."""
    cwd, imports, changes = view.surroundings.cwd, view.dialect.imports, []
    is_plain = is_ours or (path.endswith(".md") and not path.endswith(".instructions.md"))
    if imports.depth and is_plain and is_text(path, imports) and is_inside(path, cwd):
        changes.append(f"import it (@{_relative(path, cwd)}) from a file in {cwd} that is loaded")
    is_page = path.endswith((".md", ".txt"))
    if is_ours and is_page and names.rules and not names.find_rules(path):
        changes.append(f"move it to {names.rules[-1].name}/")
    return (", or ".join(changes),) if changes else ()


def _relative(path: str, cwd: str) -> str:
    base = cwd.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else path


def _enumerate(words: Sequence[str]) -> str:
    """Words with commas and `and`: not more than a few."""
    shown = [*words[:MOST_READERS], f"{len(words) - MOST_READERS} more"] if len(words) > MOST_READERS else [*words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def find_readers(path: str, agent: str) -> list[str]:
    """The other agents that look for a file of this name in a project."""
    found = []
    for name in EVIDENCE:
        table = list_names(dialects_of(name)[-1])
        rules = table.find_rules(path)
        is_rule = rules is not None and path.endswith(rules[1].suffix)
        if name != agent and (is_rule or path.endswith(tuple(f"/{each}" for each in table.files))):
            found.append(name)
    return found


def find_similar(path: str, tree: Tree, known: Iterable[str]) -> list[str]:
    """Files that a path which is not there may have been meant for: next to it, or known, with nearly its name."""
    import difflib

    folder, _, name = path.rpartition("/")
    items = tree.scan(folder or "/")
    near = [] if isinstance(items, Fault) else sorted(f"{folder}/{item.name}" for item in items)
    by_name: dict[str, list[str]] = {}
    for each in dict.fromkeys((*near, *known)):
        by_name.setdefault(each.rpartition("/")[2].lower(), []).append(each)
    closest = difflib.get_close_matches(name.lower()[:255], by_name, 3, 0.75)
    return [each for name in closest for each in by_name[name] if tree.kind(each) == "file"][:3]


def import_fallback(path: str, fallback: Fallback, tree: Tree) -> str:
    """How to load a file that the agent reads only where there are none of its own: import it from one of those."""
    folder, _, name = path.rpartition("/")
    for own in fallback.unless:
        if tree.kind(f"{folder}/{own}") == "file":
            written = os.path.relpath(path, os.path.dirname(f"{folder}/{own}"))
            return f"write @{written} into {folder}/{own}"
    return f"create {folder}/{fallback.unless[0]} with the line @{name}"


def find_directive(skips: Iterable[Skip], path: str, tree: Tree) -> Skip | None:
    """The line that names a file after `@include` or `@import`, as the skip of that word."""
    for skip in skips:
        if skip.reason != "missing" or not skip.parent or skip.path.rpartition("/")[2] not in DIRECTIVES:
            continue
        data = tree.read(skip.parent, MAX_DIRECTIVE)
        rows = [] if isinstance(data, Fault) else data.decode("utf-8", "replace").split("\n")
        row = rows[skip.line - 1] if skip.line and skip.line <= len(rows) else ""
        word = row.partition(f"@{skip.path.rpartition('/')[2]}")[2].split()
        if word and join(os.path.dirname(tree.real(skip.parent)), word[0].strip("\"'`<>()")) == path:
            return skip
    return None
