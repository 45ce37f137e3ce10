"""A colleague's team folder: whatever git brings there, nothing of ours stops working."""

import os
import sys

import pytest

from foretold.memory.location import TEAM
from foretold.memory.note import INDEX

# Sizes


def note(name):
    return f"---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n\nThe {name} one.\n"


@pytest.fixture
def team(place):
    place.git("init -q .")
    place.write(f"proj/{TEAM}/project_shared.md", note("shared"))
    return place.path(f"proj/{TEAM}")


COMMANDS = (
    (["list", "--team"], {0, 1}),
    (["show", "--team", "shared"], {0}),
    (["trust", "--yes"], {0}),
    (["add", "--team", "New", "-t", "project", "-d", "d", "-b", "b"], {0}),
    (["edit", "--team", "new", "-d", "another"], {0}),
    (["rm", "--team", "new"], {0}),
    (["doctor", "--team"], {0, 1}),
    (["log", "--team"], {0}),
    (["recall", "shared"], {0}),
)


def run_all(installed):
    for words, wanted in COMMANDS:
        code, _, err = installed.run("memory", *words, seconds=120)
        assert code in wanted, (words, err)
        assert b"Traceback" not in err


def test_an_index_of_fifty_megabytes_stops_nothing(installed, team):
    with open(os.path.join(team, INDEX), "w", encoding="utf-8") as file:
        file.writelines(f"- [Line {number}](no_{number}.md) - {'x' * 60}\n" for number in range(500_000))
    run_all(installed)


def test_an_index_of_one_endless_line_stops_nothing(installed, team):
    with open(os.path.join(team, INDEX), "w", encoding="utf-8") as file:
        file.write("x" * 20_000_000)
    run_all(installed)
    assert installed.run("memory", "doctor", "--team", "--fix")[0] in (0, 1)
    assert os.path.getsize(os.path.join(team, INDEX)) < 256 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="making so many files takes too long elsewhere")
def test_very_many_files_stop_nothing(installed, team):
    for number in range(20_000):  # bench/store.py does 100,000
        with open(os.path.join(team, f"project_{number:06}.md"), "w", encoding="utf-8") as file:
            file.write(note(f"fact-{number:06}"))
    for words, wanted in COMMANDS[1:6]:
        code, _, err = installed.run("memory", *words, seconds=120)
        assert code in wanted, (words, err)
    assert os.path.getsize(os.path.join(team, INDEX)) < 256 * 1024
