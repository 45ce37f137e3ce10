"""The index on disk may vanish, break or be wrong at any moment: the answer is the same."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import foretold
from foretold.memory.note import MAX_FILE
from foretold.memory.recall import cache as caching
from foretold.memory.recall.cache import SEALED, RecallCache
from foretold.memory.recall.file_stamps import has_many_files, is_unchanged, scan_folder
from foretold.memory.recall.recall import recall

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))
WORDS = "tabs deploy staging router token budget cache index memory folder branch review release cluster parser".split()
NOW = 1_800_000_000.0


class Store:
    """A folder of memories and a folder for indexes."""

    def __init__(self, root):
        self.folder, self.cache = f"{root}/memory", f"{root}/cache"
        os.makedirs(self.folder)

    def write(self, file, text, *, old=True):
        """A file; an old one was changed long enough ago for its stamp to be believed."""
        path = f"{self.folder}/{file}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        if old:
            os.utime(path, (NOW - 86400, NOW - 86400))
        return path

    def fill(self, count):
        for n in range(count):
            words = [WORDS[(n * step + step) % len(WORDS)] for step in (1, 3, 7)]
            self.write(
                f"d{n % 3}/note_{n}.md", f"---\nname: {words[0]} {n}\n---\nAbout {' '.join(words)}, number {n}.\n"
            )
        time.sleep(0.15)  # so that the stamps are old enough to be believed

    def ask(self, query="deploy the parser", cache=True, **options):
        found = recall(self.folder, query, cache=self.cache if cache else None, now=NOW, **options)
        return [(hit.memory, hit.score, hit.why, hit.excerpt) for hit in found.hits], found.left_out

    def files(self, query, **options):
        return [memory.file for memory, *_ in self.ask(query, **options)[0]]

    @property
    def base(self):
        (name,) = [name for name in os.listdir(self.cache) if name.endswith(".db")]
        return f"{self.cache}/{name}"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def filled(store):
    store.fill(60)
    return store


def no_rebuild(monkeypatch):
    def refuse(*_):
        raise AssertionError("built anew")

    monkeypatch.setattr(caching, "_rebuild", refuse)


def test_an_index_is_made_and_kept(filled, monkeypatch):
    first = filled.ask()
    assert first[0]
    no_rebuild(monkeypatch)
    assert filled.ask() == first == filled.ask(cache=False)


def test_an_index_that_is_up_to_date_reads_no_file(filled, monkeypatch):
    filled.ask()
    filled.ask()
    monkeypatch.setattr(caching, "read_memory", None)
    assert filled.ask()[0]


def test_an_edited_file_is_found_by_its_new_text_only(filled):
    filled.write("a.md", "Use zebra stripes.")
    assert filled.files("zebra") == ["a.md"]
    filled.write("a.md", "Use giraffe spots.", old=False)
    assert filled.files("zebra") == []
    assert filled.files("giraffe") == ["a.md"]
    os.unlink(f"{filled.folder}/a.md")
    assert filled.files("giraffe") == []


def test_a_file_that_changes_at_once_again_is_read_again(store):
    """The stamp may be the same: the clock of files ticks every few milliseconds."""
    path = store.write("a.md", "zebra!", old=False)
    for n in range(30):
        word = f"word{n:02}"
        with open(path, "r+", encoding="utf-8") as file:
            file.write(word)
        assert store.files(word) == ["a.md"]


def test_same_size_and_mtime_but_another_file(store):
    store.fill(3)
    path = store.write("a.md", "zebra")
    time.sleep(0.15)
    assert store.files("zebra") == ["a.md"]
    beside = store.write("b.md", "gnus!")
    os.replace(beside, path)
    assert store.files("gnus") == ["a.md"]
    assert store.files("zebra") == []


def test_same_inode_size_and_mtime_but_changed_since(store):
    path = store.write("a.md", "zebra")
    time.sleep(0.15)
    assert store.files("zebra") == ["a.md"]
    before = os.stat(path)
    with open(path, "r+", encoding="utf-8") as file:
        file.write("gnus!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.files("gnus") == ["a.md"]
    assert store.files("zebra") == []


def test_deleted(filled):
    right = filled.ask()
    shutil.rmtree(filled.cache)
    assert filled.ask() == right


def test_truncated_at_any_length(filled):
    right = filled.ask()
    size = os.path.getsize(filled.base)
    with open(filled.base, "rb") as file:
        whole = file.read()
    lengths = {0, 1, 15, 16, 99, 100, 101, 511, 4095, 4096, 4097, size - 4097, size - 4096, size - 1}
    for length in sorted(lengths | {*range(0, size, size // 40)}):
        with open(filled.base, "wb") as file:
            file.write(whole[:length])
        os.utime(filled.base, ns=(SEALED, SEALED))  # the worst case: nothing shows from outside
        assert filled.ask() == right, length
        assert os.listdir(filled.cache) == [os.path.basename(filled.base)]


@pytest.mark.parametrize("garbage", [b"", b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 9000, b"no database at all"])
def test_garbage(filled, garbage):
    right = filled.ask()
    with open(filled.base, "wb") as file:
        file.write(garbage)
    os.utime(filled.base, ns=(SEALED, SEALED))
    assert filled.ask() == right
    assert os.listdir(filled.cache) == [os.path.basename(filled.base)]


def test_a_byte_changed_anywhere(filled):
    right = filled.ask()
    size = os.path.getsize(filled.base)
    for at in range(0, size, max(1, size // 50)):
        with open(filled.base, "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 0x5A]))
        os.utime(filled.base, (NOW, NOW))  # any time but ours; a fresh one would be given a moment
        assert filled.ask() == right, at


def test_another_schema(filled):
    right = filled.ask()
    base = sqlite3.connect(filled.base)
    base.execute("UPDATE about SET value = 'foretold recall 0' WHERE key = 'schema'")
    base.commit()
    base.close()
    os.utime(filled.base, ns=(SEALED, SEALED))
    assert filled.ask() == right
    base = sqlite3.connect(filled.base)
    assert base.execute("SELECT value FROM about WHERE key = 'schema'").fetchone() != ("foretold recall 0",)
    base.close()


def test_a_database_of_somebody_else(filled):
    right = filled.ask()
    name = filled.base
    os.unlink(name)
    base = sqlite3.connect(name)
    base.execute("CREATE TABLE about(x)")
    base.commit()
    base.close()
    os.utime(name, ns=(SEALED, SEALED))
    assert filled.ask() == right


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_files_beside_it(filled, suffix):
    right = filled.ask()
    with open(filled.base + suffix, "wb") as file:
        file.write(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\x01" * 2000)
    assert filled.ask() == right
    filled.write("a.md", "zebra")
    assert filled.files("zebra") == ["a.md"]


def test_a_folder_in_its_place(filled):
    right = filled.ask()
    name = filled.base
    os.unlink(name)
    os.mkdir(name)
    assert filled.ask() == right


@pytest.mark.parametrize("home", ["/dev/null/cache", "/proc/nothing"])
def test_no_place_for_an_index(filled, home):
    right = filled.ask(cache=False)
    filled.cache = home
    assert filled.ask() == right


def test_a_cache_that_may_not_be_written(filled):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    right = filled.ask(cache=False)
    os.mkdir(filled.cache, 0o500)
    assert filled.ask() == right


def test_another_process_that_holds_the_lock(filled, monkeypatch):
    filled.ask()
    monkeypatch.setattr(caching, "PATIENCE", 0.05)
    filled.write("a.md", "zebra")
    holder = sqlite3.connect(filled.base, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert filled.files("zebra") == ["a.md"]
    holder.close()
    assert filled.files("zebra") == ["a.md"]


def test_left_over_temporary_files_are_removed(filled):
    right = filled.ask()
    left = f"{filled.base}.0123456789ab.tmp"
    with open(left, "wb") as file:
        file.write(b"half")
    other = f"{filled.cache}/other.tmp"
    with open(other, "wb"):
        pass
    assert filled.ask() == right
    assert not os.path.exists(left)
    assert os.path.exists(other)


ASK = """
import sys
from foretold.memory.recall.recall import recall
found = recall(sys.argv[1], "deploy the parser", cache=sys.argv[2], now=1.8e9)
print([(hit.memory.file, hit.score) for hit in found.hits])
"""


def start(store):
    words = [sys.executable, "-c", ASK, store.folder, store.cache]
    return subprocess.Popen(words, env={"PYTHONPATH": SOURCES}, stdout=subprocess.PIPE, text=True)


def test_processes_that_build_at_once(filled):
    right = str([(memory.file, score) for memory, score, *_ in filled.ask(cache=False)[0]])
    for _ in range(3):
        shutil.rmtree(filled.cache, ignore_errors=True)
        answers = [child.communicate(timeout=60)[0].strip() for child in [start(filled) for _ in range(4)]]
        assert answers == [right] * 4
        assert len(os.listdir(filled.cache)) == 1


def test_killed_while_building(store):
    store.fill(400)
    right = store.ask(cache=False)
    for pause in (0.03, 0.06, 0.09, 0.12, 0.15, 0.2):
        shutil.rmtree(store.cache, ignore_errors=True)
        child = start(store)
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert store.ask() == right
        assert len(os.listdir(store.cache)) == 1


def test_killed_while_updating(store):
    store.fill(300)
    store.ask()
    for n, pause in enumerate((0.05, 0.08, 0.1, 0.12, 0.15)):
        for at in range(100):
            store.write(f"more/m{at}.md", f"About deploy {n} and {at}.")
        child = start(store)
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert store.ask() == store.ask(cache=False)
        assert len(os.listdir(store.cache)) == 1


def test_two_thousand_memories_through_many_changes(store):
    """An index that was changed step by step answers as one that is built anew."""
    store.fill(2000)
    queries = ["tabs in the parser", "number 77", "about"]
    for step in range(3):
        for n in range(step, 2000, 97):
            path = f"{store.folder}/d{n % 3}/note_{n}.md"
            if n % 2 and os.path.exists(path):
                os.unlink(path)
            else:
                store.write(f"d{n % 3}/note_{n}.md", f"Changed in step {step}: deploy tabs {n}.", old=False)
        for query in queries:
            assert store.ask(query) == store.ask(query, cache=False)


def test_what_is_no_memory_is_named(store):
    store.write("a.md", "zebra")
    store.write("MEMORY.md", "zebra")
    store.write("sub/MEMORY.md", "zebra")
    store.write(".hidden.md", "zebra")
    store.write(".git/x.md", "zebra")
    store.write("notes.txt", "zebra")
    store.write("large.md", "zebra" * (MAX_FILE // 5 + 1))
    os.symlink(f"{store.folder}/a.md", f"{store.folder}/link.md")
    os.symlink(store.folder, f"{store.folder}/loop")
    os.mkfifo(f"{store.folder}/fifo.md")
    os.mkdir(f"{store.folder}/folder.md")
    store.write("folder.md/inside.md", "zebra")
    found = recall(store.folder, "zebra", cache=store.cache)
    assert sorted(hit.memory.file for hit in found.hits) == ["a.md", "folder.md/inside.md"]
    assert sorted((os.path.basename(skip.path), skip.reason) for skip in found.skips) == [
        ("fifo.md", "not-a-file"),
        ("large.md", "too-large"),
        ("link.md", "not-a-file"),
    ]


def test_a_file_that_cannot_be_read_is_named(store, monkeypatch):
    store.write("a.md", "zebra")
    store.write("b.md", "zebra")
    read = caching.read_memory
    monkeypatch.setattr(
        caching, "read_memory", lambda folder, file, *rest: None if file == "b.md" else read(folder, file, *rest)
    )
    for _ in range(2):
        found = recall(store.folder, "zebra", cache=store.cache)
        assert [hit.memory.file for hit in found.hits] == ["a.md"]
        assert [(os.path.basename(skip.path), skip.reason) for skip in found.skips] == [("b.md", "unreadable")]


def test_names_that_are_no_text(store):
    with open(os.fsencode(store.folder) + b"/\xff\xfe.md", "wb") as file:
        file.write(b"zebra")
    assert store.files("zebra") == ["\udcff\udcfe.md"]
    assert store.files("zebra") == ["\udcff\udcfe.md"]


def test_a_folder_that_is_not_there(store):
    shutil.rmtree(store.folder)
    assert store.ask() == ([], ())
    assert not os.path.exists(store.cache)


def test_folders_may_be_deep(store):
    below = "/".join(["d"] * 300)
    store.write(f"{below}/a.md", "zebra")
    assert store.files("zebra") == [f"{below}/a.md"]


def test_nothing_is_written_beside_the_memories(filled):
    before = scan_folder(filled.folder).digest, sorted(os.listdir(filled.folder))
    filled.ask()
    assert (scan_folder(filled.folder).digest, sorted(os.listdir(filled.folder))) == before


def test_an_index_is_private(filled):
    old = os.umask(0)
    try:
        filled.ask()
    finally:
        os.umask(old)
    assert os.stat(filled.cache).st_mode & 0o777 == 0o700
    assert os.stat(filled.base).st_mode & 0o777 == 0o600


def test_no_descriptor_stays_open(filled):
    filled.ask()
    before = sorted(os.listdir("/proc/self/fd"))
    filled.ask()
    filled.write("a.md", "zebra")
    filled.ask()
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_errors_of_a_question_are_not_hidden(filled):
    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        RecallCache(filled.cache).ask(filled.folder, broken)


def test_scan_folder():
    assert scan_folder("/nowhere").stamps == []


def test_is_unchanged():
    assert not is_unchanged("/nowhere", b"")


def test_has_many_files():
    assert not has_many_files("/nowhere", 10)
