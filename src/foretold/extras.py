"""Packages that only a part of foretold needs: the extras of `pyproject.toml`, and what to say where one is missing."""

from __future__ import annotations

import shlex
import sys

from foretold.errors import ExtraMissing

#: extra -> what it installs; a test keeps this equal to `pyproject.toml`
EXTRAS = {
    "anthropic": "anthropic>=2.8,<3",
    "claude-agent-sdk": "claude-agent-sdk>=0.2.182,<0.3",
    "deepagents": "deepagents>=0.7.32,<0.8",
    "google-adk": "google-adk>=2.13,<3",
    "langchain": "langchain>=1.4,<2",
    "litellm": "litellm>=1.83,<2",
    "mcp": "mcp>=2.3,<3",
    "openai": "openai>=3.49,<4",
    "openai-agents": "openai-agents>=0.24,<0.25",
    "pydantic-ai": "pydantic-ai-slim>=2.66,<3",
    "secrets": "bc-detect-secrets>=1.5.52,<1.6",
    "vectors": "wordllama>=0.4,<0.5",
}


def how_to_install(extra: str) -> str:
    """The command that brings an extra into the environment of this Python, wherever foretold came from.

    >>> how_to_install("mcp").removeprefix(shlex.quote(sys.executable))
    " -m pip install 'mcp>=2.3,<3'"
    """
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(EXTRAS[extra])}"


def missing(what: str, extra: str) -> ExtraMissing:
    """The error for a part that needs an extra.

    >>> str(missing("foretold mcp", "mcp")).startswith("foretold mcp needs a package that is not installed: ")
    True
    """
    return ExtraMissing(f"{what} needs a package that is not installed: {how_to_install(extra)}")
