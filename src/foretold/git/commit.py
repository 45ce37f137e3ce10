"""An earlier commit next to the files as they are: what it has, what the index has, and the texts of both.

1. A name of a commit is whatever `git rev-parse` takes, but no option. What git does not know is None.
2. Nothing here compares the working tree, so no filter of the repository runs (`runner.py`): git says what a commit and
   the index have, and whether a file on disk still is that is seen by its hash.
3. Texts are read through one `git cat-file --batch` for many. What is not there (a partial clone), or too large, is
   None.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping

from foretold.git.runner import ask
from foretold.types import NamedTuple

MOST = 64 * 1024 * 1024  #: bytes of a text
MOST_AT_ONCE = 512 * 1024 * 1024  #: bytes of all texts that are asked for together
_KINDS = {"120000": "link", "160000": "module"}
_EXECUTABLE = "100755"


class TrackedFile(NamedTuple):
    """A file of a commit or of the index."""

    kind: str  #: file, link, module
    id: str  #: of its blob
    is_executable: bool = False


class IndexFiles(NamedTuple):
    """What git tracks now, by path from the top of the repository."""

    files: dict[str, TrackedFile]
    absent: frozenset[str]  #: those that a sparse checkout leaves out
    untracked: tuple[str, ...]  #: files that are neither tracked nor ignored


def find_commit(root: str, name: str) -> str | None:
    """The id of a commit, by any name that git takes."""
    if not name or name.startswith("-") or "\0" in name or "\n" in name:
        return None
    said = ask(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    found = (said or b"").decode("ascii", "replace").strip()
    return found or None


def list_remotes(root: str) -> list[str]:
    """The names of the repositories that others can be fetched from."""
    return (ask(root, "remote") or b"").decode("utf-8", "surrogateescape").split()


def find_merge_base(root: str, one: str, other: str) -> str | None:
    """The commit from which two others branched off; None if there is none, or git does not have it."""
    said = ask(root, "merge-base", one, other)
    return (said or b"").decode("ascii", "replace").strip() or None


def list_commit(root: str, commit: str) -> dict[str, TrackedFile] | None:
    """The files of a commit, by path from the top of the repository; None if git cannot tell."""
    said = ask(root, "ls-tree", "-r", "-z", "--full-tree", commit)
    if said is None:
        return None
    found = {}
    for row in os.fsdecode(said).split("\0")[:-1]:
        about, _, path = row.partition("\t")
        mode, _, name = about.split(" ")
        found[path] = TrackedFile(_KINDS.get(mode, "file"), name, mode == _EXECUTABLE)
    return found


def list_index(root: str) -> IndexFiles | None:
    """What git tracks now, and what it would; None if git cannot tell."""
    cached = ask(root, "ls-files", "-z", "-s", "-t", "--cached", "--full-name", "--", ":/")
    others = ask(root, "ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":/")
    if cached is None or others is None:
        return None
    files, absent = {}, set()
    for row in os.fsdecode(cached).split("\0")[:-1]:
        about, _, path = row.partition("\t")
        tag, mode, name = about.split(" ")[:3]
        files[path] = TrackedFile(_KINDS.get(mode, "file"), name, mode == _EXECUTABLE)
        if tag == "S":
            absent.add(path)
    untracked = (path for path in os.fsdecode(others).split("\0")[:-1] if not path.endswith("/"))
    return IndexFiles(files, frozenset(absent), tuple(untracked))


def is_blob(data: bytes, name: str) -> bool:
    """Whether a file on disk is a blob, perhaps with other line ends, as git checks files out on some systems.

    >>> is_blob(b"a\\n", "78981922613b2afb6025042ff6bd878ac1994e85"), is_blob(b"b\\n", "7898192261")
    (True, False)
    """
    if _hash(data, name) == name:
        return True
    return b"\r\n" in data and _hash(data.replace(b"\r\n", b"\n"), name) == name


def _hash(data: bytes, name: str) -> str:
    kind = hashlib.sha256 if len(name) == 64 else hashlib.sha1
    return kind(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


class BlobReader:
    """The texts of blobs, read when they are asked for; `likely` ones are read together with the first."""

    def __init__(self, root: str, likely: Iterable[str] = ()) -> None:
        self.root = root
        self._likely, self._known = set(likely), dict[str, bytes | None]()

    def read(self, name: str) -> bytes | None:
        """The text of a blob; None if git does not have it, or it is too large."""
        if name not in self._known:
            wanted = {name, *self._likely}
            self._likely = set()
            self._known |= {**dict.fromkeys(wanted), **read_blobs(self.root, wanted)}
        return self._known[name]


def read_blobs(root: str, names: Iterable[str]) -> Mapping[str, bytes]:
    """The texts of blobs, by their ids; those that git does not have, or that are too large, are left out."""
    given = "".join(f"{name}\n" for name in names).encode("ascii", "ignore")
    said = ask(root, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", given=given) or b""
    wanted, room = [], MOST_AT_ONCE
    for row in said.decode("ascii", "replace").splitlines():
        name, _, rest = row.partition(" ")
        kind, _, size = rest.partition(" ")
        if kind == "blob" and size.isdecimal() and int(size) <= min(MOST, room):
            wanted.append(name)
            room -= int(size)
    if not wanted:
        return {}
    return _parse_batch(ask(root, "cat-file", "--batch", given="".join(f"{name}\n" for name in wanted).encode()) or b"")


def _parse_batch(said: bytes) -> dict[str, bytes]:
    """The answer of `cat-file --batch`: a line with id, type and size, then the bytes and a newline, for each."""
    found, at = {}, 0
    while (end := said.find(b"\n", at)) >= 0:
        words = said[at:end].split(b" ")
        if len(words) != 3:  # `missing`
            at = end + 1
            continue
        start, size = end + 1, int(words[2])
        found[words[0].decode()] = said[start : start + size]
        at = start + size + 1
    return found
