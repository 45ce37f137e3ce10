"""Every code that src can emit is registered, once, with all that a page needs."""

import os
import re

import pytest

import foretold
from foretold.findings.registry import SEVERITIES, Rule, find_rule, load_families

ALL = [rule for rules in load_families().values() for rule in rules]


CODE = re.compile(r"Finding\([^\"]*\"([a-z]+(?:-[a-z0-9]+)+|credential|personal)\"")


def sources():
    """The text of every module but those of the registry."""
    for folder, _, names in os.walk(os.path.dirname(os.path.abspath(foretold.__file__))):
        for name in names:
            if name.endswith(".py") and os.path.basename(folder) != "findings":
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield file.read()


def test_every_code_in_a_call_is_registered():
    emitted = {code for text in sources() for code in CODE.findall(text)} - {"utf-8"}
    assert len(emitted) > 50
    assert emitted - {rule.code for rule in ALL} == set()


def test_every_registered_code_is_used():
    everything = "\n".join(sources())
    assert 'f"restore-{before.kind}"' in everything  # restore-folder, restore-link and restore-other
    computed = {"restore-folder", "restore-link", "restore-other"}
    assert [rule.code for rule in ALL if f'"{rule.code}"' not in everything and rule.code not in computed] == []


def test_a_code_is_registered_once_in_order():
    for rules in load_families().values():
        assert [rule.code for rule in rules] == sorted({rule.code for rule in rules})
    assert len({rule.code for rule in ALL}) == len(ALL)


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.code)
def test_an_entry_is_complete(rule):
    assert rule.severity in SEVERITIES
    assert all(rule[:6]), "a field is empty"
    assert rule.fixable in ("", "safe", "unsafe")
    assert not rule.what.endswith(".")
    assert rule.why.endswith((".", "…"))
    assert not rule.fix.endswith(".")


def test_a_code_is_found():
    assert find_rule("personal") == next(rule for rule in ALL if rule.code == "personal")
    assert isinstance(find_rule("symlink-loop"), Rule)
    assert find_rule("") is None
