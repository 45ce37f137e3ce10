"""Our linter on the yardstick: silent on the clean tree, and a remark on every fault.

The faults themselves are proven first: each delivery fault changes what an agent is given, as `foretold.load` knows it.
"""

import contextlib
import functools
import io
import json
import os
import re
from collections.abc import Callable

import pytest
from tests.check.fixture import (
    DECOYS,
    FAMILIES,
    FAULTS,
    Delivery,
    Fault,
    Remark,
    Tree,
    build,
    copy,
    fallen_for,
    is_caught,
    make_remark,
    new_remarks,
    plant,
)

import foretold
from foretold.cli import main

#: faults that we know of and do not catch, each with its reason; a test says so when one is caught after all
KNOWN_MISSES: dict[str, str] = {
    "claude-in-docs": "a CLAUDE.md in docs/ may be meant for docs/; what its heading says is not evidence enough",
    "symbol-gone": "a name that no commit ever had may be one of a library: only names that git knows are missed",
}
DELIVERED = [fault for fault in FAULTS if fault.delivery]
NEVER_DELIVERED = [fault for fault in DELIVERED if fault.delivery.clean == fault.delivery.faulty == 0]


@pytest.fixture(scope="session")
def clean(tmp_path_factory) -> Tree:
    return build(str(tmp_path_factory.mktemp("check") / "clean"))


@pytest.fixture(scope="session")
def planted(clean, tmp_path_factory) -> Callable[[Fault], Tree]:
    """The tree with a fault; each is made once."""
    root = tmp_path_factory.mktemp("faults")

    @functools.cache
    def find(fault_id: str) -> Tree:
        (fault,) = [each for each in FAULTS if each.id == fault_id]
        return plant(fault, clean, str(root / fault_id))

    return lambda fault: find(fault.id)


@pytest.fixture(scope="session")
def clean_remarks(clean) -> list[Remark]:
    return check(clean)


def check(tree: Tree) -> list[Remark]:
    """What `foretold check` says of a tree."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main(["check", tree.repo, "--format", "json", "--home", tree.home])
    findings = json.loads(printed.getvalue())["findings"]
    assert status == 0 or (status == 1 and findings)  # which severities fail a run is not judged here
    return [
        make_remark(tree, each["path"], each["code"], f"{each['message']} {each.get('hint') or ''}")
        for each in findings
    ]


def count(delivery: Delivery, tree: Tree) -> int:
    """How often the agent is given the phrase: at the start, and when it reads the file."""
    surroundings = {
        "agent": delivery.agent,
        "home": tree.home,
        "managed": tree.path("../managed"),
        "env": {},
        "trust": True,
    }
    session = foretold.Session(tree.path(delivery.folder), **surroundings)
    texts = [session.start().text or ""]
    if delivery.reads:
        texts += [block.text for block in session.read(tree.path(delivery.reads)).blocks]
    return sum(text.count(delivery.phrase) for text in texts)


@pytest.mark.parametrize("fault", DELIVERED, ids=lambda fault: fault.id)
def test_delivery_is_changed(fault, clean, planted):
    delivery = fault.delivery
    assert count(delivery, clean) == delivery.clean
    assert count(delivery, planted(fault)) == delivery.faulty


@pytest.mark.parametrize("fault", NEVER_DELIVERED, ids=lambda fault: fault.id)
def test_text_that_never_arrives_is_in_the_tree(fault, planted):
    """A phrase that no agent is given is one that someone wrote, not a slip of the fixture."""
    assert any(fault.delivery.phrase in text for text in texts_below(planted(fault).root))


def texts_below(root: str) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    found.append(file.read())
    return found


def test_every_delivery_fault_has_a_proof():
    assert [fault.id for fault in FAULTS if fault.family == "delivery" and not fault.delivery] == []


def test_tables():
    assert len(FAULTS) >= 84
    assert len(DECOYS) >= 25
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    assert len({decoy.id for decoy in DECOYS}) == len(DECOYS)
    assert {fault.family for fault in FAULTS} == set(FAMILIES)
    for each in (*FAULTS, *DECOYS):
        re.compile(each.words)


def test_a_copy_is_clean(clean, tmp_path):
    tree = copy(clean, str(tmp_path / "t"))
    assert tree.git("status", "--porcelain") == ""
    assert os.path.exists(tree.path("~/memory/MEMORY.md"))


def test_score():
    fault = next(fault for fault in FAULTS if fault.id == "import-typo")
    known = Remark("CLAUDE.md", "size", "CLAUDE.md has 60 lines, an import is missing")
    assert not is_caught(fault, [known._replace(text=known.text.replace("60", "61"))], [known])
    assert not is_caught(fault, [Remark("AGENTS.md", "import", "import missing")], [known])
    assert is_caught(fault, [known, Remark("CLAUDE.md", "x", "docs/testng.md not found")], [known])
    assert new_remarks([known, known], [known]) == [known]


needs_check = pytest.mark.skipif("check" not in foretold.cli.COMMANDS, reason="foretold check is not there yet")


@needs_check
def test_clean_tree_is_silent(clean_remarks):
    assert clean_remarks == []


@needs_check
def test_no_decoy_is_mentioned(clean_remarks):
    assert fallen_for(DECOYS, clean_remarks) == []


@needs_check
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_fault_is_caught(fault, planted, clean_remarks, request):
    if fault.id in KNOWN_MISSES:
        request.applymarker(pytest.mark.xfail(reason=KNOWN_MISSES[fault.id]))
    remarks = check(planted(fault))
    assert is_caught(fault, remarks, clean_remarks), f"{fault.about}; said: {new_remarks(remarks, clean_remarks)}"
