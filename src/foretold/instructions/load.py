"""`foretold.load`: from a folder to a view.

Whatever the real agent takes from its surroundings is a keyword; by default it is taken from the process, once,
here. A view is kept until a file it depends on changes: one `stat` for every path that was looked at.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping

from foretold.dialects.registry import CHOSEN, DialectChoice, make_request, read_surroundings
from foretold.dialects.surroundings import LoadRequest, Surroundings, join
from foretold.errors import NotAFolder
from foretold.instructions.advice import advise, list_roots
from foretold.instructions.discover.fallback import take_fallback
from foretold.instructions.discover.rules import collation_key
from foretold.instructions.engine import Loader
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Tree, unchanged
from foretold.types import TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from datetime import date
    from typing import TypedDict, Unpack

    from foretold.storage.tree import Stamp

    class LoadOptions(TypedDict, total=False):
        """What an agent takes from its surroundings."""

        agent: str
        home: str | os.PathLike[str] | None
        managed: str | os.PathLike[str] | None
        env: Mapping[str, str] | None
        args: Iterable[str]
        settings: Mapping[str, object] | None
        model: str | None
        now: date | str | None
        trust: bool | None
        add_dirs: Iterable[str]


_cached: dict[Hashable, tuple[View, dict[str, Stamp]]] = {}
CACHED_VIEWS = 64


def load(cwd: str | os.PathLike[str] = ".", *, tree: Tree | None = None, **options: Unpack[LoadOptions]) -> View:
    """What an agent that starts in a folder is given first.

    The options are `agent`, a name with or without a version (`claude-code@2.1.197`), `home`, `managed`, `env`, `args`
    (its command line), `settings` (what `--settings` would give it), `model`, `now`, `trust` (for agents that ask for
    it) and `add_dirs`.

    >>> import foretold, os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> view = foretold.load(folder, agent="claude-code@2.1.325", home=folder, env={})
    >>> [os.path.basename(entry.path) for entry in view.entries]
    ['CLAUDE.md']
    """
    choice, request = make_request(cwd, **options)
    require_folder(tree if tree is not None else Disk(), request)
    return load_cached(choice, request) if tree is None else load_view(tree, choice, request)


def load_cached(choice: DialectChoice, request: LoadRequest) -> View:
    """A view of the disk: the one that is kept, as long as nothing that it depends on has changed."""
    key = request_key(choice, request)
    kept = _cached.get(key)
    if kept is not None and unchanged(kept[1]):
        return kept[0]
    disk = Disk()
    view = load_view(disk, choice, request)
    if len(_cached) >= CACHED_VIEWS:
        _cached.pop(next(iter(_cached)))
    _cached[key] = (view, disk.stamps)
    return view


def request_key(choice: DialectChoice, request: LoadRequest) -> Hashable:
    """What makes two questions the same."""
    env, settings = tuple(sorted(request.env.items())), repr(request.settings)
    return (choice, request._replace(env=env, settings=settings))  # type: ignore[arg-type]


def invalidate() -> None:
    """Forget every view that is kept, and which versions are installed."""
    _cached.clear()
    CHOSEN.clear()


def require_folder(tree: Tree, request: LoadRequest) -> None:
    """Refuse to start where no agent could."""
    if tree.kind(request.cwd) != "folder":
        raise NotAFolder(f"{request.cwd} is not a folder; give the folder the agent starts in")


def load_view(tree: Tree, choice: DialectChoice, request: LoadRequest) -> View:
    """Run the plan of a session's start."""
    return load_within(tree, choice, find_surroundings(tree, request))


def find_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """What surrounds a session that starts as requested."""
    surroundings = read_surroundings(tree, request)
    confine = getattr(tree, "confine", None)  # of a tree that does not give every text
    surroundings = confine(request, surroundings) if confine is not None else surroundings
    return surroundings._replace(approved=lambda _: True) if request.external else surroundings


def load_within(tree: Tree, choice: DialectChoice, surroundings: Surroundings) -> View:
    """Run the plan of a session's start in surroundings that are known."""
    dialect = choice.dialect
    loader = Loader(tree, dialect, surroundings)
    loader.follow(surroundings.start or dialect.start)
    hidden = take_fallback(loader)
    arrange(loader)
    entries, withheld = loader.entries, []
    if surroundings.mode == "managed-only" and dialect.fallback is not None:
        entries = [entry for entry in loader.entries if entry.layer == "managed"]
        withheld = [entry for entry in loader.entries if entry.layer != "managed"]
        loader.skips += [Skip(entry.path, "withheld", surroundings.mode_reason, entry.layer) for entry in withheld]
    if not surroundings.memory and surroundings.memory_reason and dialect.memory_index is not None:
        loader.skips.append(Skip("MEMORY.md", "disabled", surroundings.memory_reason, "memory"))
    said = advise(loader.skips, loader.waiting, tree, list_roots(surroundings), dialect.rules.patterns, loader.absences)
    findings = (*surroundings.findings, *loader.findings, *said)
    if dialect.warns:
        from foretold.instructions.warnings import find_warnings  # few dialects have need of git and of secrets

        tree.read(join(surroundings.cwd, ".gitignore"), 1)  # so that a cached view is not kept when it changes
        findings = (*findings, *find_warnings(entries, dialect.warns))
    return View(
        choice,
        surroundings,
        tuple(entries),
        skips=tuple(loader.skips),
        findings=findings,
        absent=tuple(loader.absent),
        waiting=tuple(loader.waiting),
        withheld=tuple(withheld),
        hidden=hidden,
    )


def arrange(loader: Loader) -> None:
    """Order the entries as the dialect does; where names are the identity, the last of a name wins."""
    dialect = loader.dialect
    if dialect.identity == "name":
        last: dict[str, Entry] = {}
        for entry in loader.entries:
            before = last.get(entry.name.lower())
            if before is not None:
                loader.skips.append(Skip(before.path, "shadowed", f"by {entry.path}", before.layer))
            last[entry.name.lower()] = entry
        loader.entries = list(last.values())
    for layer in dialect.unordered:
        paths = [entry.path for entry in loader.entries if entry.layer == layer]
        if len(paths) > 1:
            said = f"the agent gives its {len(paths)} {layer} files in an unspecified order"
            loader.findings.append(Finding(paths[0], None, "order-unspecified", said))
    if dialect.sorts == ("name",):
        loader.entries.sort(key=lambda entry: collation_key(entry.name))
    elif dialect.sorts:
        # entries of other layers first, as they are; the rest in the order of JavaScript, by UTF-16 code unit
        loader.entries.sort(
            key=lambda entry: entry.path.encode("utf-16-be", "surrogatepass") if entry.layer in dialect.sorts else b""
        )
