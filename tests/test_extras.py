"""The table of extras says what pyproject.toml says."""

import os
import tomllib

from foretold.extras import EXTRAS

PROJECT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyproject.toml")


def test_the_table_is_that_of_the_project():
    with open(PROJECT, "rb") as file:
        wanted = tomllib.load(file)["project"]["optional-dependencies"]
    assert {name: [requirement] for name, requirement in EXTRAS.items()} == wanted
