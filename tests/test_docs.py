"""The documents are true: their examples run, their tables are complete, their links lead somewhere."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys

import pytest

from foretold.types import REASONS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True
    )
    names = listed.stdout.split()
    assert names, "git lists no documents"
    return [name for name in names if not name.startswith(("sample/", "tests/"))]


def read(name: str) -> str:
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


COMPAT = [name for name in pages() if name.startswith("docs/compat/")]
EXAMPLES = (
    "README.md",
    "docs/memory.md",
    "docs/context.md",
    "docs/files.md",
    "docs/sessions.md",
    "docs/extraction.md",
    "docs/upgrade.md",
    "docs/formats/permissions.md",
    *COMPAT,
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    failed, tried = doctest.testfile(os.path.join(ROOT, name), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


def codes_in(name: str) -> set[str]:
    return set(re.findall(r"^\| `([a-z-]+)` \|", read(name), re.MULTILINE))


def test_every_reason_is_documented() -> None:
    assert codes_in("docs/reasons.md") == set(REASONS)


def test_the_page_of_findings_is_made_from_the_registry() -> None:
    names = runpy.run_path(os.path.join(ROOT, "docs/findings.py"))
    assert read("docs/findings.md") == names["make_page"](), "run: .venv/bin/python docs/findings.py"


def test_the_pages_of_rules_are_made_from_the_registry() -> None:
    names = runpy.run_path(os.path.join(ROOT, "docs/rules.py"))
    pages = {name: read(f"docs/rules/{name}") for name in os.listdir(os.path.join(ROOT, "docs/rules"))}
    assert pages == names["make_pages"](), "run: .venv/bin/python docs/rules.py"


def test_the_reference_is_made_from_the_code() -> None:
    names = runpy.run_path(os.path.join(ROOT, "docs/api.py"))
    assert read("docs/api.md") == names["make_page"](), "run: .venv/bin/python docs/api.py"


def test_the_map_is_made_from_the_modules() -> None:
    names = runpy.run_path(os.path.join(ROOT, "docs/architecture.py"))
    page = read("docs/architecture.md")
    assert page == names["make_page"](page), "run: .venv/bin/python docs/architecture.py"
    assert read("docs/rooms.svg") == names["draw"]()


def test_every_module_that_a_page_names_exists() -> None:
    """Paths in backticks of the architecture page, with or without the room above them."""
    modules = {
        os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "src/foretold"))
        for folder, _, names in os.walk(os.path.join(ROOT, "src/foretold"))
        for name in names
    }
    prose = read("docs/architecture.md").partition("## The map")[0]
    named = {path.removeprefix("foretold/") for path in re.findall(r"`([a-z_/]+\.py)`", prose)}
    named = {path for path in named if not path.startswith(("tests/", "docs/"))}
    missing = {path for path in named if not any(module == path or module.endswith(f"/{path}") for module in modules)}
    assert missing == set()


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name: str) -> None:
    prose = re.sub(r"^```.*?^```", "", read(name), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target:
            path = os.path.join(ROOT, os.path.dirname(name), target)
            assert os.path.exists(path), f"{name} links to {target}"


def test_the_readme_shows_what_the_command_prints(tmp_path) -> None:
    demo = runpy.run_path(os.path.join(ROOT, "sample/demo.py"))
    demo["stage"](str(tmp_path))
    command, printed = re.search(r"```console\n\$ foretold (.*)((?:\n.*)*?)\n```", read("README.md")).group(1, 2)
    words = [sys.executable, "-m", "foretold", *command.split(), *demo["places"](str(tmp_path))]
    done = subprocess.run(words, env=demo["surroundings"](str(tmp_path)), capture_output=True, text=True)
    assert done.stdout.replace(str(tmp_path), "/tmp/bakery").strip() == printed.strip()
