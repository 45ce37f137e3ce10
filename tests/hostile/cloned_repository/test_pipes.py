"""A clone in which a file that git opens is a pipe, as an archive can bring: nothing waits for what never comes."""

import os

import pytest

ADD = (
    "memory",
    "add",
    "Tabs",
    "-t",
    "project",
    "-d",
    "tabs in src/a.py",
    "-b",
    "Use tabs in `src/a.py`, not `src/gone.py`.",
)


@pytest.mark.parametrize("path", [".gitignore", ".git/index", ".git/info/exclude", "src/.gitignore", ".git/config"])
def test_verifying_ends_where_git_would_wait(place, installed, path):
    place.write("proj/src/a.py", "a = 1\n")
    place.git("init -q")
    place.git("add -A")
    place.git("commit -qm a")
    assert installed.run(*ADD)[0] == 0
    if os.path.lexists(place.path(f"proj/{path}")):
        os.unlink(place.path(f"proj/{path}"))
    os.makedirs(os.path.dirname(place.path(f"proj/{path}")), exist_ok=True)
    os.mkfifo(place.path(f"proj/{path}"))
    code, out, err = installed.run("memory", "verify")  # ended as hanging after the limit of the fixture
    assert code in (0, 1), out + err
