"""Several faults in one tree, seeded: what is fixed is gone, agents are given what was announced, undo restores all."""

import os
import random

import pytest
from tests.check.fixture import FAULTS, build, plant

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.delivered import map_deliveries
from foretold.check.diff.change import compare_projects
from foretold.check.fix import plan_fixes, undo_fixes, write_fixes
from foretold.check.fix.patch import render_patch
from foretold.check.fix.write import open_undo
from foretold.check.settings import CheckSettings

from .fixing import snapshot

TREES = 16
LIKELY = [fault for fault in FAULTS if fault.family in ("delivery", "schema")]  #: of which most fixes are


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return build(str(tmp_path_factory.mktemp("combined") / "clean"))


def combine(seed, clean, folder):
    """A tree with some faults that can be together, the same ones for a seed; odd modes and owners."""
    chance = random.Random(seed)
    first, *others = chance.sample(LIKELY, chance.randint(10, 20))
    tree, planted = plant(first, clean, folder), [first.id]
    for fault in others:
        try:
            fault.change(tree)
        except (OSError, AssertionError, ValueError):
            continue  # another fault has taken away what it changes
        planted.append(fault.id)
    for path in sorted(path for path in snapshot(tree.repo) if "/.git/" not in path and path.endswith(".md")):
        if os.path.isfile(path) and not os.path.islink(path):
            os.chmod(path, chance.choice([0o644, 0o640, 0o600, 0o755]))
            if os.geteuid() == 0:
                os.chown(path, chance.choice([0, 1234]), chance.choice([0, 5678]))
    return tree, planted


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("seed", range(TREES))
def test_several_faults_in_one_tree(seed, unsafe, clean, tmp_path):
    tree, planted = combine(seed, clean, str(tmp_path / "tree"))
    assert planted
    options, settings = CheckOptions(home=tree.home), CheckSettings()
    project = Project(tree.repo, options)
    before, report = snapshot(tree.repo), check_tree(project)
    found = plan_fixes(report, settings, unsafe=unsafe)
    undo = open_undo(str(tmp_path), {})
    write_fixes(found, undo)
    after, fixed = snapshot(tree.repo), Project(tree.repo, options)

    # exactly the files of the plan have changed, and of these only the text or the name
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path) and "/.git/" not in path}
    assert {path for path in changed if not os.path.isdir(path)} == {*found.changes}
    for path in changed:
        old = found.origins.get(path, path)
        assert path not in after or old not in before or after[path][1:] == before[old][1:]

    # agents are given what was announced, and what is left is what was found before
    assert map_deliveries(fixed) == map_deliveries(found.after)
    _, deliveries, cuts = compare_projects(project, fixed, every=True)
    announced = {(each.agent, each.path) for fix in found.fixes for each in fix.deliveries}
    assert {(each.agent, each.path) for each in deliveries} <= announced
    assert not any(cut.is_worse for cut in cuts)
    serious = [each for each in check_tree(fixed).findings if each.severity != "note"]
    assert {(each.path, each.line, each.code) for each in serious} == {
        (each.path, each.line, each.code) for each in found.left if each.severity != "note"
    }
    assert plan_fixes(check_tree(fixed), settings, unsafe=unsafe).changes == {}
    assert bool(render_patch(found)) == bool(found.changes)

    if found.changes:
        undo_fixes(tree.repo, undo)
    assert snapshot(tree.repo) == before
