"""The documents are true: their examples run, their tables are complete, their links lead somewhere."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess

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


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name: str) -> None:
    prose = re.sub(r"^```.*?^```", "", read(name), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target:
            path = os.path.join(ROOT, os.path.dirname(name), target)
            assert os.path.exists(path), f"{name} links to {target}"
