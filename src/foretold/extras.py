"""Optional dependencies (the extras of `pyproject.toml`), and the commands that install them or foretold itself.

1. A command must fit the way this foretold was installed. An installer writes `direct_url.json` next to a package's
   metadata if the package came from a path, an archive or a repository; then the command names that place. Without
   it, the package came from an index, and its name is enough. So no command can fetch a package of another origin.
2. Environments of `uv tool` and `pipx` have no pip of their own: their own commands add a package.
"""

from __future__ import annotations

import os
import shlex
import sys

from foretold.errors import ExtraMissing

NAME = "foretold"
#: extra -> what it installs; a test keeps this equal to `pyproject.toml`
EXTRAS = {
    "anthropic": "anthropic>=2.8,<3",
    "claude-agent-sdk": "claude-agent-sdk>=0.2.182,<0.3",
    "deepagents": "deepagents>=0.7.32,<0.8",
    "google-adk": "google-adk>=2.13,<3",
    "langchain": "langchain>=1.4,<2",
    "litellm": "litellm>=1.83,<2",
    "lsp": "pygls>=2.1,<3",
    "mcp": "mcp>=2.3,<3",
    "openai": "openai>=3.49,<4",
    "openai-agents": "openai-agents>=0.24,<0.25",
    "pydantic-ai": "pydantic-ai-slim>=2.66,<3",
    "vectors": "wordllama>=0.4,<0.5",
}
#: a part of an interpreter's path -> the command that adds a package to its environment
ADDING = {
    "/uv/tools/": "uv tool install --with {package} {requirement}",
    "/pipx/venvs/": "pipx inject foretold {package}",
    "": "{python} -m pip install {package}",
}


def how_to_install(extra: str, python: str = sys.executable) -> str:
    """The command that adds the package of an extra to the environment of a Python.

    >>> how_to_install("mcp", "/opt/venv/bin/python")
    "/opt/venv/bin/python -m pip install 'mcp>=2.3,<3'"
    >>> how_to_install("mcp", "/home/me/.local/share/pipx/venvs/foretold/bin/python")
    "pipx inject foretold 'mcp>=2.3,<3'"
    """
    command = next(command for mark, command in ADDING.items() if mark in python)
    words = {"python": python, "package": EXTRAS[extra]}
    if "{requirement}" in command:
        words["requirement"] = requirement_of(python)
    return command.format(**{name: shlex.quote(word) for name, word in words.items()})


def missing(what: str, extra: str) -> ExtraMissing:
    """The error for a part that needs an extra.

    >>> str(missing("foretold mcp", "mcp")).startswith("foretold mcp needs a package that is not installed: ")
    True
    """
    return ExtraMissing(f"{what} needs a package that is not installed: {how_to_install(extra)}")


def requirement_of(python: str = sys.executable, extra: str = "") -> str:
    """What to give to an installer so that it installs the foretold of a Python again, from the same origin."""
    import json

    name = f"{NAME}[{extra}]" if extra else NAME
    try:
        origin = json.loads(_direct_url(python))
        url, vcs = str(origin["url"]), origin.get("vcs_info") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return name
    if vcs:
        url = f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('requested_revision') or vcs.get('commit_id')}"
    subfolder = origin.get("subdirectory")
    return f"{name} @ {url}" + (f"#subdirectory={subfolder}" if subfolder else "")


def _direct_url(python: str) -> str:
    """The text of `direct_url.json` in the environment of a Python; empty if there is none."""
    for folder in package_folders(os.path.dirname(os.path.dirname(python))):
        for entry in names_in(folder):
            if entry.startswith(f"{NAME}-") and entry.endswith(".dist-info"):
                try:
                    with open(os.path.join(folder, entry, "direct_url.json"), encoding="utf-8") as file:
                        return file.read()
                except OSError:
                    return ""
    from importlib.metadata import PackageNotFoundError, distribution

    try:  # that Python has none: the one that runs knows where to get it
        return distribution(NAME).read_text("direct_url.json") or ""
    except PackageNotFoundError:  # run from a source tree
        return _tree_url()


def _tree_url() -> str:
    """As `direct_url.json` would name the source tree that this file is in; empty if it is in none."""
    import json
    from urllib.parse import quote

    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return json.dumps({"url": f"file://{quote(top)}"}) if os.path.isfile(f"{top}/pyproject.toml") else ""


def package_folders(prefix: str) -> list[str]:
    """The folders with the packages of a virtual environment."""
    lib = os.path.join(prefix, "lib")
    return [os.path.join(lib, name, "site-packages") for name in names_in(lib) if name.startswith("python")]


def names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
