"""Machines for the tests of the store: kernels that fail or die, processes that write at once, and what must hold then.

1. A `Watched` kernel sees every call that changes something. `Quick` does not wait for the disk; `Faulty` fails, or
   dies, at its n-th call.
2. `seeded` makes a store with everything in it that an operation needs; `OPERATIONS` are done to it.
3. A worker is a process that writes and says on its standard output what it begins (`begin`) and what was acknowledged
   (`ack`). The session of each change is its name, so the history can be asked for it.
4. `problems` compares files, index and history of a store with one another; `lost` compares them with what was
   acknowledged. Both return sentences: none is good.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import warnings

import foretold
from foretold.errors import ForetoldError
from foretold.memory.note import INDEX
from foretold.memory.store.inbox import Inbox
from foretold.memory.store.index_file import entries_of, has_more
from foretold.memory.store.store import Store, write_text
from foretold.memory.store.transaction import MemoryFolder as Folder
from foretold.storage.digest import digest_of
from foretold.storage.kernel import KERNEL, Kernel

CALLS = "open close write fsync fchmod ftruncate link rename unlink mkdir rmdir exchange".split()
PREAMBLE = "# Mine\n\nKeep this line.\n"
FOREIGN = "user_foreign.md"
MANY = "user_many_"  #: how the names of files begin that another program wrote by the thousand
OWN = "- [In my own words](user_a.md): hand-written"
OWNED = ("# Mine", "Keep this line.", OWN)
SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))


class Watched(Kernel):
    """A kernel whose every call passes through `call`."""

    def __init__(self):
        for name in CALLS:
            setattr(self, name, functools.partial(self.call, name))

    def call(self, name, *args, **options):
        return getattr(Kernel, name)(*args, **options)


class Quick(Watched):
    """A kernel that does not wait for the disk."""

    def call(self, name, *args, **options):
        return None if name == "fsync" else super().call(name, *args, **options)


class Faulty(Quick):
    """A kernel whose n-th call goes wrong.

    `fault` is an error number; `die`: the process is gone before the call; `kill`: it is gone after it, by SIGKILL;
    `torn`: it is gone after half of a write; `short`: half of a write is all the disk takes. `lasting`: the calls after
    it fail, too.
    """

    def __init__(self, at, fault, *, lasting=False):
        super().__init__()
        self.at, self.fault, self.lasting = at, fault, lasting
        self.count = 0

    def call(self, name, *args, **options):
        self.count += 1
        if self.count != self.at and not (self.lasting and self.count > self.at):
            return super().call(name, *args, **options)
        if isinstance(self.fault, int):
            if name == "close":
                super().call(name, *args, **options)
            raise OSError(self.fault, os.strerror(self.fault))
        if self.fault in ("torn", "short") and name == "write":
            written_ = super().call(name, args[0], bytes(args[1])[: len(args[1]) // 2])
            if self.fault == "short":
                return written_
        if self.fault == "short":
            return super().call(name, *args, **options)
        if self.fault == "kill":
            super().call(name, *args, **options)
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(9)


def in_child(function):
    """What a function answers in a process of its own; None if that process died. The answer is JSON."""
    here, there = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a child of a process with threads: it starts none, and ends here
        pid = os.fork()
    if not pid:
        try:
            os.write(there, json.dumps(function()).encode())
        except BaseException as error:  # the parent is told
            os.write(there, json.dumps(["crash", repr(error)]).encode())
        finally:
            os._exit(0)
    os.close(there)
    with open(here, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(answer) if answer else None


# A store and what is done to it


def store_in(root, kernel=None, **options):
    """The store of a folder: memories, history and cache side by side."""
    paths = (os.path.join(root, name) for name in ("memory", "state", "cache"))
    return Store(*paths, kernel=kernel or Quick(), **options)


def text_of(name, body):
    return write_text(name, f"about {name}", {"type": "user"}, body)


def seeded(root):
    """A store with memories, versions of them, a deleted one, a foreign one, hand-written lines and proposals."""
    store = store_in(root)
    os.makedirs(store.path, 0o700)
    with open(os.path.join(store.path, INDEX), "w", encoding="utf-8") as file:
        file.write(f"{PREAMBLE}{OWN}\n")
    for name in ("a", "b", "gone", "c"):
        store.put(f"user_{name}.md", text_of(name, f"Body of {name}."))
    store.put("deep/user_d.md", text_of("d", "Deep."))
    store.edit("user_b.md", text=text_of("b", "Second body of b."))
    store.delete("user_gone.md")
    inbox = Inbox(store)
    inbox.propose("create", "user_new.md", text_of("new", "Proposed."))
    inbox.propose("edit", "user_c.md", text_of("c", "Proposed."), expect=store.read("user_c.md").digest)
    inbox.propose("delete", "user_c.md", expect=store.read("user_c.md").digest)
    with open(os.path.join(store.path, FOREIGN), "w", encoding="utf-8") as file:
        file.write(text_of("foreign", "An agent wrote this."))
    return store


def _accept(number):
    def accept(store):
        inbox = Inbox(store)
        return inbox.accept(inbox.waiting()[number].id)

    return accept


OPERATIONS = {
    "create": lambda store: store.put("user_new.md", text_of("new", "New.")),
    "create-deep": lambda store: store.put("one/two/user_new.md", text_of("new", "New.")),
    "edit": lambda store: store.edit("user_a.md", text=text_of("a", "Other body.")),
    "edit-deep": lambda store: store.edit("deep/user_d.md", text=text_of("d", "Other body.")),
    "delete": lambda store: store.delete("user_a.md"),
    "rename": lambda store: store.rename("user_a.md", "Another name"),
    "restore": lambda store: store.restore("user_gone.md"),
    "restore-earlier": lambda store: store.restore("user_b.md"),
    "reindex": lambda store: store.reindex(),
    "accept-create": _accept(0),
    "accept-edit": _accept(1),
    "accept-delete": _accept(2),
    "propose": lambda store: Inbox(store).propose("create", "user_later.md", text_of("later", "Later.")),
}


def files_of(store):
    """Every Markdown file of the folder but the index, as bytes."""
    found = {}
    for folder, _, names in os.walk(store.path):
        for name in names:
            path = os.path.join(folder, name)
            file = os.path.relpath(path, store.path)
            if name.endswith(".md") and file != INDEX:
                with open(path, "rb") as opened:
                    found[file] = opened.read()
    return found


def waiting(store):
    return sorted((each.op, each.file) for each in Inbox(store).waiting())


def outcome(operation, store):
    """`ack`, or the kind and the words of what was raised; and the number of calls it took."""
    try:
        OPERATIONS[operation](store)
    except ForetoldError as error:
        return [type(error).__name__, str(error)]
    return ["ack", ""]


def calls_of(operation, template, root):
    """How many calls an operation takes, and what it leaves: files, and proposals that wait."""
    shutil.copytree(template, root)
    kernel = Faulty(0, 0)
    store = store_in(root, kernel)
    assert outcome(operation, store) == ["ack", ""]
    left = files_of(store), waiting(store)
    shutil.rmtree(root)
    return kernel.count, left


def faulted(operation, at, fault, template, root, *, lasting=False):
    """Let the n-th call of an operation go wrong: what was answered (None: it died). The store stays for a look."""
    shutil.copytree(template, root)
    kernel = Faulty(at, fault, lasting=lasting)
    if isinstance(fault, int) or fault == "short":
        try:
            return outcome(operation, store_in(root, kernel))
        except Exception as error:
            return ["crash", repr(error)]
    return in_child(lambda: outcome(operation, store_in(root, kernel)))


def judged(answer, root, before, after, *, fault=None):
    """What is wrong after an operation that went wrong, or not: sentences."""
    store = store_in(root)
    found, kind = (files_of(store), waiting(store)), answer[0] if answer else "dead"
    said = []
    if kind == "crash":
        said.append(f"it raised what is no error of ours: {answer[1]}")
    if kind == "ack" and found != after:
        said.append("LOST: it was acknowledged, and is not there")
    if answer and "Nothing was changed" in answer[1] and found != before:
        said.append(f"LIE: something was changed, but: {answer[1]}")
    if kind not in ("ack", "dead", "crash", "NotSynced") and found != before:
        said.append(f"LIE: {kind} and something was changed: {answer[1]}")
    for file in found[0].keys() | before[0].keys() | after[0].keys():
        if found[0].get(file) not in (before[0].get(file), after[0].get(file)):
            said.append(f"TORN: {file} is neither as it was nor as it should be: {found[0].get(file)}")
    before_log = {(each.number, each.after) for each in store.journal.changes()}
    store.put("user_next.md", text_of("next", "The next operation works."))
    torn = fault == "torn"  # half of a record is named as damage, half of an index may come into the history
    said += [each for each in problems(store, leftovers=torn) if not (torn and each.startswith("damage"))]
    log = store.journal.changes()
    texts = {change.data for change in log}
    said += [f"LOST: a version of {file}" for file, data in before[0].items() if data not in texts]
    said += ["LOST: history"] * (not before_log <= {(each.number, each.after) for each in log})
    said += [f"{change.op} of {change.file} by other" for change in log if change.file == INDEX and _foreign(change)]
    return said


def _foreign(change):
    return change.by == "other" and change.number > 2  # the hand-written index was noticed first


# What must hold


def tree(path):
    """Every path below a folder, with what is in it."""
    found = {}
    for base, folders, files in os.walk(path):
        for name in folders:
            found[os.path.relpath(os.path.join(base, name), path)] = None
        for name in files:
            whole = os.path.join(base, name)
            with open(whole, "rb") as file:
                found[os.path.relpath(whole, path)] = file.read()
    return found


def replayed(changes):
    """The files that a history leaves: their digests."""
    files = {}
    for change in changes:
        if change.op == "leftover" or change.file == INDEX:
            continue
        files.pop(change.old, None)
        files.pop(change.file, None)
        if change.after is not None:
            files[change.file] = change.after
    return files


def problems(store, own=OWNED, *, leftovers=False, displaced=False):
    """What does not fit together in a store that nobody is writing to.

    `displaced`: a line of somebody else may have got from the index into the history.
    """
    told = []
    store.notice()
    changes = store.journal.changes(told)
    files = files_of(store)
    said = [f"damage: {finding}" for finding in told]
    numbers = [change.number for change in changes]
    if numbers != sorted(set(numbers)):
        said.append(f"numbers of changes do not increase: {numbers}")
    if replayed(changes) != {file: digest_of(data) for file, data in files.items()}:
        said.append(f"history says {sorted(replayed(changes))}, the folder has {sorted(files)}")
    index = store.index()
    listed = [entry.file for entry in entries_of(index)]
    if has_more(index):
        if not set(listed) <= set(files) or f"and {len(files) - len(listed):,} more" not in index:
            said.append(f"the index lists {len(listed)} of {len(files)} files, and ends with {index[-80:]!r}")
    elif sorted(listed) != sorted(files):
        said.append(f"the index lists {sorted(listed)}, the folder has {sorted(files)}")
    owned = own if "user_a.md" in files else [line for line in own if "user_a.md" not in line]
    kept = index.splitlines() if not displaced else [index, *((change.data or b"").decode() for change in changes)]
    said += [f"LOST: hand-written line {line!r}" for line in owned if not any(line in each for each in kept)]
    if not leftovers:
        said += [f"leftover in history: {change.data}" for change in changes if change.op == "leftover"]
    return said + strays(store)


def strays(store):
    """Files that have no business where they are."""
    known = {"log.jsonl", "inbox.jsonl", "heads", "heads.new", "format", "format.new"}
    known |= {"log.jsonl.torn", "inbox.jsonl.torn"}  # where half a record of a killed process is put aside
    found = [name for _, _, names in os.walk(store.path) for name in names if name.startswith(".")]
    for folder in (store.state, store.cache):
        found += [
            name
            for base, _, names in os.walk(folder)
            for name in names
            if name not in known and os.path.basename(base) != "kept"  # where large indexes are
        ]
    return [f"left behind: {name}" for name in found]


# A race


def swap_race(root, rounds):
    """Create, replace, remove and read in a folder that a thread swaps with a link to another one all the time."""
    path, outside = os.path.join(root, "memory"), os.path.join(root, "outside")
    os.makedirs(outside)
    with open(os.path.join(outside, "a.md"), "wb") as file:
        file.write(b"secret")
    folder = Folder(path, kernel=Quick())
    with folder.locked():
        folder.create("sub/a.md", b"inside")
    os.symlink(outside, os.path.join(path, "other"))
    over = threading.Event()

    def swap():
        here = os.open(path, os.O_RDONLY)
        while not over.is_set():
            KERNEL.exchange("sub", "other", here, here)
        os.close(here)

    thread = threading.Thread(target=swap)
    thread.start()
    done = {"made": 0, "refused": 0, "escaped": []}
    try:
        for number in range(rounds):
            _race_once(folder, f"sub/{number}.md", done)
    finally:
        over.set()
        thread.join()
    if tree(outside) != {"a.md": b"secret"}:
        done["escaped"].append(tree(outside))
    return done


def _race_once(folder, file, done):
    one, two = digest_of(b"inside"), digest_of(b"inside!")
    acts = (
        (folder.create, file, b"inside"),
        (folder.replace, file, b"inside!", one),
        (folder.remove, file, two),
        (folder.read, "sub/a.md"),
    )
    with folder.locked():
        for act, *words in acts:
            try:
                held = act(*words)
            except ForetoldError:
                done["refused"] += 1
            else:
                done["made"] += 1
                if held is not None and held.data != b"inside":
                    done["escaped"].append(held.data)


# Processes


class Worker:
    """A process that writes to a store, with what it said until now."""

    def __init__(self, root, name, count, *, quick=True, editor=False, large=False):
        words = [
            "edit" if editor else "grow" if large else "write",
            root,
            name,
            str(count),
            "quick" if quick else "synced",
        ]
        env = {"PYTHONPATH": SOURCES, "HOME": root, "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        self.said = []

    def line(self):
        """The next thing it says; None at its end."""
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            return None
        self.said.append(json.loads(line))
        return self.said[-1]

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self):
        """Hear it to its end; what it complained of."""
        while self.line() is not None:
            pass
        error = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()
        return error

    def acknowledged(self):
        return {said["id"]: said for said in self.said if said["kind"] == "ack"}


def lost(store, acknowledged, *, killed=False):
    """Acknowledged changes that the history has not, and changes that nobody made."""
    changes = store.journal.changes()
    by_name = {change.session: change for change in changes if change.session}
    said = []
    for name, ack in acknowledged.items():
        change = by_name.get(name)
        if change is None or (change.file, change.after) != (ack["file"], ack["digest"]):
            said.append(f"LOST: {ack}")
    last = {}
    for change in changes:
        if change.by == "other" and change.file != INDEX and change.op != "leftover":
            before = last.get(change.file)
            if before is None and change.file.startswith((FOREIGN, MANY)):
                continue
            if not killed or before is None or before.session in acknowledged:
                said.append(f"LOST: {change.op} of {change.file} by nobody, after {before and before.session}")
        for file in (change.file, change.old):
            last[file] = change
    return said


def write_much(root, name, count, kernel):
    """Create, edit, delete and rename at random, and say so."""
    dice = random.Random(name)
    store = store_in(root, kernel)
    for number in range(count):
        key = f"{name}-{number}"
        op = dice.choice(("create", "create", "edit", "edit", "edit", "delete", "rename"))
        say(kind="begin", id=key, op=op)
        file = dice.choice(list(store.folder.files()) or ["none.md"])
        try:
            made = write_once(store, op, key, file, dice)
        except ForetoldError as error:
            say(kind="fail", id=key, op=op, error=type(error).__name__, said=str(error))
        else:
            digest = made.after if op == "delete" else made.digest
            kind = "same" if op == "rename" and made.file == file else "ack"
            say(kind=kind, id=key, op=op, file=made.file, digest=digest)
    say(kind="end")


def write_once(store, op, key, file, dice):
    if op == "create":
        topic = f"topic {dice.randrange(20)}"
        return store.create(topic, type="user", description=f"by {key}", body=f"Body {key}. " * 20, session=key)
    if op == "edit":
        return store.edit(file, body=f"Edited {key}. " * dice.randrange(1, 200), session=key)
    if op == "delete":
        return store.delete(file, session=key)
    return store.rename(file, f"topic {dice.randrange(20)}", session=key)


def edit_index(root, name, count):
    """Another program: it adds a line to the index at a time, by a temporary file that it renames."""
    path = os.path.join(root, "memory", INDEX)
    for number in range(count):
        line = f"Line {number} by {name}."
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(f"{path}.tmp", "w", encoding="utf-8") as file:
            file.write(f"{line}\n{text}")
        os.replace(f"{path}.tmp", path)
        say(kind="line", text=line)


def grow(root, name, count):
    """Write a memory anew again and again, each time with many bytes."""
    store = store_in(root)
    for number in range(count):
        made = store.edit("user_a.md", text=f"{number} " * 100_000, session=f"{name}-{number}")
        say(kind="ack", id=f"{name}-{number}", op="edit", file=made.file, digest=made.digest)


def say(**words):
    os.write(1, json.dumps(words).encode() + b"\n")


if __name__ == "__main__":
    what, where, who, times, how = sys.argv[1:]
    if what == "edit":
        edit_index(where, who, int(times))
    elif what == "grow":
        grow(where, who, int(times))
    else:
        write_much(where, who, int(times), Quick() if how == "quick" else Kernel())
