"""One search for many texts: words, flags, code; and the same answer where git narrows the files down."""

import subprocess

import pytest

from foretold.memory.drift import search as module
from foretold.memory.drift.search import Needle, Occurrence, OwnFiles, find_needle, search, words_of


@pytest.fixture
def files(tmp_path):
    """A hundred files: code and documents by turns, each with a name of its own, and some with a common one."""
    names = []
    for number in range(100):
        name = f"f{number:03}.{'md' if number % 2 else 'py'}"
        common = "common_name --flag-of-all\n" if number > 60 else ""
        (tmp_path / name).write_text(f"first line\nname_{number} = {{ 'a':\n  {number} }}\n{common}")
        names.append(name)
    return names


GROUPS = [
    *((Needle(f"name_{number}"),) for number in range(0, 120, 7)),
    (Needle("common_name"),),
    (Needle("--flag-of-all", "text"), Needle("flag_of_all")),
    (Needle("name_42={'a': 42}", "loose"),),
    (Needle("name_4={'a': 42}", "loose"),),
    (Needle("---"),),
]


def test_the_first_code_that_has_it_else_the_first_document(tmp_path, files):
    found = search(str(tmp_path), files, GROUPS)
    assert found.hits[Needle("common_name")] == Occurrence("f062.py", 4)
    assert found.hits[Needle("--flag-of-all", "text")] == Occurrence("f062.py", 4)
    assert found.hits[Needle("name_7")] == Occurrence("f007.md", 2, is_prose=True)
    assert found.hits[Needle("name_42={'a': 42}", "loose")] == Occurrence("f042.py", 2)
    assert {needle.text for group in GROUPS for needle in group} - {needle.text for needle in found.hits} == {
        *("name_105", "name_112", "name_119", "flag_of_all", "name_4={'a': 42}", "---")
    }
    assert (found.files, found.binary, found.large, found.unread) == (100, 0, (), 0)


def test_git_leaves_out_files_and_the_answer_stays(tmp_path, files, monkeypatch):
    from foretold.git.runner import GitRepository

    monkeypatch.setattr(module, "FIRST", 10)
    monkeypatch.setattr(module, "MANY", 20)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", *files[:50]], check=True)  # the others are untracked
    (tmp_path / ".gitattributes").write_text("* -diff\n")  # git takes all files for binary
    git = GitRepository.of(str(tmp_path))
    groups = [(Needle("name_33"),), (Needle("name_90"),), (Needle("größe"),), (Needle("name_200"),), (Needle("$x"),)]
    (tmp_path / files[70]).write_text("die größe\n")
    near = git.narrow([b"name_33", b"name_90", "größe".encode(), b"name_3"])
    if near is None:
        pytest.skip("this git has no Perl regular expressions")
    assert near == {"f003.md", "f033.md", "f070.py", "f090.py"}
    narrowed = search(str(tmp_path), files, groups, narrow=git.narrow)
    monkeypatch.setattr(module, "MANY", 1000)
    assert narrowed == search(str(tmp_path), files, groups, narrow=git.narrow)
    assert git.narrow([b"x" * 100_000]) is None
    assert git.narrow([b"nowhere"]) == frozenset()


def test_nothing_more_is_read_when_all_is_found(tmp_path, files):
    assert search(str(tmp_path), files, [(Needle("name_4"),), (Needle("name_0"), Needle("name_98"))]).files == 5


def test_own_files_prove_nothing(tmp_path):
    (tmp_path / "a.py").write_text("some_name\n")
    (tmp_path / "MEMORY.md").write_text("some_name\n")
    from foretold.storage.digest import digest_of

    own = OwnFiles(frozenset({"a.py"}), frozenset({digest_of(b"some_name\n")}))
    assert search(str(tmp_path), ["a.py", "MEMORY.md"], [(Needle("some_name"),)], own=own).hits == {}


@pytest.mark.parametrize(
    ("needle", "text", "is_found"),
    [
        (Needle("a_b"), "a_b", True),
        (Needle("a_b"), "xa_b a_bx (a_b)", True),
        (Needle("a_b"), "xa_b a_bx é\u00e9a_b", False),
        (Needle("größe"), "die größe.", True),
        (Needle("größe"), "die größer", False),
        (Needle("--a-b", "text"), "'--a-b'", True),
        (Needle("--a-b", "text"), "--a-b-c ---a-b --a-bc", False),
        (Needle("x = f( 1 )", "loose"), "x=f(1)", True),
        (Needle("$", "word"), "$", False),
    ],
)
def test_needles(tmp_path, needle, text, is_found):
    (tmp_path / "a.py").write_text(text)
    assert bool(search(str(tmp_path), ["a.py"], [(needle,)]).hits) is is_found
    many = [(Needle(f"other_{number}"),) for number in range(100)]  # beyond FEW
    assert bool(search(str(tmp_path), ["a.py"], [(needle,), *many]).hits) is is_found


def test_words_of():
    assert sorted(words_of("--no-verify")) == [b"no", b"verify"]


def test_find_needle():
    assert (
        find_needle(Needle("--all", "text"), b"--all-day --all"),
        find_needle(Needle("f( x )", "loose"), b"y = f(x)"),
    ) == (10, 4)
