"""`make torture`: prove at length that the store of memories loses nothing. Ends with 1 if it did.

python tests/system/torture.py                 about ten minutes
python tests/system/torture.py --minutes 60    longer: every part goes on with other numbers

| part | what is done |
|---|---|
| processes | 2, 8 and 32 processes create, edit, delete and rename at once, another program rewrites the index |
| kill -9 | a process that writes is killed at a random moment, again and again, on one store |
| failing calls | of every operation, every call fails (five errors, short writes) or is the last one of its process |
| power cut | every state that a disk may be in, at every moment of a recording; also after a process has died |
| many files | the processes again among 5,000 memories with one that cannot be read, then with an index of 9 MB |
| format | a store of the first format is migrated and brought back, with every call failing or the last one |
| swapped links | a folder that turns into a link and back while files are written in it |

*wrong* counts whatever does not fit together: index, history, files, leftovers, words of an error. *displaced* are
lines of the other program that are in the history and no longer in the index: it had read the index while ours was in
its place, for the moment that it takes to see that somebody was faster.

The long form of tests/memory/test_durability.py, with the same machines. Nothing of it is part of `make test`.
"""

from __future__ import annotations

import argparse
import errno
import itertools
import os
import random
import select
import shutil
import sys
import tempfile
import time
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from foretold.memory.store import migration
from memory import machines, powercut

FAULTS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES, "short", "die", "kill", "torn")
SHARES = {"processes": 0.15, "kill -9": 0.15, "failing calls": 0.25, "power cut": 0.2, "swapped links": 0.05}
SHARES |= {"many files": 0.1, "format": 0.1}


class Account:
    """What was counted of one part, and the sentences that say what is wrong."""

    def __init__(self, name):
        self.name = name
        self.counts = Counter()
        self.said = Counter()

    def add(self, said, **counts):
        self.counts.update(counts)
        self.counts["lost"] += sum("LOST" in each for each in said)
        self.counts["torn"] += sum("TORN" in each for each in said)
        self.said.update(said)


def processes(root, account, over):
    """Many processes at once, and an editor."""
    for turn in itertools.count():
        for count in (2, 8, 32):
            where = os.path.join(root, f"{turn}-{count}")
            machines.seeded(where)
            workers = [machines.Worker(where, f"p{turn}-{number}", 256 // count) for number in range(count)]
            editor = machines.Worker(where, "editor", 40, editor=True)
            said = [f"complaint: {each}" for worker in (*workers, editor) if (each := worker.end())]
            store = machines.store_in(where)
            store.put("user_last.md", machines.text_of("last", "Last."))
            acknowledged = {key: ack for worker in workers for key, ack in worker.acknowledged().items()}
            missing = machines.lost(store, acknowledged)
            own = ["# Mine", "Keep this line.", *(each["text"] for each in editor.said)]
            wrong = machines.problems(store, own, leftovers=True, displaced=True)
            account.counts["displaced"] += sum(line not in store.index() for line in own)
            account.add(said + missing + wrong, runs=1, acknowledged=len(acknowledged))
            account.counts["kept"] += len(acknowledged) - sum(each.startswith("LOST: {") for each in missing)
            shutil.rmtree(where)
            if over():
                return


def kills(root, account, over):
    """One process after the other, each killed while it writes."""
    dice, acknowledged, heard = random.Random(9), {}, 0
    where = os.path.join(root, "store")
    machines.seeded(where)
    for run in itertools.count():
        worker = machines.Worker(where, f"k{run}", 100_000, quick=bool(run % 4))
        for _ in range(dice.randrange(1, 40)):
            worker.line()
        select.select([], [], [], dice.random() / 100)
        said = [f"complaint: {each}" for each in [worker.kill()] if each]
        acknowledged |= worker.acknowledged()
        store = machines.store_in(where)
        try:
            store.put(f"user_after_{run}.md", f"Run {run}.")
            store.delete(f"user_after_{run}.md")
        except machines.ForetoldError as error:
            said.append(f"the next operation fails: {error}")
        missing = machines.lost(store, acknowledged, killed=True)
        account.add(said + missing + machines.problems(store, ["# Mine", "Keep this line."]), runs=1)
        account.counts["acknowledged"] += len(acknowledged) - heard
        heard = len(acknowledged)
        if run % 50 == 49:  # a fresh store: histories grow
            account.counts["kept"] += heard - sum(each.startswith("LOST: {") for each in missing)
            shutil.rmtree(where)
            machines.seeded(where)
            acknowledged, heard, missing = {}, 0, []
        if over():
            account.counts["kept"] += heard - sum(each.startswith("LOST: {") for each in missing)
            return


def faults(root, account, over):
    """Every call of every operation, failing in every way."""
    template, where = os.path.join(root, "template"), os.path.join(root, "run")
    store = machines.seeded(template)
    before = machines.files_of(store), machines.waiting(store)
    plan = []
    for operation in machines.OPERATIONS:
        count, after = machines.calls_of(operation, template, where)
        plan += [(operation, at, fault, after) for fault in FAULTS for at in range(1, count + 1)]
    random.Random(3).shuffle(plan)  # so that little time is spread over everything
    for operation, at, fault, after in plan:
        answer = machines.faulted(operation, at, fault, template, where)
        try:
            said = machines.judged(answer, where, before, after, fault=fault)
        except machines.ForetoldError as error:
            said = [f"the next operation fails: {error}"]
        acknowledged = answer == ["ack", ""]
        account.add([f"{operation}, call {at}, {fault}: {each}" for each in said], runs=1)
        account.counts["acknowledged"] += acknowledged
        account.counts["kept"] += acknowledged and not any("LOST" in each for each in said)
        shutil.rmtree(where)
        if over():
            break
    account.counts["planned"] = len(plan)


def power(root, account, over):
    """Every state a power cut may leave, of every recording."""
    steps = list(powercut.STEPS)
    for recorder in recordings(root, steps):
        account.counts["runs"] += 1
        for marks, tree in powercut.states(recorder, each=48, seed=account.counts["runs"]):
            where = os.path.join(root, "state")
            try:
                said = powercut.judged(marks, tree, where)
            except machines.ForetoldError as error:
                said = [f"the next operation fails: {error}"]
            acknowledged = sum(getattr(mark, "kind", "") == "ack" for mark in marks)
            gone = sum("LOST" in each for each in said)
            account.add(said, states=1, acknowledged=acknowledged, kept=max(0, acknowledged - gone))
            shutil.rmtree(where)
            if over():
                return


def recordings(root, steps):
    """All steps; then a process that dies at each call of each step, with the next step after it."""
    where = os.path.join(root, "work")

    def recorded(chosen, **options):
        recorder = powercut.recorded(where, chosen, **options)
        shutil.rmtree(where)
        return recorder

    yield recorded(steps)
    deaths = []
    for number, step in enumerate(steps):
        before = recorded(steps[:number]).count
        calls = recorded(steps[: number + 1]).count - before
        deaths += [(number, step, at) for at in range(1, calls + 1)]
    random.Random(4).shuffle(deaths)
    for number, step, at in deaths:
        yield recorded(steps[: number + 2], dying=step, die_at=at)


def links(root, account, over):
    """A folder and a link that change places."""
    for turn in itertools.count():
        done = machines.swap_race(os.path.join(root, str(turn)), 2_500)
        account.add([f"LOST: escaped: {each}" for each in done["escaped"]], runs=1)
        account.counts["operations"] += done["made"] + done["refused"]
        account.counts["acknowledged"] += done["made"]
        account.counts["kept"] += done["made"] - len(done["escaped"])
        if over():
            return


def many(root, account, over):
    """Many processes among many files; an index that is too large to be read; and what restores it."""
    for turn in itertools.count():
        where = os.path.join(root, str(turn))
        store = machines.seeded(where)
        for number in range(5_000):
            with open(os.path.join(store.path, f"{machines.MANY}{number}.md"), "w", encoding="utf-8") as file:
                file.write(machines.text_of(f"many-{number}", f"Body of {number}."))
        os.mkdir(os.path.join(store.path, "user_unreadable.md"))
        said, acknowledged = run_workers(where, f"m{turn}", 8, 64)
        store.put("user_last.md", machines.text_of("last", "Last."))
        said += machines.lost(store, acknowledged) + machines.problems(store, ["# Mine", "Keep this line."])
        path = os.path.join(store.path, "MEMORY.md")
        with open(path, "ab") as file:
            file.write(b"A line of another program.\n" * 350_000)
        with open(path, "rb") as file:
            large = file.read()
        more, heard = run_workers(where, f"l{turn}", 8, 32)
        said += more + machines.lost(store, heard)
        with open(path, "rb") as file:
            said += ["LOST: lines of a large index"] * (file.read() != large)
        short = machines.store_in(where).shorten_index()
        said += machines.problems(store, ["# Mine", "Keep this line."]) + ["it is not short"] * (short is None)
        store.restore("MEMORY.md")
        with open(path, "rb") as file:
            said += ["LOST: the large index"] * (file.read() != large)
        acknowledged |= heard
        account.add(said, runs=1, acknowledged=len(acknowledged))
        account.counts["kept"] += len(acknowledged) - sum(each.startswith("LOST: {") for each in said)
        shutil.rmtree(where)
        if over():
            return


def run_workers(where, name, count, changes):
    """What processes say that write at once, and what was acknowledged to them."""
    workers = [machines.Worker(where, f"{name}-{number}", changes // count) for number in range(count)]
    said = [f"complaint: {each}" for worker in workers if (each := worker.end())]
    return said, {key: ack for worker in workers for key, ack in worker.acknowledged().items()}


def formats(root, account, over):
    """A store of the first format, migrated by a change and brought back: every call fails, or is the last one."""
    where = os.path.join(root, "run")
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "memory/store/format1")
    plan = []
    for back in (False, True):
        kernel = machines.Faulty(0, 0)
        shutil.copytree(source, where)
        change_format(where, kernel, back=back)
        shutil.rmtree(where)
        plan += [(back, at, fault) for fault in FAULTS for at in range(1, kernel.count + 1)]
    random.Random(5).shuffle(plan)
    account.counts["planned"] = len(plan)
    for back, at, fault in plan:
        shutil.copytree(source, where)
        known = {each.number: each.data for each in machines.store_in(where).journal.changes()}
        machines.in_child(lambda: change_format(where, machines.Faulty(at, fault), back=back))  # noqa: B023
        store = machines.store_in(where)
        store.put("user_next.md", machines.text_of("next", "Next."))
        log = {each.number: each.data for each in store.journal.changes()}
        said = [f"LOST: change {number}" for number, data in known.items() if log.get(number) != data]
        said += [each for each in machines.problems(store, leftovers=True) if not each.startswith("damage")]
        account.add([f"{back}, call {at}, {fault}: {each}" for each in said], runs=1, acknowledged=len(known))
        account.counts["kept"] += len(known) - sum("LOST" in each for each in said)
        shutil.rmtree(where)
        if over():
            return


def change_format(where, kernel, *, back):
    """Bring a store into this program's format, or, after that, into the first one."""
    versioned = machines.store_in(where, machines.Quick() if back else kernel).versioned
    with versioned.locked():
        pass
    if back:
        migration.go_back(machines.store_in(where, kernel).versioned, 1)


PARTS = {"processes": processes, "kill -9": kills, "failing calls": faults, "power cut": power, "swapped links": links}
PARTS |= {"many files": many, "format": formats}
COLUMNS = ("runs", "states", "operations", "acknowledged", "kept", "lost", "torn", "wrong", "displaced")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=10.0)
    words.add_argument("parts", nargs="*", help=f"only these: {', '.join(PARTS)}")
    given = words.parse_args()
    chosen = {name: PARTS[name] for name in given.parts or PARTS}
    whole = sum(SHARES[name] for name in chosen)
    print(f"| {'part':<13} | {' | '.join(f'{name:>12}' for name in COLUMNS)} | seconds |")
    print(f"|{'-' * 15}|{'|'.join(['-' * 13 + ':'] * len(COLUMNS))}|--------:|", flush=True)
    said = Counter()
    for name, part in chosen.items():
        account, began = Account(name), time.monotonic()
        until = began + given.minutes * 60 * SHARES[name] / whole
        with tempfile.TemporaryDirectory() as root:
            part(root, account, lambda until=until: time.monotonic() > until)
        account.counts["wrong"] = sum(account.said.values())
        numbers = " | ".join(f"{account.counts[column]:>12,}" for column in COLUMNS)
        note = ""
        if account.counts["runs"] < account.counts["planned"]:
            note = f" {account.counts['runs']:,} of {account.counts['planned']:,} planned"
        print(f"| {name:<13} | {numbers} | {time.monotonic() - began:>7.0f} |{note}", flush=True)
        said.update({f"{name}: {each}": count for each, count in account.said.items()})
    for sentence, count in said.most_common(40):
        print(f"{count:>6} x {sentence[:400]}")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
