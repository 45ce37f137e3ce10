"""What a power cut could leave of a store: a model of a disk that promises no more than POSIX does.

1. A `Recorder` is a kernel that writes down, by inode, what changes: entries of folders and bytes of files.
2. At any moment, what was synced is there. Of a folder's entries that were changed since it was synced, any may be
   there and any may not, also against their order. Of a file's bytes that were written since, all may be there, none,
   half, or zeros in their place. A file's sync is none of its folder's, and the other way round.
3. `states` yields such disks for every moment of a recording: all of them where they are few, else as many as asked
   for, chosen at random. `put_down` writes one into a fresh folder.
4. `recorded` does operations, `judged` opens a store in what a power cut left of them: sentences, none is good.

This is the abstract model of ALICE (Pillai et al., OSDI 2014), with renames between two folders split into halves.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import shutil
from typing import NamedTuple

from foretold.errors import ForetoldError
from foretold.memory.note import INDEX
from foretold.memory.store.inbox import Inbox

from .machines import Watched, files_of, problems, store_in, text_of, waiting


class Dead(BaseException):
    """The process is gone: no call of the recorder does anything from here on."""


class Event(NamedTuple):
    """One step of a recording."""

    kind: str  #: entry, write, cut, sync, mark
    inode: int = 0
    name: str = ""
    target: int | None = None  #: the inode that an entry leads to; None: the entry is gone
    data: bytes = b""
    size: int = 0
    mark: object = None


class Recorder(Watched):
    """A kernel that writes down what it does below a folder. With `die_at` it is gone at that call, until `revived`."""

    def __init__(self, root):
        super().__init__()
        self.root = root
        self.events = []
        self.ids = {}  #: device and inode -> our own number, because the system uses its numbers again
        self.folders = {0}
        self.fresh = itertools.count()
        self.count, self.die_at = 0, 0
        self._new(os.stat(root))

    def mark(self, what):
        self.events.append(Event("mark", mark=what))

    def call(self, name, *args, **options):
        self.count += 1
        if self.die_at and self.count >= self.die_at:
            raise Dead
        recorded = getattr(self, f"_{name}", None)
        return recorded(*args, **options) if recorded else super().call(name, *args, **options)

    def _new(self, about):
        self.ids[about.st_dev, about.st_ino] = number = next(self.fresh)
        return number

    def _id(self, about):
        return self.ids.get((about.st_dev, about.st_ino))

    def _place(self, path, folder=None):
        """The folder in which a path stands, and its name there."""
        if folder is None:
            return self._id(os.stat(os.path.dirname(path))), os.path.basename(path)
        return self._id(os.fstat(folder)), path

    def _entry(self, place, target):
        if place[0] is not None:
            self.events.append(Event("entry", place[0], place[1], target))

    def _there(self, path, folder=None):
        try:
            return self._id(os.stat(path, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def _open(self, path, flags, mode=0o777, *, dir_fd=None):
        fresh = self._there(path, dir_fd) is None
        descriptor = os.open(path, flags, mode, dir_fd=dir_fd)
        if fresh:
            self._entry(self._place(path, dir_fd), self._new(os.fstat(descriptor)))
        return descriptor

    def _write(self, descriptor, data):
        about = os.fstat(descriptor)
        count = os.write(descriptor, data)
        at = os.fstat(descriptor).st_size - count  # all of the store's writes are at the end
        self.events.append(Event("write", self._id(about), data=bytes(data[:count]), size=at))
        return count

    def _ftruncate(self, descriptor, size):
        os.ftruncate(descriptor, size)
        self.events.append(Event("cut", self._id(os.fstat(descriptor)), size=size))

    def _fsync(self, descriptor):
        number = self._id(os.fstat(descriptor))
        if number is not None:
            self.events.append(Event("sync", number))

    def _link(self, old, new, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True):
        target = self._there(old, src_dir_fd)
        os.link(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)
        self._entry(self._place(new, dst_dir_fd), target)

    def _rename(self, old, new, *, src_dir_fd=None, dst_dir_fd=None):
        target = self._there(old, src_dir_fd)
        os.rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        self._entry(self._place(new, dst_dir_fd), target)
        self._entry(self._place(old, src_dir_fd), None)

    def _exchange(self, one, other, one_folder, other_folder):
        first, second = self._there(one, one_folder), self._there(other, other_folder)
        done = super().call("exchange", one, other, one_folder, other_folder)
        if done:
            self._entry(self._place(one, one_folder), second)
            self._entry(self._place(other, other_folder), first)
        return done

    def _unlink(self, path, *, dir_fd=None):
        os.unlink(path, dir_fd=dir_fd)
        self._entry(self._place(path, dir_fd), None)

    def _mkdir(self, path, mode=0o777, *, dir_fd=None):
        os.mkdir(path, mode, dir_fd=dir_fd)
        number = self._new(os.stat(path, dir_fd=dir_fd))
        self.folders.add(number)
        self._entry(self._place(path, dir_fd), number)


class Disk:
    """What was written until a moment: what is sure, and what hangs in the air."""

    def __init__(self, folders):
        self.folders = folders
        self.entries = {0: {}}  #: folder -> name -> inode
        self.bytes = {}  #: file -> its bytes
        self.loose = {}  #: inode -> events since it was synced

    def see(self, event):
        if event.kind == "sync":
            self._settle(event.inode, self.loose.pop(event.inode, []))
        elif event.kind != "mark":
            self.loose.setdefault(event.inode, []).append(event)

    def _settle(self, inode, events):
        if inode in self.folders:
            self.entries[inode] = with_entries(self.entries.get(inode, {}), events)
        else:
            self.bytes[inode] = with_bytes(self.bytes.get(inode, b""), events)

    def choices(self, dice):
        """For each inode with loose ends: the contents it may have."""
        found = []
        for inode, events in sorted(self.loose.items()):
            if inode in self.folders:
                now = self.entries.get(inode, {})
                each = [
                    with_entries(now, list(itertools.compress(events, keep))) for keep in subsets(len(events), dice)
                ]
            else:
                each = torn(self.bytes.get(inode, b""), events)
            found.append((inode, unique(each)))
        return found

    def tree(self, chosen):
        """Path -> bytes, or None for a folder."""
        found = {}

        def walk(folder, prefix):
            for name, inode in chosen.get(folder, self.entries.get(folder, {})).items():
                path = prefix + name
                if inode in self.folders:
                    found[path] = None
                    walk(inode, path + "/")
                else:
                    found[path] = chosen.get(inode, self.bytes.get(inode, b""))

        walk(0, "")
        return found


def subsets(count, dice):
    """Which of some events are kept: every choice of six and fewer; of more, one lost, one kept, and some by chance."""
    if count <= 6:
        return list(itertools.product((False, True), repeat=count))
    singles = [tuple((place == at) is kept for place in range(count)) for at in range(count) for kept in (True, False)]
    chance = [tuple(dice.random() < 0.5 for _ in range(count)) for _ in range(32)]
    return [(True,) * count, (False,) * count, *singles, *chance]


def with_entries(now, events):
    now = dict(now)
    for event in events:
        if event.target is None:
            now.pop(event.name, None)
        else:
            now[event.name] = event.target
    return now


def with_bytes(now, events):
    for event in events:
        if event.kind == "cut":
            now = now[: event.size].ljust(event.size, b"\0")
        else:
            now = now[: event.size].ljust(event.size, b"\0") + event.data + now[event.size + len(event.data) :]
    return now


def torn(now, events):
    """The bytes a file may have: any of its writes whole, halved, as zeros or not there."""
    found = [with_bytes(now, events[:count]) for count in range(len(events) + 1)]
    for count, event in enumerate(events):
        if event.kind == "write":
            before = with_bytes(now, events[:count])
            half = event._replace(data=event.data[: len(event.data) // 2])
            found.append(with_bytes(before, [half]))
            found.append(with_bytes(before, [event._replace(data=bytes(len(event.data)))]))
            found.append(with_bytes(before, [event._replace(data=half.data.ljust(len(event.data), b"\0"))]))
    return found


def unique(values):
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def states(recorder, *, each=64, seed=0):
    """Every state that the disk may be in when the power goes: the marks until then, and the tree. Each one once."""
    dice = random.Random(seed)
    disk, marks, seen = Disk(recorder.folders), [], set()
    for event in [*recorder.events, Event("mark", mark="end")]:
        choices = disk.choices(dice)
        inodes = [inode for inode, _ in choices]
        count = 1
        for _, values in choices:
            count *= len(values)
        if count <= each:
            picked = itertools.product(*(values for _, values in choices))
        else:
            picked = ([dice.choice(values) for _, values in choices] for _ in range(each))
        for values in picked:
            tree = disk.tree(dict(zip(inodes, values, strict=True)))
            key = hashlib.sha256(repr((marks, sorted(tree.items()))).encode()).digest()
            if key not in seen:
                seen.add(key)
                yield list(marks), tree
        disk.see(event)
        if event.kind == "mark":
            marks.append(event.mark)


def put_down(tree, root):
    """Write a state into a folder."""
    os.makedirs(root)
    for path, data in sorted(tree.items()):
        if data is None:
            os.makedirs(os.path.join(root, path), 0o700, exist_ok=True)
        else:
            with open(os.path.join(root, path), "wb") as file:
                file.write(data)


# Operations, and what must be left of them

STEPS = {
    "create": lambda store: store.put("user_a.md", text_of("a", "A. " * 40)),
    "edit": lambda store: store.edit("user_a.md", text=text_of("a", "Edited. " * 30)),
    "create-deep": lambda store: store.put("deep/er/user_b.md", text_of("b", "B. " * 20)),
    "edit-deep": lambda store: store.edit("deep/er/user_b.md", text=text_of("b", "Edited. " * 20)),
    "delete-deep": lambda store: store.delete("deep/er/user_b.md"),
    "restore-deep": lambda store: store.restore("deep/er/user_b.md"),
    "rename": lambda store: store.rename("user_a.md", "Another name"),
    "restore": lambda store: store.restore("user_another_name.md", at=1),
    "delete": lambda store: store.delete("user_another_name.md"),
    "propose": lambda store: Inbox(store).propose("create", "user_c.md", text_of("c", "C.")),
    "accept": lambda store: [Inbox(store).accept(each.id) for each in Inbox(store).waiting()][-1],
    "reindex": lambda store: store.reindex(),
}


def snapshot(store):
    """Everything that was promised: files and proposals."""
    return {**files_of(store), **{f"proposed: {op} {file}": b"" for op, file in waiting(store)}}


class Mark(NamedTuple):
    """A step begins, or was acknowledged."""

    kind: str
    step: str
    changed: dict  #: what it changes: file -> bytes afterwards, None if it is gone
    lines: frozenset  #: of the index, before and afterwards


def recorded(root, steps, *, dying=None, die_at=0):
    """Do steps while a recorder looks on. A process that does `dying` is gone at its n-th call, and the step is done by
    another one then."""
    marks = list(_marks(os.path.join(root, "plain"), steps))
    os.makedirs(os.path.join(root, "disk"))
    recorder = Recorder(os.path.join(root, "disk"))
    for step, begin, ack in marks:
        recorder.mark(begin)
        if step == dying:
            recorder.die_at = recorder.count + die_at
            _do(step, recorder)
            recorder.die_at = 0
        if _do(step, recorder):
            recorder.mark(ack)
    return recorder


def _marks(root, steps):
    """The steps with their marks, from a run in which nothing goes wrong."""
    os.makedirs(root)
    store = store_in(root)
    for step in steps:
        before, index = snapshot(store), store.index()
        STEPS[step](store)
        after = snapshot(store)
        both = before.keys() | after.keys()
        changed = {file: after.get(file) for file in both if after.get(file) != before.get(file)}
        lines = frozenset((*index.split("\n"), *store.index().split("\n")))
        yield step, Mark("begin", step, changed, lines), Mark("ack", step, changed, lines)
    shutil.rmtree(root)


def _do(step, recorder):
    try:
        STEPS[step](store_in(recorder.root, recorder))
    except (Dead, ForetoldError, IndexError):  # the one that died had done it: nothing is left to do for this one
        return False
    return True


def allowed(marks):
    """For every file what it may be: what was acknowledged last, or what was begun since."""
    found = {}
    for mark in marks:
        for file, data in mark.changed.items():
            found[file] = {data} if mark.kind == "ack" else found.get(file, {None}) | {data}
    return found


def judged(marks, tree, root):
    """What is wrong with what a power cut left."""
    marks = [mark for mark in marks if isinstance(mark, Mark)]
    put_down(tree, root)
    store = store_in(root)
    may = allowed(marks)
    said = [f"TORN: {file}" for file, data in files_of(store).items() if data not in may.get(file, ())]
    known = {line for mark in marks for line in mark.lines}
    said += [f"TORN: {INDEX}: {line!r}" for line in store.index().split("\n") if line and line not in known]
    store.put("user_next.md", text_of("next", "Next."))
    found = snapshot(store)
    said += [f"LOST: {file}: {found.get(file)}" for file in may if found.get(file) not in may[file]]
    texts = {change.data for change in store.journal.changes()}
    for mark in marks:
        if mark.kind == "ack":
            promised = [
                data for file, data in mark.changed.items() if file.endswith(".md") and data and " " not in file
            ]
            said += [f"LOST: a version by {mark.step}" for data in promised if data not in texts]
    told = problems(store, (), leftovers=True)
    damage = [each for each in told if each.startswith("damage")]
    return said + [each for each in told if each not in damage] + damage[1:]
