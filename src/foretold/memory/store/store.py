"""A store of memories: one file each, an index, and a history of every change.

1. When a call returns, its change is on the disk.
2. A change compares: an edit of a memory that is no longer as it was expected fails, and loses nothing.
3. A deleted memory is in the history, and comes back with `restore`.
4. The policy says who may write: `auto` lets the user and agents write, `confirm` puts what agents write into the
   inbox, `manual` refuses agents, `read-only` refuses everyone.
5. The log of one memory is read backwards from the file that it has now, or had last; a rename leads on to the former
   name. A name means the memory that has it now; if there is none, the one that had it last.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy

from foretold.errors import BadName, MemoryChanged, NoSuchMemory, StoreFailed, WriteRefused
from foretold.memory.format.write import render_flat, render_note
from foretold.memory.note import INDEX, TYPES, Memory, new_file, read_note, safe_file, slug_of
from foretold.memory.store.index_file import Update, entries_of, has_more, line_of
from foretold.memory.store.journal import Change, describe_missing
from foretold.memory.store.transaction import TOO_LARGE, ExternalChanges, VersionedFolder, now
from foretold.storage.digest import digest_of
from foretold.storage.folder import Modes
from foretold.storage.kernel import KERNEL, Kernel
from foretold.storage.names import same_name
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from typing import Unpack

    from foretold.memory.store.journal import ChangeOrigin
    from foretold.memory.store.large_index import ShortIndex


class Arrival(NamedTuple):
    """A file that comes from another store."""

    file: str
    data: bytes
    changed: float
    entry: str = ""  #: its line in the index


class Store:
    """The memories of one folder."""

    def __init__(
        self,
        folder: str,
        state: str,
        cache: str,
        *,
        scope: str = "private",
        policy: str = "auto",
        author: str = "",
        kernel: Kernel = KERNEL,
    ) -> None:
        modes = Modes(0o644, 0o755) if scope == "team" else Modes()
        self.versioned = VersionedFolder(folder, state, cache, modes, kernel)
        self.folder, self.journal = self.versioned.folder, self.versioned.journal
        self.state = state
        self.cache, self.scope, self.policy, self.author = cache, scope, policy, author
        self.flat = False  #: whether files are written with `type` at the top level (`write_text`)

    def with_approval(self) -> Store:
        """The same store for an agent's change that the user approved."""
        other = copy(self)
        other.policy = "auto" if self.policy == "confirm" else self.policy
        return other

    @property
    def path(self) -> str:
        return self.folder.path

    # Reading

    def memories(self, findings: list[Finding] | None = None) -> list[Memory]:
        """Every memory, by file. What cannot be read is added to `findings`."""
        problems: list[Finding] = [] if findings is None else findings
        found = []
        for file in self.folder.files(problems):
            try:
                found.append(self.find(file))
            except StoreFailed as error:
                problems.append(Finding(file, None, "unreadable", str(error)))
        return [memory for memory in found if memory is not None]  # some were deleted just now

    def read(self, file: str) -> Memory:
        """The memory in a file."""
        held = self.folder.read(file)
        return read_note(file, held.data, held.changed, self.scope)

    def find(self, file: str) -> Memory | None:
        """The memory in a file; None if there is no such file."""
        with suppress(NoSuchMemory):
            return self.read(file)
        return None

    def get(self, name: str) -> Memory:
        """A memory by its file, with or without `.md`, or by its name."""
        return self.choose_named(name, self.find_named(name))

    def choose_named(self, name: str, found: Sequence[Memory]) -> Memory:
        """The only one of the memories that were found; NoSuchMemory if there are several, or none."""
        if len(found) > 1:
            files = ", ".join(memory.file for memory in found)
            raise NoSuchMemory(f"{name!r} is the name of {len(found)} memories; give the file: {files}")
        if not found:
            raise NoSuchMemory(f"no memory is named {name!r} in {self.path}; see: foretold memory list")
        return found[0]

    def has(self, name: str) -> bool:
        """Whether a memory, or several, have this file or name."""
        return bool(self.find_named(name))

    def find_named(self, name: str) -> list[Memory]:
        """The memories of a file or a name: of that very file; else of the file that a name is given, or of a title in
        the index; else of any. Only the last reads them all. StoreFailed if it would be one that cannot be read.

        The identity of a memory is its file: if no text has the name, the file that such a memory is given has it.
        """
        for file in (name, f"{name}.md"):
            if same_name(file) != same_name(INDEX) and self._has(file):
                return [self.read(file)]
        files = self._likely_files(name)
        likely = [self._try_read(file) for file in files]
        found = [memory for memory in likely if memory and name in (memory.name, memory.title)]
        if found:
            return found
        words = re.findall(r"[A-Za-z0-9]+", name)
        found = self._search(name, max(words, key=len).lower().encode() if words else b"")
        return found or [memory for file in files if (memory := self.find(file))]  # or it says why it cannot be read

    def _has(self, file: str) -> bool:
        try:
            return self.folder.has(file)
        except BadName:
            return False

    def _try_read(self, file: str) -> Memory | None:
        with suppress(NoSuchMemory, StoreFailed, BadName):
            return self.read(file)
        return None

    def _likely_files(self, name: str) -> list[str]:
        """The files that a memory of this name or title would have."""
        files = dict.fromkeys(new_file(type_, name) for type_ in TYPES) if any(map(str.isalnum, name)) else {}
        with suppress(StoreFailed):
            title = " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()
            files |= dict.fromkeys(each.file for each in entries_of(self.index()) if each.title.casefold() == title)
        return sorted(file for file in files if self._has(file))

    def _search(self, name: str, word: bytes) -> list[Memory]:
        """Every memory of a name, else of a title. Files without a word of it are not parsed."""
        named, titled = list[Memory](), list[Memory]()
        for file in self.folder.files():
            with suppress(NoSuchMemory, StoreFailed):
                data = self.folder.read(file).data
                if word not in data.lower() and b"\\" not in data and word.decode() not in file.lower():
                    continue
                memory = read_note(file, data, 0, self.scope)
                if name in (memory.name, file.rpartition("/")[2]):
                    named.append(self.read(file))
                elif memory.title == name:
                    titled.append(self.read(file))
        return named or titled

    def index(self) -> str:
        """The text of `MEMORY.md`; empty if there is none. Of one that is too large, the start."""
        return (self.folder.read_index(cut=True) or b"").decode("utf-8", "replace")

    # Writing

    def create(
        self,
        topic: str,
        *,
        type: str,  # noqa: A002 - the word of the format
        description: str,
        body: str,
        file: str = "",
        metadata: Mapping[str, object] | None = None,
        **origin: Unpack[ChangeOrigin],
    ) -> Memory:
        """A new memory. `topic` names it; its file is `<type>_<topic>.md` unless one is given."""
        values = {"type": known_type(type), **title_metadata(topic), **self.sign("author", "created")}
        values |= metadata or {}
        if origin.get("session"):
            values["originSessionId"] = origin["session"]
        text = write_text(self.name_of(topic), description, values, body, flat=self.flat)
        return self.put(file or new_file(type, topic), text, **origin)

    def put(
        self, file: str, text: str | bytes, *, op: str = "create", entry: str = "", **origin: Unpack[ChangeOrigin]
    ) -> Memory:
        """A new file with exactly this text; `entry` is its line in the index, if not the usual one."""
        safe_file(file)
        if same_name(file) == same_name(INDEX):
            raise BadName(f"{file!r} cannot be used as a file name: it is the index")
        with self._writing(origin) as seen:
            return self._make(op, None, file, text, origin, seen, entry)

    def bring(
        self, arrivals: Sequence[Arrival], history: Sequence[Change] = (), **origin: Unpack[ChangeOrigin]
    ) -> None:
        """New files from another store, with their history, their lines of the index, and their age."""
        with self._writing(origin) as seen:
            first = self.journal.number + 1
            self.journal.append([change._replace(number=first + at) for at, change in enumerate(history)])
            for each in arrivals:
                self._make("bring", None, each.file, each.data, origin, seen, each.entry)
                self.folder.age(each.file, each.changed)

    def edit(
        self,
        name: str,
        *,
        description: str | None = None,
        body: str | None = None,
        type: str | None = None,  # noqa: A002
        text: str | bytes | None = None,
        expect: str = "",
        op: str = "edit",
        **origin: Unpack[ChangeOrigin],
    ) -> Memory:
        """Change a memory: fields of it, or its whole text. With `expect`, only if that is still its digest."""
        with self._writing(origin) as seen:
            before = self._get_expected(name, expect)
            whole = text if text is not None else self.rewrite(before, description, body, type)
            return self._make(op, before, before.file, whole, origin, seen)

    def amend(self, file: str, change: Callable[[bytes], bytes], **origin: Unpack[ChangeOrigin]) -> Memory:
        """Change a file by a function of its bytes, under the lock: no other process of ours comes in between."""
        with self._writing(origin) as seen:
            held = self.folder.read(file)
            before = read_note(file, held.data, held.changed, self.scope)
            return self._make("edit", before, file, change(held.data), origin, seen)

    def move(self, file: str, to: str, **origin: Unpack[ChangeOrigin]) -> Memory:
        """Another file for a memory, with the same text."""
        safe_file(to)
        self.folder.refuse_twin(to)
        data = self.folder.read(file).data
        return self._move(file, to, data, digest_of(data), "rename", origin)

    def name_of(self, topic: str) -> str:
        """The `name` of a memory about a topic: a slug, or in the flat form the topic itself."""
        return " ".join(topic.split()) if self.flat and slug_of(topic) else slug_of(topic)

    def rename(self, name: str, topic: str, *, expect: str = "", **origin: Unpack[ChangeOrigin]) -> Memory:
        """Give a memory another name, and its file too."""
        before = self._get_expected(name, expect)
        folder = before.file.rpartition("/")[0]
        file = f"{folder}/" * bool(folder) + new_file(before.type or "user", topic)
        if file == before.file:
            return before
        values = {**{key: value for key, value in before.metadata.items() if key != "title"}, **title_metadata(topic)}
        name = self.name_of(topic)
        data = write_text(name, before.description, values, before.body, flat=self.flat).encode()
        return self._move(before.file, file, data, before.digest, "rename", origin)

    def delete(self, name: str, *, expect: str = "", **origin: Unpack[ChangeOrigin]) -> Change:
        """Delete a memory from the store. It stays in the history."""
        with self._writing(origin) as seen:
            before = self._get_expected(name, expect)
            entry = line_of(self.index(), before.file)
            change = self.versioned.change("delete", before.file, before.digest, None, origin)._replace(entry=entry)
            self.versioned.make(change, Update({}, gone=frozenset((before.file,))), seen)
        return change

    def restore(self, name: str, *, at: int = 0, **origin: Unpack[ChangeOrigin]) -> Memory:
        """A deleted memory, or an earlier version of one: as change `at` left it, else as it was before the last.

        A memory that exists keeps its file, unless the last change was a rename: that is undone.
        """
        life = self.log(name)
        if name == INDEX and (kept := self._find_kept(life, at)):
            return self._restore_kept(kept, origin)
        file = self._file_of(name)
        now = digest_of(self.folder.read(file).data) if file else ""
        version = find_version(life, name, at, now)
        data = version.data or b""
        origin.setdefault("why", f"as of change {version.number}")
        if INDEX in (version.file, file):
            return self._restore_index(data, origin)
        if not file and not at and self.folder.has(version.file):
            raise NoSuchMemory(f"{name!r} is called {version.file} now; restore that one, or give a number with --at")
        if not file:
            return self.put(version.file, data, op="restore", entry=find_index_line(life, version.file), **origin)
        if version.file != file and not at:
            return self._move(file, version.file, data, now, "restore", origin)
        return self.edit(file, text=data, op="restore", expect=now, **origin)

    def _file_of(self, name: str) -> str:
        """The file of a memory that exists; empty if none does."""
        if name == INDEX:
            return INDEX if self.index() else ""
        return self.get(name).file if self.has(name) else ""

    def _restore_index(self, data: bytes, origin: ChangeOrigin) -> Memory:
        """An earlier index, in step with the current files."""
        with self._writing(origin, whole=True) as seen:
            earlier = data.decode("utf-8", "surrogateescape")
            text = self.versioned.rewrite_index(lambda _: earlier, seen, origin, follow=True)
        return self._read_as(INDEX, text.encode("utf-8", "replace"))

    def _find_kept(self, life: list[Change], at: int) -> Change | None:
        """The change that a restored index goes back to, if its text was too large for the history."""
        from foretold.memory.store.large_index import kept_path

        if at:
            wanted = [change for change in life if change.number == at]
        elif self.folder.large_index() is not None:
            raise StoreFailed(TOO_LARGE)
        else:
            is_last = bool(life) and life[-1].after == digest_of(self.folder.read_index() or b"")
            wanted = life[-2:-1] if is_last else []
        known = [change for change in wanted if change.data is None and change.after]
        return next((each for each in known if os.path.exists(kept_path(self.state, each.after))), None)

    def _restore_kept(self, kept: Change, origin: ChangeOrigin) -> Memory:
        from foretold.memory.store.large_index import restore_index

        origin.setdefault("why", f"as of change {kept.number}")
        with self._writing(origin):
            if self.folder.large_index() is None:
                restore_index(self.versioned, str(kept.after), origin)
        return self._read_as(INDEX, self.index().encode("utf-8", "replace"))

    def _move(self, file: str, to: str, data: bytes, expect: str, op: str, origin: ChangeOrigin) -> Memory:
        """Another file for a memory, with another text, as one change."""
        with self._writing(origin) as seen:
            return self._make(op, self._get_expected(file, expect), to, data, origin, seen)

    def _make(
        self,
        op: str,
        before: Memory | None,
        file: str,
        text: str | bytes,
        origin: ChangeOrigin,
        seen: ExternalChanges,
        entry: str = "",
    ) -> Memory:
        """Give a file this text, as one change; `before` is the memory as it was, perhaps in another file."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        made = self._read_as(file, data)
        old = before.file if before and before.file != file else ""
        if before and made.digest == before.digest and not old:
            self.folder.confirm(file)
            return before
        change = self.versioned.change(op, file, before.digest if before else None, data, origin)._replace(old=old)
        moved, lines = {old: file} if old else {}, {file: entry} if entry else {}
        self.versioned.make(change, Update({file: (before, made)}, moved=moved, lines=lines), seen)
        return made

    def reindex(self, **origin: Unpack[ChangeOrigin]) -> str:
        """Bring the index in step with the files; its text. What was in it before is in the history."""
        origin.setdefault("why", "brought in step with the files")
        with self._writing(origin, whole=True) as seen:
            return self.versioned.rewrite_index(lambda index: index, seen, origin, follow=True)

    def adopt(self, **origin: Unpack[ChangeOrigin]) -> tuple[str, ...]:
        """Give the memories that the index does not name their lines; their files.

        An index that is full, and says so, stays as it is.
        """
        text = self.index()
        listed = {entry.file for entry in entries_of(text)}
        unlisted = [] if has_more(text) else [file for file in self.folder.files() if file not in listed]
        if not unlisted:
            return ()
        origin.setdefault("why", "files that the index did not name")
        listed = {entry.file for entry in entries_of(self.reindex(**origin))}
        return tuple(file for file in unlisted if file in listed)

    def plan_short_index(self) -> ShortIndex | None:
        """What an index that is too large to be read would be replaced by; None if it is not. Changes nothing."""
        from foretold.memory.store.large_index import plan_short_index

        return plan_short_index(self.versioned) if self.folder.large_index() else None

    def shorten_index(self, **origin: Unpack[ChangeOrigin]) -> ShortIndex | None:
        """Replace an index that is too large to be read. The old one is kept, and comes back with `restore`."""
        from foretold.memory.store.large_index import shorten_index

        with self._writing(origin, whole=True) as seen:
            return shorten_index(self.versioned, seen, origin)

    def add_to_index(self, text: str, **origin: Unpack[ChangeOrigin]) -> str:
        """Append lines that are not entries to the index; its text."""
        with self._writing(origin) as seen:
            return self.versioned.rewrite_index(lambda index: f"{index.rstrip()}\n\n{text}\n".lstrip(), seen, origin)

    def write_index(self, text: str, *, expect: str, **origin: Unpack[ChangeOrigin]) -> str:
        """Another text for the index, if it is still the one that was read."""
        with self._writing(origin) as seen:
            if self.index() != expect:
                raise MemoryChanged(f"{INDEX} was changed by another program meanwhile; read it again")
            return self.versioned.rewrite_index(lambda _: text, seen, origin)

    # History

    def log(self, name: str = "", findings: list[Finding] | None = None) -> list[Change]:
        """Every change, oldest first; of one memory under all the names it had."""
        changes = self.versioned.history(findings)
        if not name:
            return changes
        return changes_of(changes, self._file_of(name) or last_file(changes, name))

    def notice(self) -> list[Change]:
        """Record what other programs did since the last look. Changes nothing in the folder itself."""
        if not os.path.isdir(self.path):
            return []
        with self.versioned.locked(whole=True) as seen:
            return seen.changes

    # Shared steps

    @contextmanager
    def _writing(self, origin: ChangeOrigin, *, whole: bool = False) -> Iterator[ExternalChanges]:
        if self.policy == "read-only":
            raise WriteRefused("the write policy is read-only: nothing is written")
        if origin.get("by") == "agent" and self.policy != "auto":
            raise WriteRefused(f"the write policy is {self.policy}: agents do not write here")
        with self.versioned.locked(whole=whole) as seen:
            yield seen

    def _get_expected(self, name: str, digest: str) -> Memory:
        memory = self.get(name)
        if digest and memory.digest != digest:
            raise MemoryChanged(f"{memory.file} was changed by another program meanwhile; read it again")
        return memory

    def _read_as(self, file: str, data: bytes) -> Memory:
        return read_note(file, data, time.time(), self.scope)

    def rewrite(self, memory: Memory, description: str | None, body: str | None, type_: str | None) -> str:
        """The text of a memory's file with other fields."""
        values = {**memory.metadata, **self.sign("editor", "updated")}
        if type_ is not None or memory.type:
            values["type"] = known_type(type_ or memory.type)
        text = memory.description if description is None else description
        return write_text(memory.name, text, values, memory.body if body is None else body, flat=self.flat)

    def sign(self, who: str, when: str) -> dict[str, object]:
        """Author and time, in a team's store."""
        return {who: self.author, when: now()} if self.scope == "team" else {}


def title_metadata(topic: str) -> dict[str, object]:
    """A topic as metadata, unless the name made from it gives it back."""
    title = " ".join(topic.split())
    plain = slug_of(topic).replace("-", " ")
    return {} if title == plain[:1].upper() + plain[1:] else {"title": title}


def write_text(name: str, description: str, metadata: Mapping[str, object], body: str, *, flat: bool = False) -> str:
    """The text of a memory's file, in the form in which Claude Code stores it.

    `flat`: in the form that notes on it describe, with `type` at the top level and `metadata` only for the rest.
    """
    description, body = " ".join(description.split()), body.strip("\n") + "\n"
    if flat:
        return render_flat(name, description, metadata, body)
    return render_note(name, description, {"node_type": "memory", **metadata}, body)


def known_type(type_: str) -> str:
    """A type of memory; WriteRefused if there is none of that name."""
    if type_ not in TYPES:
        raise WriteRefused(f"{type_!r} is not a type of memory; use one of {', '.join(TYPES)}")
    return type_


def changes_of(changes: list[Change], file: str) -> list[Change]:
    """Every change of the memory that is, or was last, in a file; oldest first."""
    found: list[Change] = []
    for change in reversed(changes) if file else ():
        if change.file == file:
            found.append(change)
            file = change.old or file
        elif change.old == file:
            found.append(change)
    return found[::-1]


def last_file(changes: list[Change], name: str) -> str:
    """The file of the last memory with a name; empty if there was none."""
    for change in reversed(changes):
        names = [each for file in filter(None, (change.file, change.old)) for each in (file, file.removesuffix(".md"))]
        if name in names or (change.has_text and read_note(change.file, change.data or b"").name == name):
            return change.file
        if change.erased and new_file(change.file.partition("_")[0], name) == change.file:
            return change.file  # its text, which had the name, is gone
    return ""


def find_version(life: list[Change], name: str, at: int, now: str) -> Change:
    """The change to go back to: number `at`, else the one before the last.

    If the memory is not as the last one left it, that one: the memory was deleted. So restoring a deleted memory twice
    changes nothing.
    """
    texts = [change for change in life if change.has_text]
    if at:
        wanted = [change for change in texts if change.number == at]
    else:
        wanted = texts[:-1] if texts and texts[-1].after == now else texts
    if not wanted:
        missing = [describe_missing(change) for change in life if at in (0, change.number)]
        if any(missing):
            raise NoSuchMemory(f"{next(filter(None, reversed(missing)))}; see: foretold memory log")
        if at and any(change.number == at for change in life):
            raise NoSuchMemory(f"change {at} of {name!r} left no text to restore; see: foretold memory log")
        which = f"change {at}" if at else "earlier version"
        raise NoSuchMemory(f"the history has no {which} of {name!r}; see: foretold memory log")
    return wanted[-1]


def find_before(changes: list[Change], change: Change) -> Change | None:
    """The version that a change replaced, of the same memory; None if there was none, or it is not known."""
    if change.before is None:
        return None
    earlier = [each for each in changes if each.number < change.number]
    life = changes_of(earlier, change.old or change.file)
    found = [each for each in life if each.after == change.before]
    same = [each for each in earlier if each.after == change.before]  # another file with the same text
    return next((each for each in reversed(found or same) if each.has_text), found[0] if found else None)


def find_index_line(life: list[Change], file: str) -> str:
    """The line that a file had in the index when it was last deleted; empty if that is not known."""
    return next((change.entry for change in reversed(life) if change.entry and change.file == file), "")
