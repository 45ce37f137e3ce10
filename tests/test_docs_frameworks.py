"""Examples in the documentation that need the packages of model vendors: they run, too."""

import doctest
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.mark.parametrize("name", ["docs/library.md", "docs/harness.md"])
def test_examples_run(name: str) -> None:
    failed, tried = doctest.testfile(os.path.join(ROOT, name), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0
