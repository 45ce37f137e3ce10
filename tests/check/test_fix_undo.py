"""What a fix keeps of a file, and what undoing it gives back: every byte, mode, owner and folder."""

import os

import pytest

from foretold.check.fix import undo_fixes, write_fixes
from foretold.errors import RestoreRefused

from .fixing import fix, plan, run, snapshot, store

RULE = "---\nglobs: docs/**\n---\nValidate.\n"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def renamed(place):
    """A project with a rule that is renamed, and edited on the way."""
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "See @docs/style.md, please.\n", mode=0o640)
    place.write("proj/.claude/rules/api.mdc", RULE, mode=0o604)
    return place


@needs_root
def test_a_renamed_file_keeps_its_owner_and_undo_gives_it_back(renamed):
    os.chown(renamed.path("proj/.claude/rules/api.mdc"), 1234, 5678)
    os.chown(renamed.path("proj/CLAUDE.md"), 4321, 8765)
    before = snapshot(renamed.proj)
    assert set(fix(renamed, unsafe=True)) == {"import-punctuation", "rule-extension"}
    after = snapshot(renamed.proj)
    assert after[renamed.path("proj/.claude/rules/api.md")][1:] == (0o604, 1234, 5678)
    assert after[renamed.path("proj/CLAUDE.md")][1:] == (0o640, 4321, 8765)
    undo_fixes(renamed.proj, store(renamed))
    assert snapshot(renamed.proj) == before


def test_a_new_file_belongs_to_who_makes_it(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/AGENTS.md", "Api.\n")
    assert fix(place, unsafe=True) == ["file-shadowed"]
    about = os.stat(place.path("proj/api/CLAUDE.md"))
    assert (about.st_uid, about.st_gid) == (os.geteuid(), os.stat(place.proj).st_gid)


def moved(place):
    """A project with a rule that belongs into folders that are not there."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/.claude/rule/api.md", "Validate.\n")
    return place


def test_undo_takes_new_folders_away(place):
    before = snapshot(moved(place).proj)
    assert fix(place, unsafe=True) == ["wrong-place"]
    assert os.path.isdir(place.path("proj/.claude/rules"))
    undo_fixes(place.proj, store(place))
    assert snapshot(place.proj) == before


def test_a_new_folder_that_has_other_files_by_now_stays(place):
    moved(place)
    assert fix(place, unsafe=True) == ["wrong-place"]
    place.write("proj/.claude/rules/mine.md", "Mine.\n")
    undo_fixes(place.proj, store(place))
    assert os.listdir(place.path("proj/.claude/rules")) == ["mine.md"]


def test_a_folder_that_was_there_stays_when_it_is_empty(place):
    moved(place)
    place.folder("proj/.claude/rules")
    before = snapshot(place.proj)
    assert fix(place, unsafe=True) == ["wrong-place"]
    undo_fixes(place.proj, store(place))
    assert snapshot(place.proj) == before


def test_what_git_refuses_leaves_no_folder(place):
    moved(place)
    place.git("init -q")
    place.write("proj/CLAUDE.local.md", "Mine.\n")
    found = plan(place, unsafe=True)
    assert {each.finding.code for each in found.fixes} == {"wrong-place", "local-not-ignored"}
    before = snapshot(place.proj)
    os.rename(place.path("proj/.git"), place.path("proj/.hidden"))  # then git does not ignore anything
    with pytest.raises(RestoreRefused, match="everything was taken back"):
        write_fixes(found, store(place))
    os.rename(place.path("proj/.hidden"), place.path("proj/.git"))
    assert snapshot(place.proj) == before


def test_a_refused_write_leaves_no_folder(place):
    moved(place)
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/zz/CLAUDE.md", "See @../docs/style.md, please.\n")
    found = plan(place, unsafe=True)
    place.write("proj/zz/CLAUDE.md", "Changed.\n")
    before = snapshot(place.proj)
    with pytest.raises(RestoreRefused, match="was changed meanwhile"):
        write_fixes(found, store(place))
    assert snapshot(place.proj) == before


def test_the_command_says_what_it_takes_back(place):
    moved(place)
    run(place, "--fix", "--unsafe", "--agent", "claude-code@2.1.325")
    status, printed = run(place, "--undo")
    assert (status, printed.splitlines()[1:]) == (
        0,
        ["  create .claude/rule/api.md", "  delete .claude/rules/api.md"],
    )
