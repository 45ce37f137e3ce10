"""docs/seeds.md: no row is missing, every call that it names can be made, and every proof that it names is there.

A row is `| row | claim | heading | status | call | proof |`:

    claim     what the document says, in our words: a sentence
    heading   where the document says it
    status    same; differs because …; or not done: …
    call      what a user types, in backticks: `foretold.compat.mink.load_memory(cwd)` or `foretold show --agent mink`
    proof     `path/of/test_file.py::test_name` below tests/, or case `id` of tests/conformance; never the test that
              plays all cases, because nobody can check a row by that
"""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import typing

import pytest

import foretold
from foretold.cli import COMMANDS

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
PAGE = os.path.join(ROOT, "docs", "seeds.md")
ROWS = {"M": 53, "C": 52, "A": 50, "N": 56, "E": 22}
HEAD = "| row | claim | heading | status | call | proof |"
NONE = "–"


def lines():
    with open(PAGE, encoding="utf-8") as file:
        return file.read().splitlines()


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


ROW = [cells_of(line) for line in lines() if re.match(r"\| [A-Z]-\d\d \|", line)]
each_row = pytest.mark.parametrize("cells", ROW, ids=lambda cells: cells[0])


def cases():
    """id -> the rows that a case says it shows; recordings of agents say nothing about rows."""
    found = {}
    folder = os.path.join(TESTS, "conformance")
    for name in (name for name in os.listdir(folder) if name.endswith(".jsonl")):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found |= {case["id"]: case.get("inventory", []) for case in map(json.loads, file)}
    return found


def source_of(folder):
    text = ""
    for at, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    text += file.read()
    return text


CASES = cases()
SOURCE = source_of(os.path.join(ROOT, "src", "foretold", "cli"))


def test_no_row_is_missing():
    expected = [f"{letter}-{number:02}" for letter, count in ROWS.items() for number in range(1, count + 1)]
    assert [cells[0] for cells in ROW] == expected


def test_every_section_has_the_columns():
    assert [line for line in lines() if line.startswith("| row ")] == [HEAD] * len(ROWS)


@each_row
def test_a_row_says_what_is_claimed_where_and_how_it_stands(cells):
    assert len(cells) == 6, cells
    _, claim, heading, status, _, _ = cells
    assert len(claim.split()) >= 4, f"a claim is a sentence: {claim}"
    assert re.search(r"\w", heading)
    assert re.fullmatch(r"same|differs because \S.+|not done: \S.+", status), status


@each_row
def test_a_row_names_calls_that_can_be_made(cells):
    status, call = cells[3:5]
    calls = re.findall(r"`([^`]+)`", call)
    if not calls:
        assert status.startswith("not done: ")
        assert call == NONE
    for each in calls:
        if each == "foretold" or each.startswith("foretold "):
            check_command(each.split()[1:])
        else:
            check_expression(each)


def check_command(words):
    """The command is there, and so are its options."""
    names = [word for word in words if re.fullmatch("[a-z-]+", word) and not word.startswith("-")][:2]
    assert not names or names[0] in COMMANDS, words
    ours = words[: words.index("--")] if "--" in words else words
    assert [word for word in ours if word.startswith("-") and word.partition("=")[0] not in SOURCE] == []


def check_expression(text):
    """The dotted name is there, and takes the arguments that are given."""
    node = ast.parse(text, mode="eval").body
    call = node if isinstance(node, ast.Call) else None
    target = resolve_name(ast.unparse(call.func if call else node))
    if call is None:
        return
    assert callable(target), text
    known = inspect.signature(target).parameters
    names = {name for name, parameter in known.items() if parameter.kind is not parameter.VAR_KEYWORD}
    options = options_of(target)
    if options is not None:
        assert [word.arg for word in call.keywords if word.arg and word.arg not in names | options] == [], text
    places = [each for each in known.values() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    is_open = any(each.kind is each.VAR_POSITIONAL for each in known.values())
    assert is_open or len(call.args) <= len(places), text


def options_of(target):
    """The keywords of `**options: Unpack[…]`; None, which is any word, where only a type checker knows them."""
    for name, parameter in inspect.signature(target).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            try:
                hint = typing.get_type_hints(target.__init__ if inspect.isclass(target) else inspect.unwrap(target))[
                    name
                ]
            except NameError:
                return None
            (kind,) = typing.get_args(hint) or (hint,)
            return set(getattr(kind, "__optional_keys__", ())) | set(getattr(kind, "__required_keys__", ()))
    return set()


def resolve_name(name):
    parts = name.split(".")
    assert parts[0] == "foretold", name
    found = foretold
    for part in parts[1:]:
        found = getattr(found, part)
    return found


def names_called():
    """The dotted names of all calls, by what is before their last dot."""
    found = {}
    for cells in ROW:
        for each in re.findall(r"`([^`]+)`", cells[4]):
            if each != "foretold" and not each.startswith("foretold "):
                node = ast.parse(each, mode="eval").body
                name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
                found.setdefault(name.rpartition(".")[0], set()).add(name)
    return found


ALONE = """
import os, sys
import foretold

for line in sys.stdin.read().splitlines():
    if os.fork() == 0:
        try:
            for name in line.split():
                eval(name)
        except AttributeError as error:
            print(name, error, flush=True)
        os._exit(0)
    os.wait()
"""


def test_every_name_is_there_after_import_foretold_alone():
    """Each group of names in a process of its own, in which nothing else was imported."""
    lines = "\n".join(" ".join(sorted(names)) for names in names_called().values())
    done = subprocess.run([sys.executable, "-c", ALONE], input=lines, capture_output=True, text=True, check=True)
    assert done.stdout == ""


@each_row
def test_a_row_has_proofs_that_are_there(cells):
    _, _, _, status, _, proof = cells
    check_proofs(proof)
    if not re.search("`", proof):
        assert status.startswith("not done: ")
        assert proof == NONE


def check_proofs(proof):
    tests = re.findall(r"`([\w/]+\.py)::(test_\w+)`", proof)
    named = re.findall(r"case `([^`]+)`", proof)
    assert len(tests) + len(named) == len(re.findall(r"`[^`]+`", proof)), "a proof is a test or a case"
    assert [f"{path}::{name}" for path, name in tests if name not in names_in(path)] == []
    assert [name for name in named if name not in CASES] == []
    assert ("test_conformance.py", "test_recorded_case") not in tests, "name the cases"


def names_in(path):
    with open(os.path.join(TESTS, path), encoding="utf-8") as file:
        return {node.name for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.FunctionDef)}


def test_every_row_that_a_case_shows_names_a_proof():
    proofs = {cells[0]: cells[-1] for cells in ROW}
    shown = {row for inventory in CASES.values() for row in inventory}
    assert [row for row in sorted(shown) if "`" not in proofs[row]] == []
