"""A folder that nothing leads out of, and whose files are whole or absent."""

import errno
import os
import random
import stat
import subprocess
import threading

import pytest

from foretold.errors import BadName, ForetoldError, MemoryChanged, MemoryExists, NoSuchMemory, StoreFailed
from foretold.memory.note import MAX_FILE
from foretold.memory.store.transaction import MemoryFolder as Folder
from foretold.storage.digest import digest_of
from foretold.storage.folder import Modes

from ..memory.machines import Quick, in_child, swap_race, tree


@pytest.fixture
def folder(tmp_path):
    made = Folder(str(tmp_path / "memory"), kernel=Quick())
    with made.locked():
        yield made


class Between(Quick):
    """A kernel that lets somebody else act right before a call of some name, once for each of the actions."""

    def __init__(self, name, *actions):
        super().__init__()
        self.name, self.actions = name, list(actions)

    def call(self, name, *args, **options):
        if name == self.name and self.actions:
            self.actions.pop(0)()
        return super().call(name, *args, **options)


def saved(path, text):
    """What an editor does: write beside, rename."""
    with open(f"{path}~", "wb") as file:
        file.write(text)
    os.replace(f"{path}~", path)


# Whole or absent


def test_files_are_created_read_replaced_and_removed(folder):
    folder.create("user_a.md", b"one")
    folder.create("deep/er/b.md", b"two")
    folder.replace("user_a.md", b"three", digest_of(b"one"))
    assert tree(folder.path) == {"user_a.md": b"three", "deep": None, "deep/er": None, "deep/er/b.md": b"two"}
    assert folder.read("user_a.md").data == b"three"
    assert list(folder.files()) == ["deep/er/b.md", "user_a.md"]
    folder.remove("deep/er/b.md", digest_of(b"two"))
    assert list(folder.files()) == ["user_a.md"]
    with pytest.raises(NoSuchMemory, match=r"there is no deep/er/b\.md in "):
        folder.read("deep/er/b.md")
    with pytest.raises(NoSuchMemory):
        folder.read("never/was.md")


def test_a_file_that_is_there_is_not_created_again(folder):
    folder.create("user_a.md", b"one")
    with pytest.raises(MemoryExists, match=r"user_a\.md is there already$"):
        folder.create("user_a.md", b"two")
    assert tree(folder.path) == {"user_a.md": b"one"}


@pytest.mark.parametrize(
    ("there", "new"),
    [("A.md", "a.md"), ("é.md", "e\u0301.md"), ("e\u0301.md", "É.md"), ("straße.md", "STRASSE.md"), ("ﬁ.md", "fi.md")],
)
def test_names_that_some_file_systems_cannot_tell_apart_are_one_name(folder, there, new):
    folder.create(there, b"one")
    with pytest.raises(MemoryExists, match=f"is there already, as {there}"):
        folder.create(new, b"two")
    assert tree(folder.path) == {there: b"one"}


def test_a_file_that_somebody_made_in_the_last_moment_is_kept(tmp_path):
    path = str(tmp_path / "memory")
    folder = Folder(path, kernel=Between("link", lambda: saved(f"{path}/a.md", b"theirs")))
    with folder.locked(), pytest.raises(MemoryExists):
        folder.create("a.md", b"ours")
    assert tree(path) == {"a.md": b"theirs"}


def test_an_edit_of_what_is_no_longer_expected_fails(folder):
    folder.create("a.md", b"one")
    with pytest.raises(MemoryChanged, match=r"a\.md was changed by another program meanwhile; read it again"):
        folder.replace("a.md", b"ours", digest_of(b"other"))
    with pytest.raises(MemoryChanged):
        folder.remove("a.md", digest_of(b"other"))
    assert tree(folder.path) == {"a.md": b"one"}


@pytest.mark.parametrize("act", ["replace", "remove"])
def test_what_an_editor_saved_between_read_and_write_is_kept(tmp_path, act):
    path = str(tmp_path / "memory")
    folder = Folder(path, kernel=Between("exchange" if act == "replace" else "rename"))
    with folder.locked():
        folder.create("a.md", b"one")
        folder.kernel.actions.append(lambda: saved(f"{path}/a.md", b"theirs"))
        with pytest.raises(MemoryChanged):
            folder.replace("a.md", b"ours", digest_of(b"one")) if act == "replace" else folder.remove(
                "a.md", digest_of(b"one")
            )
    assert tree(path) == {"a.md": b"theirs"}


def test_what_an_editor_saved_twice_in_between_is_kept_too(tmp_path):
    path = str(tmp_path / "memory")
    folder = Folder(path, kernel=Between("exchange"))
    with folder.locked():
        folder.create("a.md", b"one")
        folder.kernel.actions += [
            lambda: saved(f"{path}/a.md", b"theirs"),
            lambda: saved(f"{path}/a.md", b"theirs again"),
        ]
        with pytest.raises(MemoryChanged):
            folder.replace("a.md", b"ours", digest_of(b"one"))
    assert sorted(tree(path).values()) == [b"theirs", b"theirs again"]
    rescued = []
    with folder.locked(rescued.append):
        assert (tree(path), rescued) == ({"a.md": b"theirs"}, [b"theirs again"])


def test_what_cannot_be_put_back_is_kept_for_the_history(tmp_path):
    path = str(tmp_path / "memory")

    def fail():
        raise OSError(errno.EIO, "Input/output error")

    folder = Folder(path, kernel=Between("exchange"))
    with folder.locked():
        folder.create("a.md", b"one")
        folder.kernel.actions += [lambda: saved(f"{path}/a.md", b"theirs"), fail]
        with pytest.raises(StoreFailed, match="the next change adds what it wrote to the history"):
            folder.replace("a.md", b"ours", digest_of(b"one"))
    rescued = []
    with folder.locked(rescued.append):
        assert (tree(path), rescued) == ({"a.md": b"ours"}, [b"theirs"])


@pytest.mark.parametrize("act", ["replace", "remove"])
def test_a_file_that_became_a_link_or_folder_in_between_is_put_back(tmp_path, act):
    path = str(tmp_path / "memory")

    def become_link():
        os.unlink(f"{path}/a.md")
        os.symlink("elsewhere", f"{path}/a.md")

    def become_folder():
        os.unlink(f"{path}/b.md")
        os.makedirs(f"{path}/b.md/inside")

    folder = Folder(path, kernel=Between("exchange" if act == "replace" else "rename"))
    with folder.locked():
        for name, become in (("a.md", become_link), ("b.md", become_folder)):
            folder.create(name, b"one")
            folder.kernel.actions.append(become)
            with pytest.raises(MemoryChanged):
                folder.replace(name, b"ours", digest_of(b"one")) if act == "replace" else folder.remove(
                    name, digest_of(b"one")
                )
    assert sorted(os.listdir(path)) == ["a.md", "b.md"]
    assert (os.readlink(f"{path}/a.md"), os.listdir(f"{path}/b.md")) == ("elsewhere", ["inside"])


def test_a_file_that_is_gone_in_between_is_not_made_anew(tmp_path):
    path = str(tmp_path / "memory")
    folder = Folder(path, kernel=Between("exchange"))
    with folder.locked():
        folder.create("a.md", b"one")
        folder.kernel.actions.append(lambda: os.unlink(f"{path}/a.md"))
        with pytest.raises(MemoryChanged):
            folder.replace("a.md", b"ours", digest_of(b"one"))
    assert tree(path) == {}


def test_without_an_exchange_of_files_a_rename_does(tmp_path):
    class Plain(Quick):
        def call(self, name, *args, **options):
            if name == "link":
                raise OSError(errno.EPERM, "no links here")
            return False if name == "exchange" else super().call(name, *args, **options)

    folder = Folder(str(tmp_path / "memory"), kernel=Plain())
    with folder.locked():
        folder.create("a.md", b"one")
        folder.replace("a.md", b"two", digest_of(b"one"))
        with pytest.raises(MemoryExists):
            folder.create("a.md", b"three")
        assert tree(folder.path) == {"a.md": b"two"}
        folder.remove("a.md", digest_of(b"two"))
    assert tree(folder.path) == {}


def test_a_folder_that_was_replaced_meanwhile_is_named(tmp_path):
    path = str(tmp_path / "memory")

    def replace():
        os.rename(path, f"{path}.old")
        os.mkdir(path)

    folder = Folder(path, kernel=Between("link", replace))
    with folder.locked(), pytest.raises(MemoryChanged, match="was replaced by another folder meanwhile"):
        folder.create("a.md", b"one")
    assert (tree(path), tree(f"{path}.old")) == ({}, {"a.md": b"one"})
    with folder.locked():
        folder.create("a.md", b"two")
    assert tree(path) == {"a.md": b"two"}


def test_the_lock_lets_one_in_at_a_time(tmp_path):
    folders = [Folder(str(tmp_path / "memory"), kernel=Quick()) for _ in range(4)]
    inside, most = [], []

    def work(folder):
        for _ in range(25):
            with folder.locked():
                inside.append(1)
                most.append(len(inside))
                folder.files()
                inside.pop()

    threads = [threading.Thread(target=work, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (100, 1)


# Who may read, and what a disk refuses


def test_nobody_else_may_read_what_is_made_under_any_mask(tmp_path):
    def make():
        os.umask(0)
        folder = Folder(str(tmp_path / "above" / "memory"), kernel=Quick())
        with folder.locked():
            folder.create("deep/a.md", b"one")
            folder.create("b.md", b"one")
            folder.replace("b.md", b"two", digest_of(b"one"))
        team = Folder(str(tmp_path / "team"), Modes(0o644, 0o755), Quick())
        with team.locked():
            team.create("deep/a.md", b"one")
        return "made"

    assert in_child(make) == "made"
    paths = ("above", "above/memory", "above/memory/deep", "above/memory/deep/a.md", "above/memory/b.md")
    modes = [oct(stat.S_IMODE(os.stat(tmp_path / path).st_mode)) for path in (*paths, "team", "team/deep/a.md")]
    assert modes == ["0o700", "0o700", "0o700", "0o600", "0o600", "0o755", "0o644"]


def test_a_replaced_file_keeps_its_mode(folder):
    folder.create("a.md", b"one")
    os.chmod(f"{folder.path}/a.md", 0o640)
    folder.replace("a.md", b"two", digest_of(b"one"))
    assert oct(stat.S_IMODE(os.stat(f"{folder.path}/a.md").st_mode)) == "0o640"


def test_a_real_disk_that_is_full(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small tmpfs; the sweep of failing calls does this with a kernel of its own")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        folder = Folder(str(small / "memory"))
        with folder.locked():
            folder.create("a.md", b"one")
            for act in (
                lambda: folder.create("big.md", b"x" * 100_000),
                lambda: folder.replace("a.md", b"x" * 100_000, digest_of(b"one")),
            ):
                with pytest.raises(StoreFailed, match="the disk is full; free some space and try again"):
                    act()
            assert tree(folder.path) == {"a.md": b"one"}
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_limit_on_the_size_of_files(tmp_path):
    def write():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        folder = Folder(str(tmp_path / "memory"), kernel=Quick())
        with folder.locked():
            try:
                folder.create("a.md", b"x" * 5000)
            except StoreFailed as error:
                return str(error)

    assert in_child(write) == "cannot write a.md: File too large. Nothing was changed"
    assert tree(tmp_path / "memory") == {}


def test_a_folder_that_may_only_be_read(tmp_path):
    class ReadOnly(Quick):  # root may write anywhere, so the kernel says no
        def call(self, name, *args, **options):
            if name == "open":
                raise OSError(errno.EROFS, "Read-only file system")
            return super().call(name, *args, **options)

    folder = Folder(str(tmp_path / "memory"), kernel=Quick())
    with folder.locked():
        folder.create("a.md", b"one")
    folder.kernel = ReadOnly()
    with folder.locked(), pytest.raises(StoreFailed) as raised:
        folder.replace("a.md", b"two", digest_of(b"one"))
    assert str(raised.value) == "cannot write a.md: the file system is read-only. Nothing was changed"
    assert folder.read("a.md").data == b"one"


def test_a_file_stands_where_the_folder_should(tmp_path):
    (tmp_path / "memory").write_text("a file")
    with pytest.raises(StoreFailed, match="there is a file where a folder should be"):
        Folder(str(tmp_path / "memory")).locked().__enter__()
    assert Folder(str(tmp_path / "memory")).files() == {}


def test_a_relative_path_of_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Folder("new/memory", kernel=Quick()).locked():
        pass
    assert tree(tmp_path) == {"new": None, "new/memory": None}


# Looking


def test_what_is_no_memory_is_named(folder):
    folder.create("a.md", b"one")
    outside = os.path.join(os.path.dirname(folder.path), "outside")
    os.mkdir(outside)
    saved(f"{outside}/secret.md", b"secret")
    os.symlink(outside, f"{folder.path}/linked")
    os.symlink(f"{outside}/secret.md", f"{folder.path}/link.md")
    os.mkfifo(f"{folder.path}/pipe.md")
    os.makedirs(f"{folder.path}/1/2/3/4/5/6/7/8")
    saved(f"{folder.path}/1/2/3/4/5/6/7/8/deep.md", b"deep")
    saved(f"{folder.path}/100%.md", b"percent")
    with open(os.fsencode(folder.path) + b"/\xff.md", "wb") as file:
        file.write(b"bytes")
    with open(f"{folder.path}/large.md", "wb") as file:
        file.truncate(MAX_FILE + 1)
    findings = []
    assert list(folder.files(findings)) == ["a.md"]
    assert sorted((finding.path, finding.code) for finding in findings) == [
        ("1/2/3/4/5/6/7/8", "memory-too-deep"),
        ("100%.md", "memory-name"),
        ("large.md", "memory-too-large"),
        ("link.md", "memory-link"),
        ("linked", "memory-link"),
        ("pipe.md", "unreadable"),
        ("\ufffd.md", "memory-name"),
    ]
    for file, said in (("link.md", "a symbolic link"), ("pipe.md", "not a regular file"), ("large.md", "more than")):
        with pytest.raises(StoreFailed, match=said):
            folder.read(file)
    with pytest.raises(ForetoldError):
        folder.read("linked/secret.md")
    with pytest.raises(ForetoldError):
        folder.create("linked/new.md", b"new")
    assert tree(outside) == {"secret.md": b"secret"}


# Nothing leads out


def test_no_spelling_of_a_path_leads_out(tmp_path):
    dice = random.Random(6)
    pieces = ["..", ".", "", "~", "%2e%2e", "%2f", "\\", "\0", "a", "b.md", "..\\", "C:", "\u2024\u2024", "\uff0e", " "]
    pieces += ["\u2215", "\uff0f", "memory-evil", "\udcc0\udcaf", "\udc2e", "a.md", ".md", "... ", "a.", "\u202e", "é"]
    pieces += ["..;", "....", "a" * 256, "/etc", "~root", "\n", "\r", "-rf", "\u3002", "\ufe52", "\ue000", "\ufeff"]
    folder = Folder(str(tmp_path / "memory"), kernel=Quick())
    for name in ("memory-evil", "secret"):
        os.makedirs(tmp_path / name)
        (tmp_path / name / "a.md").write_text(name)
    counts = {"bad": 0, "good": 0}
    with folder.locked():
        folder.create("a/a.md", b"one")
        for number in range(10_000):
            path = "/" * (dice.random() < 0.1) + dice.choice(("/", "", "/")).join(
                dice.choices(pieces, k=dice.randrange(1, 6))
            )
            path += dice.choice(("", ".md", "/a.md"))
            try:
                data = folder.read(path).data
                assert data == b"one"
            except BadName:
                counts["bad"] += 1
                with pytest.raises(BadName):
                    folder.create(path, b"new")
            except (NoSuchMemory, StoreFailed):
                counts["good"] += 1
                if number % 10 == 0:
                    try:
                        folder.create(path, b"one")
                    except (MemoryExists, StoreFailed, NoSuchMemory):
                        continue
                    assert os.path.realpath(os.path.join(folder.path, path)).startswith(folder.path + os.sep)
    assert min(counts.values()) > 100
    found = tree(tmp_path)
    assert {path for path in found if not path.startswith("memory/")} == {
        *("memory", "memory-evil", "memory-evil/a.md", "secret", "secret/a.md")
    }
    assert (found["memory-evil/a.md"], found["secret/a.md"]) == (b"memory-evil", b"secret")


@pytest.mark.parametrize(
    "path",
    [
        *("../a.md", "/etc/a.md", "a/../../a.md", "%2e%2e/a.md", "..%2fa.md", "..\\a.md", "a\\b.md", "a\0.md"),
        *("~/a.md", "~root/a.md", "C:a.md", "c:/a.md", "\u2024\u2024/a.md", "\uff0e\uff0e/a.md", "..\uff0fa.md"),
        *("\udcc0\udcae/a.md", "a./a.md", "a /a.md", "../memory-evil/a.md", ".hidden/a.md", "a//a.md", "./a.md"),
        *("a.md/", "", ".", "..", "a.md ", "-rf.md", "a.txt", "a" * 256 + ".md", "a/b/c/d/e/f/g/h/i.md", "con\n.md"),
        *("a\u202egnp.md", "a\ufeff.md", "a?.md"),
    ],
)  # fmt: skip
def test_such_a_path_is_refused(folder, path):
    for act in (folder.read, folder.refuse_twin, lambda path: folder.create(path, b"x")):
        with pytest.raises(BadName, match="cannot be used as a file name"):
            act(path)
    assert tree(os.path.dirname(folder.path)) == {"memory": None}


def test_a_folder_that_turns_into_a_link_and_back_leads_nowhere(tmp_path):
    done = swap_race(str(tmp_path), 700)
    assert done["escaped"] == []
    assert done["made"] + done["refused"] == 2_800
    assert min(done["made"], done["refused"]) > 10
