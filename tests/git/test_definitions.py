"""Definitions that a history had: which commit took them away, from which file."""

import os
import subprocess

import pytest

from foretold.git.definitions import RemovedDefinition, find_removed
from foretold.git.runner import GitRepository

DATE = "2026-01-02"


class History:
    """A repository to which versions of files are committed."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        os.makedirs(self.root)
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        who |= {f"GIT_{who}_DATE": f"{DATE}T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1", **who}
        done = subprocess.run(["git", "-C", self.root, *words], env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, path, text):
        whole = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def ask(self, *names, folder="", **options):
        git = GitRepository.of(os.path.join(self.root, folder))
        assert git is not None
        return find_removed(git, names, seconds=20, **options)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "repo")


@pytest.mark.parametrize(
    "line",
    [
        *("def open_store(x):", "    async def open_store(self):", "class open_store:", "open_store = 3"),
        *("export const open_store: number = 3", "func (s *Shop) open_store() {", "open_store: int = 3"),
        *("pub fn open_store() {", "export function open_store() {", "#define open_store 3"),
    ],
)
def test_a_removed_definition(history, line):
    history.commit("src/a.py", f"one\n{line}\ntwo\n")
    commit = history.commit("src/a.py", "one\ntwo\n")
    assert history.ask("open_store", "other") == {
        "open_store": [RemovedDefinition("open_store", "src/a.py", commit, DATE)]
    }


@pytest.mark.parametrize("line", ["open_store()", "# def open_stores", "x.open_store == 3", "redefine_open_store = 3"])
def test_what_is_not_a_definition(history, line):
    history.commit("src/a.py", f"one\n{line}\n")
    history.commit("src/a.py", "one\n")
    assert history.ask("open_store") == {}


def test_documents_are_not_read(history):
    history.commit("README.md", "one\nclass open_store:\n")
    history.commit("README.md", "one\n")
    assert history.ask("open_store") == {}


def test_the_newest_first_until_one_is_enough(history):
    history.commit("src/a.py", "one\ndef open_store(): ...\n")
    history.commit("src/b.py", "one\ndef open_store(): ...\n")
    history.commit("src/a.py", "one\n")
    history.commit("src/b.py", "one\n")
    assert [each.path for each in history.ask("open_store")["open_store"]] == ["src/b.py"]
    found = history.ask("open_store", is_enough=lambda each: each.path == "src/a.py")
    assert [each.path for each in found["open_store"]] == ["src/b.py", "src/a.py"]


def test_paths_are_those_of_the_folder_that_was_asked(history):
    history.commit("part/src/a.py", "one\ndef open_store(): ...\n")
    history.commit("part/src/a.py", "one\n")
    history.commit("part/keep", "x\n")
    assert [each.path for each in history.ask("open_store", folder="part")["open_store"]] == ["src/a.py"]


def test_flags(history):
    history.commit("cli.py", "one\noption('--dry-run')\noption('--dry-runs')\n")
    commit = history.commit("cli.py", "one\noption('--dry-runs')\n")
    found = history.ask(flags=["--dry-run"])
    assert found == {"--dry-run": [RemovedDefinition("--dry-run", "cli.py", commit, DATE)]}


def test_what_cannot_be_a_name_is_not_asked(history):
    history.commit("a.py", "one\n")
    assert history.ask("a b", ".*", "x" * 500, "ä") == {}
    assert history.ask(flags=["--output=x", "-)("]) == {}
    assert history.ask() == {}


def test_a_name_on_both_sides_of_one_expression(history):
    names = [f"open_store_{number:03}" for number in range(300)]
    history.commit("a.py", "".join(f"def {name}(): ...\n" for name in names))
    history.commit("a.py", "one\n")
    assert [*history.ask(*names)] == names
