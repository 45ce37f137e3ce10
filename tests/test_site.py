"""The documentation as a site: every page is in its navigation, once. `make docs` builds it."""

import os
import runpy
import shutil
import subprocess

import pytest
import ryaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCS = os.path.join(ROOT, "docs")
MKDOCS = shutil.which("mkdocs", path=f"{ROOT}/.cache/docs-tool/bin:{os.environ.get('PATH', '')}")


def nav():
    with open(os.path.join(ROOT, "mkdocs.yml"), encoding="utf-8") as file:
        text = file.read().partition("\ntheme:")[0]  # what comes after has tags of mkdocs's own
    return ryaml.loads(text)["nav"]


def pages(entries):
    for each in entries:
        for inside in each.values() if isinstance(each, dict) else (each,):
            yield from pages(inside) if isinstance(inside, list) else (inside,)


def test_every_page_is_in_the_navigation_once():
    expand = runpy.run_path(os.path.join(DOCS, "site.py"))["expand"]
    there = [
        os.path.relpath(os.path.join(folder, name), DOCS)
        for folder, _, names in os.walk(DOCS)
        for name in names
        if name.endswith(".md")
    ]
    assert sorted(pages(expand(nav(), DOCS))) == sorted(there)


def test_a_folder_stands_for_its_pages(tmp_path):
    expand = runpy.run_path(os.path.join(DOCS, "site.py"))["expand"]
    (tmp_path / "rules").mkdir()
    for name in ("b.md", "README.md", "a.md", "a.py"):
        (tmp_path / "rules" / name).write_text("x")
    given = ["a.md", {"Rules": "rules/"}, {"More": ["rules/", "b.md"]}, {"None": "none/"}]
    found = ["rules/README.md", "rules/a.md", "rules/b.md"]
    assert expand(given, str(tmp_path)) == ["a.md", {"Rules": found}, {"More": [*found, "b.md"]}]


@pytest.mark.skipif(not MKDOCS, reason="mkdocs is not installed; make docs installs it")
def test_the_site_is_built_strictly(tmp_path):
    words = [MKDOCS, "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
