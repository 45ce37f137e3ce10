"""What releases sent when the recorded cases were played to them: `tests/conformance/releases` has digests of it."""

import os
import sys
import zlib

import pytest

from foretold.dialects.registry import history_of
from foretold.dialects.releases.played import PLAYED

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "system"))

from atlas import cases_of
from atlas_compare import answer_case, digest
from atlas_page import list_played
from atlas_table import FOLDER, read_table

AGENTS = sorted(name.removesuffix(".jsonl") for name in os.listdir(FOLDER))
#: the model is no part of an answer, and folders are listed sorted in one
UNSEEN = {("model",), ("rules.ordered",)}
CHANGES = [each for each in history_of("claude-code").changes if each.cases and tuple(each.sets) not in UNSEEN]


def cases_at(agent, version):
    return {case["id"]: case for case in cases_of(agent, version)}


@pytest.mark.parametrize("agent", AGENTS)
def test_we_say_what_releases_sent(agent):
    """Every answer that changed in a release, on both sides of it, and of the others one in forty."""
    lines, wrong = read_table(agent), []
    for number, line in enumerate(lines):
        near = [lines[place]["answers"] for place in (number - 1, number + 1) if 0 <= place < len(lines)]
        cases = cases_at(agent, line["version"])
        for case, made in line["answers"].items():
            changes = any(other.get(case, made) != made for other in near)
            if changes or zlib.crc32(f"{case} {line['version']}".encode()) % 40 == 0:
                answer = digest(answer_case(cases[case], line["version"], None))
                wrong += [] if answer == made else [f"{line['version']} {case}"]
    assert wrong == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_table_is_of_the_releases_that_count_as_played(agent):
    assert tuple(list_played(agent)) == PLAYED[agent]


@pytest.mark.parametrize("agent", AGENTS)
def test_nearly_all_answers_of_a_release_are_equal(agent):
    shares = [line["equal"] / (line["equal"] + len(line["differ"])) for line in read_table(agent) if "only" not in line]
    assert min(shares) >= 0.97
    assert sum(shares) / len(shares) >= 0.98


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.version}-{change.cases[0]}")
def test_the_cases_of_a_change_tell_its_releases_apart(change):
    cases = cases_at("claude-code", change.after)
    found = {
        case: [answer_case(cases[case], at, None) for at in (change.after, change.version)] for case in change.cases
    }
    assert [case for case, (before, after) in found.items() if before == after] == []
