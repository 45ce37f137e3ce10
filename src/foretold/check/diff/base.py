"""The project as it was at an earlier commit, without checking anything out.

1. The change is what lies between the base and the files as they are now: commits, what is staged, what is not, and
   files that git does not track but does not ignore either.
2. The base is where the branch began: `main` means the merge base of `main` and HEAD, as a pull request does; `main..`
   means the tip of `main`. In a shallow clone git may not know where the branch began: then it is the tip.
3. The old side is the disk with the commit's files laid over it. A file that neither the commits nor the index changed
   is taken from the disk if it has the hash that git has; only the others are read from git, when they are asked for.
4. What git ignores is the same on both sides, and so are the files of a submodule that both sides have. Those of one
   that the change adds are new, also where it takes the place of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.check.project import Project
from foretold.errors import BadArgument, ForetoldError
from foretold.git.commit import (
    BlobReader,
    IndexFiles,
    TrackedFile,
    find_commit,
    find_merge_base,
    is_blob,
    list_commit,
    list_index,
    list_remotes,
)
from foretold.instructions.intent import DOCUMENTS, extension_of_path
from foretold.storage.layers import ChangedTree, LaterText, LinkTo
from foretold.storage.tree import Fault, Tree
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.storage.layers import FileChange

MOST = 64 * 1024 * 1024
SHORT = 10  #: characters of a commit's id


class Base(NamedTuple):
    """The commit that a change is compared with."""

    name: str  #: as it was asked for
    commit: str
    note: str = ""  #: what to know about the choice

    def __str__(self) -> str:
        return f"{self.name} ({self.commit[:SHORT]}{', ' + self.note if self.note else ''})"


def find_base(project: Project, asked: str) -> Base:
    """The commit that a change begins at. BadArgument, with what to do, if git does not know it."""
    if project.git is None:
        raise BadArgument(f"{project.top} is not in a git repository, so there is nothing to compare with")
    root, is_tip = project.git.root, asked.endswith("..") and not asked.endswith("...")
    name = asked.removesuffix("...").removesuffix("..") or "HEAD"
    commit = find_commit(root, name)
    if commit is None:
        advice = _advise(name, list_remotes(root), is_shallow=project.git.is_shallow)
        raise BadArgument(f"git does not know the commit {name!r}{advice}")
    if is_tip:
        return Base(name, commit)
    head = find_commit(root, "HEAD")
    began = find_merge_base(root, commit, head) if head else None
    if began is None:
        return Base(name, commit, "where the branch began is not known")
    return Base(name, began, "" if began == commit else "where the branch began")


def _advise(name: str, remotes: Sequence[str], *, is_shallow: bool) -> str:
    """What to do about a commit that is not there."""
    if not remotes:
        return ", and there is no remote to fetch it from. See what there is: git branch --all"
    remote, slash, branch = name.removeprefix("refs/remotes/").partition("/")
    source = f"{remote} {branch}" if slash else f"origin {name}"
    depth = " --depth=1" if is_shallow else ""
    also = "; in a shallow clone only some commits are there" if is_shallow else ""
    return f"{also}. Fetch it: git fetch{depth} {source}"


class EarlierTree(ChangedTree):
    """The disk with the files of a commit laid over it; those that seem unchanged are compared when they are read."""

    def __init__(
        self,
        below: Tree,
        changes: dict[str, FileChange],
        expected: dict[str, str],
        blobs: BlobReader,
        executable: frozenset[str],
    ) -> None:
        super().__init__(below, changes)
        self._expected, self._blobs = expected, blobs  #: place -> the blob that it should be
        self._executable = executable  #: places of files that the commit has with the right to execute them
        self._edited: dict[str, bytes | None] = {}  #: place -> what it was; None: what it is

    def read(self, path: str, limit: int) -> bytes | Fault:
        place = self.real(path)
        name = self._expected.get(place)
        if name is None:
            return super().read(path, limit)
        if place not in self._edited:
            data = self.below.read(place, MOST)
            is_same = isinstance(data, Fault) or is_blob(data, name)
            self._edited[place] = None if is_same else self._blobs.read(name)
        before = self._edited[place]
        if before is None:
            return super().read(path, limit)
        return before if len(before) <= limit else Fault("too-large", f"{len(before)} bytes, the limit is {limit}")

    def is_executable(self, path: str) -> bool:
        place = self.real(path)
        is_known = place in self._expected or place in self.changes
        return place in self._executable if is_known else super().is_executable(path)


def open_base(project: Project, base: Base) -> Project:
    """The same project at an earlier commit."""
    assert project.git is not None, "find_base has looked at it"
    root = project.git.root
    before, now = list_commit(root, base.commit), list_index(root)
    if before is None or now is None:
        raise ForetoldError(f"git could not list the files of {base.name}; see what `git ls-tree {base.commit}` says")
    top = project.top.removesuffix("/" + project.git.prefix.rstrip("/")) if project.git.prefix else project.top
    finder = _ChangeFinder(project, top.rstrip("/"), before, now)
    executable = frozenset(f"{finder.top}/{path}" for path, each in before.items() if each.is_executable)
    tree = EarlierTree(project.tree, finder.list_changes(), finder.expected, finder.blobs, executable)
    older = Project(project.top, project.options, tree)
    inside = project.git.prefix
    older.indexed = tuple(path[len(inside) :] for path in before if path.startswith(inside))
    older.tracked = frozenset(older.indexed)
    return older


class _ChangeFinder:
    """What lies between a commit and the disk, as changes of the disk."""

    def __init__(self, project: Project, top: str, before: dict[str, TrackedFile], now: IndexFiles) -> None:
        self.project, self.top, self.before, self.now = project, top, before, now
        self.expected: dict[str, str] = {}  #: place -> the blob that it should be, if it was not edited
        self._looked_for = frozenset(project.inventory.paths)
        changed = [each for path, each in before.items() if now.files.get(path) != each]
        likely = (path for path in before if now.files.get(path) != before[path] and _is_likely(path))
        self.blobs = BlobReader(
            project.git.root if project.git else top,
            {*(before[path].id for path in likely), *(each.id for each in changed if each.kind == "link")},
        )

    def list_changes(self) -> dict[str, FileChange]:
        changes: dict[str, FileChange] = {}
        for path, each in self.before.items():
            place = f"{self.top}/{path}"
            if each.kind == "module" or path in self.now.absent:
                continue
            if self.now.files.get(path) == each and not self._is_replaced(place, each.kind):
                if each.kind == "file":
                    self.expected[place] = each.id
            else:
                changes[place] = self._content_of(each)
        new = (path for path in (*self.now.files, *self.now.untracked) if path not in self.before)
        changes.update(dict.fromkeys(f"{self.top}/{path}" for path in new))  # of a submodule, all that is in it
        return changes

    def _is_replaced(self, place: str, kind: str) -> bool:
        """Whether a file that the index still has is gone from the disk, or an instruction file became a link."""
        tree = self.project.tree
        is_missing = getattr(tree, "is_missing", None)
        if is_missing is not None and is_missing(place):
            return True
        if place not in self._looked_for:
            return is_missing is None and tree.kind(place) == "missing" and kind == "file"
        folder, _, name = place.rpartition("/")
        items = tree.scan(folder)
        now = next((item.kind for item in items if item.name == name), "") if not isinstance(items, Fault) else kind
        return now != kind

    def _content_of(self, file: TrackedFile) -> FileChange:
        if file.kind == "link":
            target = self.blobs.read(file.id)
            return LinkTo((target or b"").decode("utf-8", "surrogateescape")) if target else b""
        return LaterText(lambda: self._read(file.id))

    def _read(self, name: str) -> bytes | Fault:
        found = self.blobs.read(name)
        return Fault("unreadable", "git does not have its text, or it is too large") if found is None else found


def _is_likely(path: str) -> bool:
    """Whether the text of a file may be asked for: it is a document, or has no extension at all."""
    return extension_of_path(path) in ("", *DOCUMENTS)
