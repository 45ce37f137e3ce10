"""The manual page is made from the commands, and a formatter has nothing to say about it."""

import os
import runpy
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs/foretold.1")


def test_the_manual_page_is_made_from_the_commands():
    names = runpy.run_path(os.path.join(ROOT, "docs/man.py"))
    with open(PAGE, encoding="utf-8") as file:
        assert file.read() == names["make_page"](), "run: .venv/bin/python docs/man.py"


def test_a_text_is_printed_as_it_is():
    escape = runpy.run_path(os.path.join(ROOT, "docs/man.py"))["escape"]
    assert escape(".a\n'b\nc\\d --e …") == "\\&.a\n\\&'b\nc\\ed \\-\\-e \\[u2026]"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_a_formatter_has_no_warning():
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", PAGE], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "foretold explain" in done.stdout
