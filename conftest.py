"""Which tests need the frameworks: `make test` leaves them out, `make test-frameworks` runs just them."""

import os

import pytest

ROOT = os.path.dirname(os.path.abspath(__file__))
FRAMEWORKS = (
    "tests/adapters",
    "tests/test_docs_frameworks.py",
    "tests/cli/test_memory_learning.py",
    "tests/harness/test_example.py",
    "tests/hostile/mcp_client/",
    "tests/memory/recall/test_vectors.py",
    "tests/models",
    "tests/serve/install/test_install.py",
    "tests/serve/lsp/editor.py",
    "tests/serve/lsp/test_server.py",
    "tests/serve/mcp/",
    "src/foretold/adapters",
    "src/foretold/serve/lsp/server.py",
    "src/foretold/serve/mcp/server.py",
)


def pytest_addoption(parser):
    parser.addoption("--frameworks", action="store_true", help="run the tests that need frameworks, and no others")


def pytest_ignore_collect(collection_path, config):
    """Whether a file is left out. Paths on the command line are taken as they are."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or collection_path.is_dir():
        return None
    path = os.path.relpath(collection_path, ROOT)
    return path.startswith(FRAMEWORKS) != config.getoption("--frameworks") or None
