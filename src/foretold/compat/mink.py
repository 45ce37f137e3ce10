"""The mink loader of Chimera: `from foretold.compat.mink import load_memory`.

The five functions of `chimera.context.agent_memory`, and as options the four that its documentation calls missing:

    managed    the organisation's file, first: True, or the folder that holds it
    excludes   globs of files that are not loaded, or "settings": those of Claude Code's settings files
    touched    files that were read: the memory files of the folders down to them follow at the end
    approve    imports from outside of cwd: all (None), none (False), or those that a function of the path accepts

`view` has what is not loaded, with its reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Unpack

from foretold.compat.engine import Folder, Places, answer, question, refuse_unknown, several
from foretold.compat.flat_frontmatter import header_of, pair_of, parse_list, unquote
from foretold.dialects.claude_code import settings as claude_settings
from foretold.dialects.registry import make_request
from foretold.dialects.schema import Dialect
from foretold.dialects.seeds.mink import V1, read_surroundings
from foretold.instructions.engine import Loader
from foretold.instructions.inject import MINK, is_marked, make_message, position
from foretold.instructions.render.escape import escape_tag
from foretold.instructions.session import Session
from foretold.instructions.text.inline import expand
from foretold.instructions.text.read import understand
from foretold.instructions.view import Origin, View
from foretold.storage.tree import Disk, Tree

__all__ = ["discover_memory_files", "inject_memory", "load_memory", "parse_frontmatter", "resolve_imports", "view"]

Message = Mapping[str, object]


class Options(Places, total=False):
    """What the functions take beyond the arguments of the original."""

    managed: bool | Folder
    excludes: Iterable[str] | Literal["settings"]
    touched: Iterable[Folder]
    approve: Callable[[str], bool] | bool | None
    boundary: Literal["top", "repository", "cwd"]


def discover_memory_files(cwd: Folder | None = None, **options: Unpack[Options]) -> list[Path]:
    """The memory files of a folder, in load order: absolute paths, links resolved.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()).resolve()
    >>> _ = (folder / "CLAUDE.md").write_text("Use tabs.")
    >>> [path.name for path in discover_memory_files(folder, home=folder, boundary="cwd")]
    ['CLAUDE.md']
    """
    tree = options.get("tree") or Disk()
    named = V1._replace(imports=V1.imports._replace(mode="none"), reading=V1.reading._replace(blank="keep"))
    return [Path(tree.real(entry.path)) for entry in _view(named, cwd, **options).entries]


def load_memory(cwd: Folder | None = None, max_hops: int = 5, **options: Unpack[Options]) -> str:
    """All memory files as one text, each below its `<!-- source: … -->`; empty if there are none."""
    return view(cwd, max_hops, **options).text or ""


def inject_memory(
    messages: Sequence[Message], cwd: Folder | None = None, max_hops: int = 5, **options: Unpack[Options]
) -> list[Message]:
    """A new list with the memory after the leading system messages; doing it again replaces it.

    It is a message of the kind that the others are: a dictionary, or an object that is copied or made with `role` and
    `content`.

    >>> inject_memory([{"role": "user", "content": "hi"}], "/", home="/nowhere", boundary="cwd")
    [{'role': 'user', 'content': 'hi'}]
    """
    others = [message for message in messages if not is_marked(message, MINK)]
    text = load_memory(cwd, max_hops, **options)
    if text:
        envelope = V1.envelope
        content = envelope.before + escape_tag(text, envelope.sentinel) + envelope.after
        others.insert(position(others, envelope.place), make_message(others, envelope.role, content))
    return others


def resolve_imports(
    content: str,
    base: Folder,
    max_hops: int = 5,
    *,
    hops: int | None = None,
    home: Folder | None = None,
    approve: Callable[[str], bool] | bool | None = None,
    tree: Tree | None = None,
) -> str:
    """A text with the files that it imports in it; `base` is the folder that relative paths start from.

    `hops` is another name of `max_hops`: the documents have the one, the program the other.

    >>> resolve_imports("see @./nothing.md", "/nowhere")
    'see @./nothing.md'
    """
    choice, request = question(
        _dialect(V1, max_hops if hops is None else hops), base, home, settings={"approve": approve}
    )
    disk = tree if tree is not None else Disk()
    run = Loader(disk, choice.dialect, read_surroundings(disk, request))
    text = understand("", content, 0, choice.dialect)
    return expand(run, "", f"{request.cwd.rstrip('/')}/", text, Origin("project", request.cwd))[0]


def parse_frontmatter(text: str) -> tuple[dict[str, str | list[str]], str]:
    """The values of a text's frontmatter, as they are written, and the text after it.

    >>> parse_frontmatter("---\\npaths: ['src/**']\\nname: x\\n---\\nbody\\n")
    ({'paths': ['src/**'], 'name': 'x'}, 'body')
    """
    header = header_of(text)
    if header is None:
        return {}, text
    values: dict[str, str | list[str]] = {}
    key, items = "", list[str]()
    lines, body = header
    for line in lines:
        item = line.strip()
        if item.startswith("- ") and key:
            items.append(unquote(item[2:].strip()))
            values[key] = items
        elif pair := pair_of(line):
            key, raw = pair
            values[key] = parse_list(raw) if raw.startswith("[") and raw.endswith("]") else unquote(raw)
            key, items = "" if raw else key, []
    return values, "\n".join(body).removesuffix("\n")


def view(cwd: Folder | None = None, max_hops: int = 5, **options: Unpack[Options]) -> View:
    """Everything that is known about the memory of a folder: entries, skips with their reasons, findings."""
    return _view(V1, cwd, max_hops, **options)


def _view(dialect: Dialect, cwd: Folder | None = None, max_hops: int = 5, **options: Unpack[Options]) -> View:
    refuse_unknown(options, Options, "cwd", "max_hops")
    home, managed, tree = options.get("home"), options.get("managed", False), options.get("tree")
    excludes = options.get("excludes", ())
    settings = {
        "approve": options.get("approve"),
        "boundary": options.get("boundary", "top"),
        "claudeMdExcludes": _read_excludes(cwd, home, tree) if excludes == "settings" else several(excludes),
        "sources": ["managed"] if managed else [],
    }
    folder = None if isinstance(managed, bool) else os.fspath(managed).removesuffix("/CLAUDE.md")
    asked = question(_dialect(dialect, max_hops), cwd, home, managed=folder, settings=settings)
    paths = [_resolve_path(os.path.join(asked[1].cwd, path)) for path in several(options.get("touched", ()))]
    if paths:
        return _read_touched(Session.of(*asked, tree), paths)
    return answer(*asked, tree)


def _resolve_path(path: str) -> str:
    """A path as the working directory is spelled: the links of its folder resolved."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _dialect(dialect: Dialect, hops: int) -> Dialect:
    """mink with another depth."""
    return dialect._replace(imports=dialect.imports._replace(depth=max(hops, 0)))


def _read_excludes(cwd: Folder | None, home: Folder | None, tree: Tree | None) -> list[str]:
    """The exclude patterns of Claude Code's settings files."""
    _, request = make_request(cwd or ".", "claude-code", home=home)
    return list(claude_settings.read_surroundings(tree if tree is not None else Disk(), request).excludes)


def _read_touched(session: Session, paths: list[str]) -> View:
    """The view of a conversation in which files were read."""
    start = session.start()
    turns = [session.read(path) for path in paths]
    return View(
        start.choice,
        start.surroundings,
        (*start.entries, *session.attached),
        skips=(*start.skips, *(skip for turn in turns for skip in turn.skips)),
        findings=(*start.findings, *(finding for turn in turns for finding in turn.findings)),
        absent=start.absent,
    )
