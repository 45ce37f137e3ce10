"""Large repositories with the instruction files of a real one, to measure how long a linter takes."""

from __future__ import annotations

import os
import random
import subprocess

from drift_trees import FAST, big, path
from tests.check.fixture import Tree

NESTED, RULES, SKILLS = 30, 15, 40
SENTENCES = (
    "The handler of a request is `{symbol}` in `{file}`; it checks the account before it reads anything.",
    "Run `make test` after a change of `{file}`, and `make lint` before you commit.",
    "Settings come from `SETTING_{number}_ON`; the default is off, and `{file}` documents it.",
    "Keep functions short. A function that needs a comment in its middle is two functions.",
    "Errors are values where the caller can act on them; see `{folder}` for how that looks.",
    "Do not import `{file}` from a test: tests go through the public interface of the package.",
    "Names are words of the domain: an order, an invoice, a shipment. Abbreviations are spelled out.",
    "When `{file}` changes, the page in the manual changes in the same commit, with an example that runs.",
)
MAKEFILE = "test:\n\tpytest\n\nlint:\n\truff check .\n\nbuild:\n\tpython -m build\n"


def write_big(root: str, count: int) -> Tree:
    """A repository of this many files of code, with instruction files all over it."""
    tree = Tree(os.path.realpath(root))
    os.makedirs(tree.home)
    big(tree.repo, count)
    chance = random.Random(7)
    tree.write("CLAUDE.md", "# The repository\n\n@docs/style.md\n@docs/testing.md\n\n" + prose(chance, count, 60))
    tree.write("AGENTS.md", "# Agents\n\n" + prose(chance, count, 40))
    tree.write("docs/style.md", "# Style\n\n" + prose(chance, count, 30))
    tree.write("docs/testing.md", "# Testing\n\n" + prose(chance, count, 30))
    tree.write("Makefile", MAKEFILE)
    tree.write("package.json", '{"name": "root", "scripts": {"test": "vitest", "lint": "eslint ."}}\n')
    _write_nested(tree, chance, count)
    _write_rules(tree, chance, count)
    _write_skills(tree, chance, count)
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": tree.home, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=t", "-c", "user.email=t@t")
    for words in (["add", "-A"], ["commit", "-q", "-m", "Add instructions"]):
        subprocess.run(["git", *FAST, *who, "-C", tree.repo, *words], check=True, env=env)
    return tree


def prose(chance: random.Random, count: int, lines: int) -> str:
    """Sentences that name files which are there."""
    said = []
    for _ in range(lines):
        number = chance.randrange(20, count)  # the first twenty were moved
        file = path(number)
        names = {"symbol": f"unique_name_{number}", "file": file, "folder": os.path.dirname(file), "number": number}
        said.append("- " + chance.choice(SENTENCES).format(**names))
    return "\n".join(said) + "\n"


def _write_nested(tree: Tree, chance: random.Random, count: int) -> None:
    """Instruction files in folders of code: a CLAUDE.md, and AGENTS.md as a link to it."""
    folders = sorted({os.path.dirname(path(number)) for number in range(20, count)})
    for folder in chance.sample(folders, NESTED // 2):
        tree.write(f"{folder}/CLAUDE.md", "# This package\n\n" + prose(chance, count, 20))
        tree.link(f"{folder}/AGENTS.md", "CLAUDE.md")


def _write_rules(tree: Tree, chance: random.Random, count: int) -> None:
    for number in range(RULES):
        folder = os.path.dirname(path(chance.randrange(20, count)))
        head = f'---\npaths:\n  - "{folder}/**/*.py"\n---\n\n# Rule {number}\n\n'
        tree.write(f".claude/rules/rule-{number}.md", head + prose(chance, count, 12))


def _write_skills(tree: Tree, chance: random.Random, count: int) -> None:
    for number in range(SKILLS):
        name = f"task-{number}"
        head = f"---\nname: {name}\ndescription: Does task {number}. Use when the user asks for task {number}.\n---\n\n"
        tree.write(f".claude/skills/{name}/SKILL.md", f"{head}# Task {number}\n\n" + prose(chance, count, 25))
