"""An earlier commit: what it has, its texts, and that reading it runs nothing of the repository."""

import os

import pytest

from foretold.check import CheckOptions, Project
from foretold.check.diff.change import compare_with
from foretold.git.commit import (
    BlobReader,
    TrackedFile,
    find_commit,
    find_merge_base,
    is_blob,
    list_commit,
    list_index,
    read_blobs,
)

ONE = "5626abf0f72e58d7a153368ba57db4c673c0e171"  #: the id of the blob "one\n"


@pytest.fixture
def repo(place):
    place.git("init -q -b main")
    place.write("proj/a.md", "one\n")
    place.write("proj/ä b/c.md", "two\n")
    place.link("proj/link.md", "a.md")
    place.git("add -A")
    place.git("commit -q -m start")
    return place


def test_a_commit_has_its_files_and_links_by_path(repo):
    found = list_commit(repo.proj, "HEAD")
    assert found["a.md"] == TrackedFile("file", ONE)
    assert {path: each.kind for path, each in found.items()} == {"a.md": "file", "link.md": "link", "ä b/c.md": "file"}
    assert list_commit(repo.path("proj/ä b"), "HEAD") == found  # from the top, wherever it is asked


def test_the_index_has_what_is_staged_and_what_is_not_tracked(repo):
    repo.write("proj/.gitignore", "ignored.md\n")
    repo.write("proj/ignored.md")
    repo.write("proj/new.md")
    repo.write("proj/a.md", "edited\n")
    repo.write("proj/staged.md", "one\n")
    repo.git("add staged.md")
    found = list_index(repo.proj)
    assert found.files["staged.md"] == found.files["a.md"] == TrackedFile("file", ONE)
    assert sorted(found.untracked) == [".gitignore", "new.md"]
    assert found.absent == frozenset()


def test_what_a_sparse_checkout_leaves_out_is_known(repo):
    repo.git("sparse-checkout set --no-cone /a.md")
    assert list_index(repo.proj).absent == {"link.md", "ä b/c.md"}
    assert compare_with(Project(repo.proj, CheckOptions(home="")), "HEAD").deliveries == ()


@pytest.mark.parametrize("name", ["", "--help", "-h", "no-such", "a\0b", "main\nHEAD", "HEAD:a.md", "main:"])
def test_what_is_not_a_commit_is_none(repo, name):
    assert find_commit(repo.proj, name) is None


def test_commits_are_found_by_any_name(repo):
    commit = find_commit(repo.proj, "main")
    assert commit == find_commit(repo.proj, "HEAD") == find_commit(repo.proj, commit[:8])
    assert find_merge_base(repo.proj, commit, commit) == commit
    repo.git("checkout -q --orphan other")
    repo.git("commit -q --allow-empty -m other")
    assert find_merge_base(repo.proj, commit, "HEAD") is None


def test_texts_are_read_together_and_what_is_missing_is_left_out(repo):
    assert read_blobs(repo.proj, [ONE, "0" * 40]) == {ONE: b"one\n"}
    assert read_blobs(repo.proj, []) == {}
    reader = BlobReader(repo.proj, [ONE])
    assert (reader.read("0" * 40), reader.read(ONE)) == (None, b"one\n")


def test_a_text_with_lines_that_look_like_answers_is_read_whole(repo):
    text = f"\n{ONE} blob 4\n{ONE} missing\n\n"
    repo.write("proj/odd.md", text)
    repo.git("add -A")
    name = list_index(repo.proj).files["odd.md"].id
    assert read_blobs(repo.proj, [name, ONE]) == {name: text.encode(), ONE: b"one\n"}


def test_a_blob_is_recognised_with_other_line_ends(repo):
    assert [is_blob(data, ONE) for data in (b"one\n", b"one\r\n", b"One\n", b"")] == [True, True, False, False]


def test_a_repository_of_sha_256(place):
    place.git("init -q --object-format=sha256")
    place.write("proj/CLAUDE.md", "one\n")
    place.git("add -A")
    place.git("commit -q -m start")
    name = list_commit(place.proj, "HEAD")["CLAUDE.md"].id
    assert (len(name), is_blob(b"one\n", name), is_blob(b"two\n", name)) == (64, True, False)
    assert compare_with(Project(place.proj, CheckOptions(home="")), "HEAD").deliveries == ()


def test_no_program_of_the_repository_runs(repo):
    """Filters, hooks, a monitor of the file system, an external diff: a clone of a stranger may name them all."""
    trap = repo.write("trap.sh", f"#!/bin/sh\ntouch {repo.path('sprung')}\ncat\n", mode=0o755)
    repo.write("proj/.gitattributes", "* filter=trap diff=trap merge=trap\n")
    repo.git("add -A")
    repo.git("commit -q -m attributes")
    for key in (
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "diff.trap.textconv",
        "diff.external",
    ):
        repo.git(f"config {key} {trap}")
    repo.git(f"config core.fsmonitor {trap}")
    for hook in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        repo.write(f"proj/.git/hooks/{hook}", f"#!/bin/sh\ntouch {repo.path('sprung')}\n", mode=0o755)
    repo.write("proj/CLAUDE.md", "Use tabs.\n")
    repo.write("proj/a.md", "edited\n")
    report = compare_with(Project(repo.proj, CheckOptions(home="")), "HEAD")
    assert [each.path for each in report.deliveries] == ["CLAUDE.md"]
    assert not os.path.exists(repo.path("sprung"))
