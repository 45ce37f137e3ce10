"""The edge to the file system: everything it answers is a value."""

import errno
import os
import socket

import pytest

from foretold.storage.tree import Disk, Fault, Item, unchanged

LIMIT = 1000


def test_read_gives_the_bytes(place):
    path = place.write("proj/a.md", b"\xef\xbb\xbfa\r\n\x00\xff")
    assert Disk().read(path, LIMIT) == b"\xef\xbb\xbfa\r\n\x00\xff"


def test_read_follows_links(place):
    place.write("proj/a.md", "A")
    link = place.link("proj/links/b.md", "../a.md")
    linked_folder = place.link("proj/c", "links")
    assert Disk().read(link, LIMIT) == b"A"
    assert Disk().read(linked_folder + "/b.md", LIMIT) == b"A"


@pytest.mark.parametrize(("size", "answer"), [(LIMIT - 1, bytes), (LIMIT, bytes), (LIMIT + 1, Fault)])
def test_read_up_to_the_limit(place, size, answer):
    path = place.write("proj/a.md", "x" * size)
    assert type(Disk().read(path, LIMIT)) is answer


def test_a_longer_file_is_a_fault_with_its_size(place):
    path = place.write("proj/a.md", "x" * 1001)
    assert Disk().read(path, LIMIT) == Fault("too-large", "1001 bytes, the limit is 1000")


def test_what_cannot_be_read_is_a_fault(place, monkeypatch):
    os.mkdir(place.path("proj/folder"))
    place.write("proj/file")
    place.link("proj/dangling", "nothing")
    place.link("proj/loop", "loop")
    place.link("proj/loop1", "loop2")
    place.link("proj/loop2", "loop1")
    place.link("proj/zero", "/dev/zero")
    place.fifo("proj/fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(place.proj)  # a socket's name must be short
        listener.bind("socket")
    names = {
        "folder": Fault("folder"),
        "missing": Fault("missing"),
        "file/below": Fault("missing"),
        "dangling": Fault("missing", "the link is broken"),
        "loop": Fault("symlink-loop", os.strerror(errno.ELOOP)),
        "loop1": Fault("symlink-loop", os.strerror(errno.ELOOP)),
        "zero": Fault("not-a-file"),
        "fifo": Fault("not-a-file"),
        "socket": Fault("not-a-file", os.strerror(errno.ENXIO)),
        "x" * 300: Fault("bad-name", os.strerror(errno.ENAMETOOLONG)),
        "x/" * 2500: Fault("bad-name", os.strerror(errno.ENAMETOOLONG)),
        "nul\0": Fault("bad-name", "embedded null byte"),
    }
    assert {name: Disk().read(place.path("proj/" + name), LIMIT) for name in names} == names


def test_a_name_that_no_file_system_can_hold(place):
    fault = Disk().read(place.path("proj/\ud800.md"), LIMIT)
    assert (type(fault), fault.reason) == (Fault, "bad-name")


def test_a_file_that_says_nothing_of_its_size_is_read(place):
    """Files of /proc have size 0 and content."""
    with open("/proc/self/status", "rb") as file:
        first = file.readline()
    assert Disk().read("/proc/self/status", 1 << 20).startswith(first)
    assert Disk().read("/proc/self/status", 10) == Fault("too-large", "more than 10 bytes")


def test_no_handle_is_left_open(place):
    place.fifo("proj/fifo")
    place.write("proj/big", "x" * 2000)
    before = len(os.listdir("/proc/self/fd"))
    for name in ("fifo", "big", "missing", "."):
        Disk().read(place.path("proj/" + name), LIMIT)
    assert len(os.listdir("/proc/self/fd")) == before


def test_scan_names_kinds_in_the_file_systems_order(place):
    for name in ("b.md", "a.md", "z.md", "c"):
        place.write(f"proj/rules/{name}")
    os.mkdir(place.path("proj/rules/folder"))
    place.link("proj/rules/link", "a.md")
    place.link("proj/rules/dangling", "nothing")
    place.fifo("proj/rules/fifo")
    kinds = {"folder": "folder", "link": "link", "dangling": "link", "fifo": "other"}
    folder = place.path("proj/rules")
    with os.scandir(folder) as listing:
        order = [item.name for item in listing]
    assert Disk().scan(folder) == [Item(name, kinds.get(name, "file")) for name in order]


def test_scan_of_what_is_no_folder(place):
    place.write("proj/file")
    place.link("proj/loop", "loop")
    answers = {name: Disk().scan(place.path("proj/" + name)) for name in ("missing", "loop", "nul\0")}
    assert answers == {
        "missing": Fault("missing"),
        "loop": Fault("symlink-loop", os.strerror(errno.ELOOP)),
        "nul\0": Fault("bad-name", "embedded null byte"),
    }
    assert isinstance(Disk().scan(place.path("proj/file")), Fault)


def test_scan_of_names_that_are_not_utf8(place):
    folder = os.fsencode(place.folder("proj/rules"))
    with open(folder + b"/caf\xe9.md", "wb"):
        pass
    assert Disk().scan(place.path("proj/rules")) == [Item("caf\udce9.md", "file")]


def test_kinds(place):
    place.write("proj/file")
    place.fifo("proj/fifo")
    place.link("proj/link", "file")
    place.link("proj/folder_link", "..")
    place.link("proj/dangling", "nothing")
    place.link("proj/loop", "loop")
    kinds = {
        "file": "file",
        ".": "folder",
        "fifo": "other",
        "link": "file",
        "folder_link": "folder",
        "dangling": "missing",
        "loop": "missing",
        "missing": "missing",
        "file/below": "missing",
        "nul\0": "missing",
        "x" * 300: "missing",
    }
    assert {name: Disk().kind(place.path("proj/" + name)) for name in kinds} == kinds


@pytest.mark.parametrize(
    "path",
    [
        "file",
        "missing/below/x.md",
        "link",
        "folder_link",
        "folder_link/file",
        "folder_link/folder_link/link",
        "loop",
        "loop/below",
        "dangling",
        "up/proj/file",
        "deep/" * 150 + "x.md",
        "x" * 300,
    ],
)
def test_real_is_what_the_system_resolves(place, path):
    place.write("proj/file")
    place.folder("proj/folder")
    place.write("proj/folder/file")
    place.link("proj/link", "folder/file")
    place.link("proj/folder_link", "folder")
    place.link("proj/folder/folder_link", "..")
    place.link("proj/loop", "loop")
    place.link("proj/dangling", "nothing/here")
    place.link("proj/up", "..")
    disk, path = Disk(), place.path("proj/" + path)
    assert [disk.real(path), disk.real(path)] == [os.path.realpath(path)] * 2


def test_real_after_read_is_the_same(place):
    """Reading tells whether the last part is a link; the answer must not depend on the order of the two."""
    place.write("proj/folder/file")
    place.link("proj/link", "folder/file")
    place.link("proj/folder_link", "folder")
    for name in ("folder/file", "link", "folder_link/file"):
        disk, path = Disk(), place.path("proj/" + name)
        disk.read(path, LIMIT)
        assert disk.real(path) == os.path.realpath(path)


IMPOSSIBLE = {"nul": "/nul\0", "surrogate": "/\ud800", "top": "/", "empty": ""}
IMPOSSIBLE |= {f"deep-{name}": f"{'/a' * 150}{path}/x.md" for name, path in IMPOSSIBLE.items()}


@pytest.mark.parametrize("path", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_real_never_raises(path):
    assert isinstance(Disk().real(path), str)


def test_real_of_the_top():
    disk = Disk()
    assert (disk.real("/"), disk.real("/proc")) == ("/", os.path.realpath("/proc"))


def test_every_path_that_was_looked_at_leaves_a_stamp(place):
    place.write("proj/a.md", "A")
    place.folder("proj/folder")
    disk = Disk()
    disk.read(place.path("proj/a.md"), LIMIT)
    disk.read(place.path("proj/none.md"), LIMIT)
    disk.scan(place.path("proj/folder"))
    disk.scan(place.path("proj/none"))
    disk.kind(place.path("proj/.git"))
    there = {place.short(path): stamp is not None for path, stamp in disk.stamps.items()}
    assert there == {
        "proj/a.md": True,
        "proj/none.md": False,
        "proj/folder": True,
        "proj/none": False,
        "proj/.git": False,
    }
    assert unchanged(disk.stamps)


@pytest.mark.parametrize(
    "change",
    [
        lambda place: place.write("proj/a.md", "longer"),
        lambda place: os.utime(place.path("proj/a.md"), (1, 1)),
        lambda place: os.remove(place.path("proj/a.md")),
        lambda place: place.write("proj/none.md"),
        lambda place: place.write("proj/folder/new.md"),
        lambda place: os.rename(place.write("proj/other", "A"), place.path("proj/a.md")),
        lambda place: place.folder("proj/.git"),
    ],
    ids=["write", "touch", "remove", "create", "list", "replace", "git"],
)
def test_a_change_is_seen(place, change):
    place.write("proj/a.md", "A")
    place.folder("proj/folder")
    disk = Disk()
    for name in ("a.md", "none.md"):
        disk.read(place.path("proj/" + name), LIMIT)
    disk.scan(place.path("proj/folder"))
    disk.kind(place.path("proj/.git"))
    change(place)
    assert not unchanged(disk.stamps)


def test_stamps_of_a_path_that_became_impossible(place):
    assert unchanged({"/nul\0": None})
    disk = Disk()
    disk.kind(place.root)
    (stamp,) = disk.stamps.values()
    assert not unchanged({"/nul\0": stamp})


def test_a_file_with_less_than_its_size_is_read():
    """Files of /sys say 4096 bytes and have a few."""
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    if not os.path.exists(path):
        pytest.skip(f"this machine has no {path}")
    with open(path, "rb") as file:
        assert Disk().read(path, 1 << 20) == file.read()


def read_while(monkeypatch, path, change):
    """Read a file that is changed just after its size was asked for: the system call itself is the only seam."""
    fstat = os.fstat

    def stat_then_change(handle):
        info = fstat(handle)
        change()
        return info

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", stat_then_change)
        return Disk().read(path, LIMIT)


def test_a_file_that_grows_while_being_read(place, monkeypatch):
    path = place.write("proj/a.md", "A")
    assert read_while(monkeypatch, path, lambda: place.write("proj/a.md", "AB" * 10)) == b"AB" * 10


def test_a_file_that_grows_over_the_limit_while_being_read(place, monkeypatch):
    path = place.write("proj/a.md", "A")
    fault = read_while(monkeypatch, path, lambda: place.write("proj/a.md", "A" * 1001))
    assert fault == Fault("too-large", "more than 1000 bytes")


def test_a_file_that_shrinks_while_being_read(place, monkeypatch):
    path = place.write("proj/a.md", "ABCDEF")
    assert read_while(monkeypatch, path, lambda: place.write("proj/a.md", "AB")) == b"AB"


def test_a_file_that_is_emptied_while_being_read(place, monkeypatch):
    path = place.write("proj/a.md", "ABCDEF")
    assert read_while(monkeypatch, path, lambda: place.write("proj/a.md", "")) == b""


def test_a_file_that_is_deleted_while_being_read(place, monkeypatch):
    path = place.write("proj/a.md", "ABCDEF")
    assert read_while(monkeypatch, path, lambda: os.remove(path)) == b"ABCDEF"


def test_a_disk_that_fails_while_reading(place, monkeypatch):
    path = place.write("proj/a.md", "ABCDEF")

    def broken(handle, size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", broken)
        answer = Disk().read(path, LIMIT)
    assert answer == Fault("unreadable", os.strerror(errno.EIO))
