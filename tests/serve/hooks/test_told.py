"""What is kept of instructions and of memories gives the answers of the slow way."""

import pytest
from hypothesis import given, strategies as st

from foretold.memory.drift.quick_check import QuickCheck
from foretold.memory.recall.file_stamps import read_memory
from foretold.serve.hooks.events.rules_here import LoadedInstructions, WaitingRule, instructions_here, rules_for
from foretold.serve.hooks.path_index import PathIndex
from foretold.text.globs.npm_ignore import RuleIndex

PIECES = ["src", "lib", "a", "B", ".ts", ".py", "*", "**", "?", "/", "!", "[ab]", "\\*", "é", " ", "#", "{a}", "x.y"]
GLOBS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
NAMES = st.sampled_from(["src", "lib", "a", "b", "B", "x.y", "a.ts", "b.PY", "é", "{a}", "*", "#", "c d"])


@given(
    st.lists(st.lists(GLOBS, min_size=1, max_size=3), min_size=1, max_size=6), st.lists(NAMES, min_size=1, max_size=4)
)
def test_rules_are_found_as_by_the_index_of_all(globs, parts):
    rules = tuple(WaitingRule(str(number), "/top", tuple(lines), "x") for number, lines in enumerate(globs))
    told = LoadedInstructions((), (), rules, (), (), "", 0)
    inside = "/".join(parts)
    found = [int(rule.path) for rule in rules_for(told, f"/top/{inside}")]
    assert found == RuleIndex([rule.globs for rule in rules]).matching(inside)


def test_what_is_kept_is_what_a_load_gives(hooks):
    place = hooks.place
    place.write("proj/CLAUDE.md", "See @docs/a.md\n")
    place.write("proj/docs/a.md", "A.\n")
    place.write("proj/.claude/rules/ts.md", '---\npaths: ["src/**/*.{ts,js}"]\n---\nValidate.\n')
    view = place.load()
    first, second = instructions_here(hooks.hook_context("x")), instructions_here(hooks.hook_context("x"))
    assert first == second
    assert first.loaded == tuple((said["file_path"], said["load_reason"]) for said in view.loaded)
    assert [(rule.path, rule.base, rule.globs, rule.text) for rule in first.rules] == [
        (rule.entry.path, rule.base, rule.entry.globs, rule.entry.text) for rule in view.waiting
    ]
    assert (first.names[0], dict(first.triggers)["Bash"], first.restores) == ("CLAUDE.md", "command", 5)


BODIES = [
    "Nothing to look up",
    "See `src/there.py` and `src/there.py:12`.",
    "See `src/gone.py`.",
    "See `src/gone.py`, which was deleted.",
    "See `/etc/hosts` and `~/x.toml`.",
    "All of `src/*.py`, and `src/`.",
    "Use e.g. v1.2 of it.",
]


@pytest.mark.parametrize("body", BODIES)
def test_the_book_says_what_a_closer_look_says(hooks, body):
    hooks.place.write("proj/src/there.py")
    hooks.remember("project_a.md", "about it", body)
    hooks.ask("SessionStart", source="startup")
    hooks.work()
    context = hooks.hook_context("x")
    memory = read_memory(hooks.place.path(hooks.memory), "project_a.md", 0.0)
    said = PathIndex(context.ours.cache, context.key).holds(memory.digest, context.place.root)
    assert said == QuickCheck(context.place.root, context.place.verdicts)(memory)
