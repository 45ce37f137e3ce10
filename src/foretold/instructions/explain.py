"""What becomes of one instruction file, and what to change; and the findings that follow from skips.

An agent drops files silently; `advise` reports them, with what to do. A name that merely looks like an import
(`@alice`) is a skip, not a finding: a finding needs a path that was meant, or a file that exists.
"""

from __future__ import annotations

from foretold.dialects.surroundings import join
from foretold.instructions.engine import Loader
from foretold.instructions.intent import PUNCTUATION
from foretold.instructions.view import Origin, View
from foretold.storage.tree import Disk, Tree, is_inside
from foretold.types import REASONS, TYPE_CHECKING, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.types import Entry


class FileVerdict(NamedTuple):
    """The answer for one path. `loaded` is start, on-match, on-touch or never."""

    path: str
    loaded: str
    answer: str
    why: tuple[str, ...]
    change: tuple[str, ...]


def verdict_of(view: View, path: str, tree: Tree | None = None) -> FileVerdict:
    """What becomes of one instruction file in a view."""
    tree = tree if tree is not None else Disk()
    path = join(view.surroundings.cwd, path)
    real = tree.real(path)
    for number, entry in enumerate(view.entries, 1):
        if entry.path in (path, real) or tree.real(entry.path) == real:
            return _at_start(view, entry, number)
        if path in entry.includes or real in entry.includes:
            notes = [_message(finding) for finding in view.findings if finding.path in (path, real)]
            said = f"its text is in {entry.path}, in place of the import"
            return FileVerdict(path, "start", "loaded at the start of every session", (said, *notes), ())
    for rule in view.waiting:
        if rule.entry.path in (path, real):
            globs = ", ".join(rule.entry.globs)
            why = f"its paths wait for a file that matches: {globs}, seen from {rule.base}"
            return FileVerdict(path, "on-match", "loaded when a matching file is touched", (why,), ())
    skips = [skip for skip in view.skips if skip.path in (path, real) or _almost(skip, path)]
    if not skips:
        return _elsewhere(view, path, tree)
    found = _skipped(view, path, skips)
    if all(_almost(skip, path) and skip.path != path for skip in skips):  # that import fails; it may come otherwise
        other = _elsewhere(view, path, tree)
        if other.loaded != "never":
            return other._replace(why=(*other.why, *found.why), change=found.change)
    return found


def _almost(skip: Skip, path: str) -> bool:
    """Whether an import was meant for a path, but has punctuation after it."""
    return skip.reason == "missing" and skip.path.startswith(path) and not skip.path[len(path) :].strip(PUNCTUATION)


def _at_start(view: View, entry: Entry, number: int) -> FileVerdict:
    why = [f"number {number} of {len(view.entries)}, layer {entry.layer}, about {entry.tokens:,} tokens"]
    if entry.parent:
        why.append(f"imported by {entry.parent}")
    if entry.differs_from_disk:
        why.append("shown without its frontmatter or comments")
    why += [_message(finding) for finding in view.findings if finding.path == entry.path]
    return FileVerdict(entry.path, "start", "loaded at the start of every session", tuple(why), ())


def _message(finding: Finding) -> str:
    return f"line {finding.line or '?'}: {finding.message}"


def _skipped(view: View, path: str, skips: list[Skip]) -> FileVerdict:
    why = []
    for skip in skips:
        where = f"{skip.parent}:{skip.line}: " if skip.parent else ""
        if skip.path != path and skip.reason == "missing":
            why.append(f"{where}the import is taken to mean {skip.path}")
        else:
            why.append(f"{where}{skip.reason}: {REASONS[skip.reason]}" + (f" ({skip.detail})" if skip.detail else ""))
    places = {(path, None), *((skip.parent or skip.path, skip.line) for skip in skips)}
    hints = [finding.hint for finding in view.findings if (finding.path, finding.line) in places and finding.hint]
    return FileVerdict(path, "never", "not loaded", tuple(why), tuple(dict.fromkeys(hints)))


def _on_touch(view: View, path: str, folder: str, tree: Tree) -> FileVerdict:
    """A file of a nested folder: taken for a moment, to see whether anything of it would be attached."""
    if off := view.surroundings.off:
        return FileVerdict(path, "never", "not loaded", (f"disabled: {REASONS['disabled']} ({off})",), ())
    loader = Loader(tree, view.dialect, view.surroundings, f"{folder}/x")
    loader.take_file(path, Origin("project", folder))
    if loader.skips and not loader.entries:
        return _skipped(view, path, [skip for skip in loader.skips if skip.path == path])
    return FileVerdict(path, "on-touch", "loaded when a file in its folder is touched", (f"in {folder}",), ())


def _elsewhere(view: View, path: str, tree: Tree) -> FileVerdict:
    """A path that the start of a session never looks at."""
    if tree.kind(path) != "file":
        return FileVerdict(path, "never", "not loaded", ("there is no such file",), ("create it",))
    below = [source for source in view.dialect.touch if source.base == "below"]
    fallback = view.dialect.fallback
    names = [source.name for source in below if source.kind == "file"]
    if fallback is not None and view.nested_fallback:
        names += fallback.names
    for name in names:
        folder = path.removesuffix("/" + name)
        if folder != path and folder != view.surroundings.cwd and is_inside(folder, view.surroundings.cwd):
            return _on_touch(view, path, folder, tree)
    folder = path.partition("/.claude/rules/")[0]
    if folder != path and is_inside(folder, view.surroundings.cwd) and any(source.kind == "rules" for source in below):
        return _on_touch(view, path, folder, tree)
    closed = [skip for skip in view.skips if skip.reason == "not-walked" and is_inside(path, skip.path)]
    if closed:
        return _skipped(view, path, [skip._replace(path=path) for skip in closed])
    change = _possible_changes(view, path)
    why = "the agent does not look there, and nothing imports it" if change else "the agent does not look there"
    return FileVerdict(path, "never", "not loaded", (why,), change)


def _possible_changes(view: View, path: str) -> tuple[str, ...]:
    """How a file could be loaded that the agent does not look for."""
    changes = []
    if view.dialect.imports.depth:
        base = view.surroundings.cwd.rstrip("/") + "/"
        near = path[len(base) :] if path.startswith(base) else path
        changes.append(f"import it (@{near}) from a file in {view.surroundings.cwd} that is loaded")
    rules = [source.name for source in view.dialect.start if source.kind == "rules"]
    if rules and f"/{rules[-1]}/" not in path:
        changes.append(f"move it to {rules[-1]}/")
    return (", or ".join(changes),) if changes else ()
