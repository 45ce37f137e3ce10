"""Which commands take modules or programs from the folder they are started in."""

import pytest

from foretold.serve.install.isolation import find_loose

LOOSE = [
    "python -m foretold hook Stop",
    "python3 -m foretold hook Stop",
    "/usr/bin/python3.11 -m foretold hook Stop",
    "/usr/bin/env python3 -m foretold hook Stop",
    "env -S 'python3 -m foretold hook Stop'",
    "python3 -u -m foretold hook Stop",
    "python3 -X utf8 -m foretold hook Stop",
    "python3 -um foretold hook Stop",
    "python3 -mforetold hook Stop",
    "python3 -E -s -m foretold hook Stop",
    "python3 -m foretold.cli hook Stop",
    "python3 -m headnote hook Stop",
    "'/a b/python3' -m foretold hook Stop",
    'sh -c "python3 -m foretold hook Stop"',
    """bash -lc 'exec sh -c "python3 -m foretold hook Stop"'""",
    "uv run python -m foretold hook Stop",
    "uv run -m foretold hook Stop",
    "uv run --module foretold hook Stop",
    "uv run foretold hook Stop",
    "poetry run foretold hook Stop",
    "timeout 5 python3 -m foretold hook Stop",
    "PYTHONSAFEPATH= python3 -m foretold hook Stop",
    "python3 -c 'from foretold.cli import run; run()' hook Stop",
    "PYTHONPATH=. foretold hook Stop",
    "PYTHONPATH=/a::/b foretold hook Stop",
    ".venv/bin/foretold hook Stop",
    "./foretold hook Stop",
    "python3 -m foretold hook Stop || true",
]
SAFE = [
    "foretold hook Stop",
    "/home/me/.local/bin/foretold hook Stop",
    "python3 -I -m foretold hook Stop",
    "python3 -P -m foretold hook Stop",
    "python3 -IXutf8 -m foretold hook Stop",
    "python3 -Im foretold hook Stop",
    "/usr/bin/python3 -E -P /home/me/.local/bin/foretold hook Stop",
    "PYTHONSAFEPATH=1 python3 -m foretold hook Stop",
    "python3 -I -c 'from foretold.cli import run; run()' hook Stop",
    "uvx --from 'foretold[mcp]' foretold hook Stop",
    "~/.local/bin/foretold hook Stop",
    "$HOME/.local/bin/foretold hook Stop",
    "uv run --no-project foretold hook Stop",
    "python3 -m pip install foretold",
    "python3 -m other hook Stop",
    "echo foretold",
    "grep -m foretold2 x",
    "'",
    "",
]


@pytest.mark.parametrize("line", LOOSE)
def test_a_command_that_is_not_isolated_is_recognised(line):
    found = find_loose(line)
    assert found is not None
    assert (found.words, found.is_alone) == (("hook", "Stop"), True)


@pytest.mark.parametrize("line", SAFE)
def test_one_that_is_isolated_is_not(line):
    assert find_loose(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "cd /srv && python3 -m foretold hook Stop",
        "python3 -m foretold hook Stop; say done",
        "sh -c 'python3 -m foretold hook Stop & say done'",
        "say done\npython3 -m foretold hook Stop",
    ],
)
def test_a_line_that_does_more_is_recognised_but_not_replaced(line):
    found = find_loose(line)
    assert found is not None
    assert not found.is_alone


def test_words_and_variables_of_a_server():
    assert find_loose(["python3", "-m", "foretold", "mcp"]).words == ("mcp",)
    assert find_loose(["foretold", "mcp"], {"PYTHONPATH": "src"}).words == ("mcp",)
    assert find_loose(["foretold", "mcp"], {"PYTHONPATH": "/src"}) is None
    assert find_loose(["python3", "-I", "-m", "foretold", "mcp"], {}) is None
    assert [find_loose(value) for value in (None, 5, {}, [])] == [None] * 4


@pytest.mark.parametrize(
    "line",
    [
        "$CLAUDE_PROJECT_DIR/.venv/bin/foretold hook Stop",
        '"$CLAUDE_PROJECT_DIR"/.venv/bin/foretold hook Stop',
        "${PWD}/bin/foretold hook Stop",
        ".venv/bin/python -I -m foretold hook Stop",
        "$PWD/.venv/bin/python3 -I -m foretold hook Stop",
        "PYTHONPATH=$PWD foretold hook Stop",
        "PYTHONHOME=. foretold hook Stop",
        "PATH=.venv/bin:$PATH foretold hook Stop",
        ". .venv/bin/activate && foretold hook Stop",
        "source .venv/bin/activate; foretold hook Stop",
        "uv --quiet run foretold hook Stop",
        "poetry -q run foretold hook Stop",
        "uvx --from . foretold hook Stop",
        "pipx run --spec . foretold hook Stop",
        "pipx run --spec=./x foretold hook Stop",
        "python3 -m runpy foretold hook Stop",
        "python3 -c \"__import__('foretold.cli').cli.run()\" hook Stop",
        'eval "python3 -m" foretold hook Stop',
    ],
)
def test_what_means_the_project_is_not_isolated(line):
    found = find_loose(line)
    assert found is not None
    assert found.words == ("hook", "Stop")


@pytest.mark.parametrize(
    "line",
    [
        "$HOME/.local/bin/foretold hook Stop",
        "${HOME}/.venv/bin/python -I -m foretold hook Stop",
        "PATH=$HOME/.local/bin:$PATH foretold hook Stop",
        "uvx --from foretold foretold hook Stop",
        "pipx run --spec foretold foretold hook Stop",
        ". ~/.venv/bin/activate && foretold hook Stop",
    ],
)
def test_what_means_the_home_is_isolated(line):
    assert find_loose(line) is None


@pytest.mark.parametrize(
    ("name", "value"), [("PYTHONPATH", "${workspaceFolder}"), ("PYTHONPATH", "$PWD"), ("PATH", ".:/bin")]
)
def test_variables_of_a_server_that_mean_the_project(name, value):
    assert find_loose(["foretold", "mcp"], {name: value}).words == ("mcp",)
    assert find_loose(["foretold", "mcp"], {"PATH": "/usr/bin:/bin"}) is None
