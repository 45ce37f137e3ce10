"""Everything that is dated about an agent, in one list."""

import importlib
import os
import subprocess
import sys

import pytest

import foretold
from foretold.dialects.registry import history_of
from foretold.dialects.releases.catalog import (
    ReleaseCatalog,
    agents_with_changes,
    is_next,
    open_catalog,
    require_changes,
)
from foretold.dialects.releases.history import DatedChange, ReleaseHistory, version_key
from foretold.errors import BadArgument, UnknownAgent

HOUSE = os.path.dirname(os.path.abspath(foretold.__file__))
NEAR = DatedChange("1.2.0", "1.1.9", "Near.")
FAR = DatedChange("1.9.0", "1.3.0", "Far.", topic="files")
CATALOG = ReleaseCatalog("example", (NEAR, FAR), ("1.0.0", "1.9.0"), "1.0.0", "1.9.0")


def histories():
    """Every history that the code has, found by its text."""
    for folder, _, names in os.walk(HOUSE):
        for name in (name for name in names if name.endswith(".py")):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                has_one = " = ReleaseHistory(" in file.read()
            if has_one:
                dotted = os.path.relpath(path, os.path.dirname(HOUSE))[:-3].replace(os.sep, ".")
                values = vars(importlib.import_module(dotted)).values()
                yield from ((dotted, value) for value in values if isinstance(value, ReleaseHistory))


def test_no_change_is_forgotten():
    known = {id(change) for agent in agents_with_changes() for change in open_catalog(agent).changes}
    found = list(histories())
    assert len(found) > 5
    assert [name for name, history in found if any(id(change) not in known for change in history.changes)] == []


@pytest.mark.parametrize("agent", agents_with_changes())
def test_changes_are_listed_oldest_first(agent):
    catalog = open_catalog(agent)
    keys = [version_key(change.version) for change in catalog.changes]
    assert keys == sorted(keys)
    assert all(change in catalog.changes for change in history_of(agent).changes)
    assert version_key(catalog.oldest) < version_key(catalog.newest) == max(keys[-1], version_key(catalog.newest))
    assert all(version_key(change.after) < version_key(change.version) for change in catalog.changes)


@pytest.mark.parametrize(
    ("first", "last", "sure", "unsure"),
    [
        ("1.0.0", "1.9.0", (NEAR, FAR), ()),
        ("1.1.9", "1.2.0", (NEAR,), ()),
        ("1.2.0", "1.3.0", (), ()),
        ("1.3.0", "2.0.0", (FAR,), ()),
        ("1.0.0", "1.5.0", (NEAR,), (FAR,)),
        ("1.5.0", "1.9.0", (), (FAR,)),
        ("1.9.0", "2.0.0", (), ()),
        ("0", "9", (NEAR, FAR), ()),
    ],
)
def test_what_came_between_two_releases(first, last, sure, unsure):
    assert (CATALOG.list_sure(first, last), CATALOG.list_open(first, last)) == (sure, unsure)


def test_an_open_change_of_one_topic_says_nothing_about_another():
    assert [CATALOG.evidence_for("1.5.0", topic) for topic in ("", "files", "instructions")] == [
        "assumed",
        "assumed",
        "between",
    ]
    assert CATALOG.evidence_for("1.9.0") == "recorded"
    assert CATALOG.topics == ("instructions", "files")


def test_an_agent_of_which_one_release_is_known():
    with pytest.raises(
        BadArgument, match=r"^one release of cline is known \(.*\), .*agents with a history: .*claude-code"
    ):
        require_changes("cline")
    with pytest.raises(UnknownAgent, match="unknown agent 'clin', did you mean 'cline'"):
        require_changes("clin")


def test_neighbours_by_their_numbers():
    assert [is_next(*each) for each in (("1.0.2", "1.0.1"), ("1.0.2", "1.0.0"), ("1.1.0", "1.0.9"), ("x", "y"))] == [
        True,
        False,
        False,
        False,
    ]


def test_opening_it_starts_no_command_slowly():
    """It is imported by the commands about releases, and by nothing that `show` or a hook needs."""
    code = (
        "import sys, foretold.cli.show, foretold.cli.hook; print('foretold.dialects.releases.catalog' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
