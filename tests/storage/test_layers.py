"""Trees on top of the disk: each answers as the disk does, or as it would after the changes."""

import errno
import itertools
import os
import shutil
import tempfile

import pytest
from hypothesis import given, settings, strategies as st

from foretold.storage.layers import CachingDisk, ChangedTree, LaterText, LinkTo
from foretold.storage.tree import Disk, Fault, Item

LIMIT = 1000
LOOP = "symlink-loop"
NAMES = ("a", "b", "c.md")
PATHS = ["/".join(parts) for count in (1, 2, 3) for parts in itertools.product(NAMES, repeat=count)]
TARGETS = ("a", "b", "c.md", "../a", "../b", "a/b", "./a/../b", "../../c.md", "nowhere", ".")


def fits(path, others):
    """Whether a path can be a file next to others: none is a folder of another."""
    return not any(path != each and (path.startswith(each + "/") or each.startswith(path + "/")) for each in others)


@st.composite
def trees(draw):
    """Files and links by path, as a commit has them."""
    found = {}
    for path in draw(st.lists(st.sampled_from(PATHS), max_size=7, unique=True)):
        if fits(path, found):
            links = st.sampled_from(TARGETS).map(LinkTo)
            found[path] = draw(st.one_of(st.sampled_from([b"", b"one", b"two"]), links))
    return found


@st.composite
def pairs(draw):
    """A tree, what it becomes, and empty folders that stay; much of the first is in the second."""
    before, other = draw(trees()), draw(trees())
    kept = draw(st.sets(st.sampled_from(PATHS), max_size=20))
    after = {path: content for path, content in before.items() if path in kept}
    after.update({path: content for path, content in other.items() if fits(path, after)})
    empty = draw(st.lists(st.sampled_from(PATHS), max_size=2))
    there = {*before, *after}
    return before, after, [path for path in empty if path not in there and fits(path, there)]


def build(root, files, empty=()):
    for folder in empty:
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    for path, content in {".keep": b"", **files}.items():
        whole = os.path.join(root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        if isinstance(content, LinkTo):
            os.symlink(content.target, whole)
        else:
            with open(whole, "wb") as file:
                file.write(content)


def describe(tree, root):
    """Everything that a tree answers about the paths of a folder, with `~` in place of the folder."""
    asked = [root, *(f"{root}/{path}" for path in PATHS), f"{root}/a/a/a/a"]
    found = {path: describe_path(tree, path, root) for path in asked}
    by_identity = {}
    for path in asked:
        if tree.kind(path) != "missing":
            by_identity.setdefault(tree.identity(path), []).append(path.replace(root, "~"))
    return {path.replace(root, "~"): each for path, each in found.items()}, sorted(by_identity.values())


def describe_path(tree, path, root):
    """The answers about one path. What a loop of links leads to is not there, like any other that is missing."""
    scanned, listed, read, kind = tree.scan(path), tree.names(path), tree.read(path, LIMIT), tree.kind(path)
    return {
        "read": reason_of(read) or read,
        "kind": kind,
        "scan": reason_of(scanned) or sorted(scanned),
        "names": reason_of(listed) or tuple(map(sorted, listed)),
        "real": "" if kind == "missing" else tree.real(path).replace(root, "~"),
    }


def reason_of(answer):
    reason = answer.reason if isinstance(answer, Fault) else ""
    return "missing" if reason == LOOP else reason


def differences(before, after):
    changes = {path: content for path, content in after.items() if before.get(path) != content}
    return {**dict.fromkeys(path for path in before if path not in after), **changes}


def postpone(change):
    return LaterText(lambda: change) if isinstance(change, bytes) else change


@settings(max_examples=300)
@given(pairs(), st.booleans(), st.booleans())
def test_a_changed_tree_answers_as_the_disk_would_after_the_changes(pair, is_cached, is_later):
    before, after, empty = pair
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        old, new = os.path.join(root, "old"), os.path.join(root, "new")
        os.makedirs(old)
        os.makedirs(new)
        build(old, before, empty)
        build(new, after, empty)
        changes = {f"{old}/{path}": change for path, change in differences(before, after).items()}
        if is_later:
            changes = {path: postpone(change) for path, change in changes.items()}
        tree = ChangedTree(CachingDisk() if is_cached else Disk(), changes)
        assert describe(tree, old) == describe(Disk(), new)
    finally:
        shutil.rmtree(root)


@settings(max_examples=100)
@given(pairs(), trees())
def test_changes_can_be_laid_over_changes(pair, third):
    before, after, empty = pair
    root = os.path.realpath(tempfile.mkdtemp())
    third = {path: content for path, content in third.items() if path not in empty and fits(path, empty)}
    try:
        old, new = os.path.join(root, "old"), os.path.join(root, "new")
        os.makedirs(old)
        os.makedirs(new)
        build(old, before, empty)
        build(new, third, empty)
        first = {f"{old}/{path}": change for path, change in differences(before, after).items()}
        second = {f"{old}/{path}": change for path, change in differences(after, third).items()}
        tree = ChangedTree(ChangedTree(CachingDisk(), first), second)
        assert describe(tree, old) == describe(Disk(), new)
    finally:
        shutil.rmtree(root)


@settings(max_examples=100)
@given(trees())
def test_a_disk_that_remembers_answers_as_the_disk(files):
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        build(root, files)
        tree = CachingDisk()
        assert describe(tree, root) == describe(Disk(), root)
        assert describe(tree, root) == describe(Disk(), root)  # from memory
    finally:
        shutil.rmtree(root)


def test_nothing_is_written(place):
    path = place.write("proj/a.md", "old")
    tree = ChangedTree(Disk(), {path: b"new", place.path("proj/b/c.md"): b"more"})
    assert (tree.read(path, LIMIT), Disk().read(path, LIMIT)) == (b"new", b"old")
    assert (tree.kind(place.path("proj/b")), os.listdir(place.proj)) == ("folder", ["a.md"])


def test_what_changes_put_into_a_folder_comes_last(place):
    place.write("proj/z.md")
    tree = ChangedTree(Disk(), {place.path("proj/a.md"): b"", place.path("proj/b/c.md"): b""})
    assert tree.scan(place.proj) == [Item("z.md", "file"), Item("a.md", "file"), Item("b", "folder")]


def test_a_change_through_a_link_changes_its_target(place):
    target = place.write("proj/docs/a.md", "old")
    place.link("proj/pages", "docs")
    tree = ChangedTree(Disk(), {place.path("proj/pages/a.md"): b"new"})
    assert tree.read(target, LIMIT) == b"new"


def test_a_link_that_leads_back_to_itself_is_a_fault(place):
    path = place.path("proj/a.md")
    tree = ChangedTree(Disk(), {path: LinkTo("a.md")})
    assert (tree.read(path, LIMIT), tree.kind(path)) == (Fault(LOOP, os.strerror(errno.ELOOP)), "missing")


def test_a_longer_text_than_asked_for_is_a_fault(place):
    path = place.path("proj/a.md")
    tree = ChangedTree(Disk(), {path: b"x" * (LIMIT + 1)})
    assert tree.read(path, LIMIT) == Fault("too-large", "1001 bytes, the limit is 1000")


@pytest.mark.parametrize("path", ["a.md", "folder/b.md", "nothing", "link"])
def test_is_missing_never_lies(place, path):
    place.write("proj/folder/b.md")
    place.link("proj/link", "folder")
    tree = ChangedTree(CachingDisk(), {place.path("proj/a.md"): b"", place.path("proj/folder/b.md"): None})
    assert tree.is_missing(place.path(f"proj/{path}")) is (path in ("folder/b.md", "nothing"))


def test_who_may_be_executed(place):
    """A text that is laid over a file leaves its rights as they are; a new file has none."""
    run, plain = place.write("proj/run.sh", mode=0o755), place.write("proj/plain.sh", mode=0o644)
    link, new = place.link("proj/link.sh", "run.sh"), place.path("proj/new.sh")
    paths = (run, plain, link, new, place.proj)
    answers = [True, False, True, False, False]
    assert [Disk().is_executable(path) for path in paths] == answers
    assert [CachingDisk().is_executable(path) for path in paths] == answers
    tree = ChangedTree(CachingDisk(), {run: b"echo", plain: b"echo", new: b"echo"})
    assert [tree.is_executable(path) for path in paths] == answers
    gone = ChangedTree(Disk(), {run: None, plain: LinkTo("link.sh"), link: b""})
    assert [gone.is_executable(path) for path in (run, plain, link)] == [False, False, False]
