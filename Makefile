# Two commands do everything on a fresh machine with nothing but Python and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
FRAMEWORKS := .venv/.frameworks
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# the tool of the site has an environment of its own: what it needs contradicts what frameworks need
DOCS := .cache/docs-tool
MKDOCS := NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet

.PHONY: setup demo test test-frameworks hostile matrix check docs integrations bench live atlas torture clean

setup: $(READY)

$(READY): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "foretold needs Python 3.11 or later")'
	@$(PYTHON) -m venv .venv || (echo "make: this Python cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1)
	@echo "installing what foretold needs into .venv"
	@$(PIP) -r requirements-dev.txt
	@$(PIP) --no-build-isolation --no-deps -e .
	@$(BIN)/python -m compileall -q src
	@touch $(READY)

# the frameworks that adapters are tested against, the SDKs of models, MCP and vectors: not needed for anything else
$(FRAMEWORKS): $(READY) requirements-frameworks.txt
	@echo "installing the frameworks into .venv"
	@$(PIP) -r requirements-frameworks.txt
	@touch $(FRAMEWORKS)

demo: $(READY)
	@$(BIN)/python sample/demo.py

# everything but the frameworks
test: $(READY)
	$(BIN)/python -m pytest -n 2

# adapters, model clients, the MCP server and vectors, with their real packages
test-frameworks: $(FRAMEWORKS)
	$(BIN)/python -m pytest -n 2 --frameworks

# the attacks, as this user and, if that is root, once more as a user without rights: permission bits prove nothing to root
hostile: $(FRAMEWORKS)
	$(BIN)/python -m pytest tests/hostile
	$(BIN)/python tests/system/unprivileged.py

# `make test` on every Python that is claimed and found on this machine; ONLY=3.12 tries one
matrix:
	$(PYTHON) tests/system/matrix.py $(ONLY)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_imports.py
	$(BIN)/foretold check --no-home .
	@if [ -e $(DOCS)/.ready ]; then echo "$(MKDOCS)"; $(MKDOCS); \
	else echo "the site was not built: its tool is not installed; make docs installs it"; fi

# the documentation as a site, in .cache/site: every page in the navigation, every link leads somewhere
docs: $(DOCS)/.ready
	$(MKDOCS)

$(DOCS)/.ready: requirements-docs.txt
	@$(PYTHON) -m venv $(DOCS)
	@echo "installing the tool of the site into $(DOCS)"
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $(DOCS)/.ready

# SARIF with the official validator from npm, the hook with the real pre-commit; each says why, if it cannot be had
integrations: $(READY)
	$(BIN)/python tests/system/sarif.py
	$(BIN)/python tests/system/pre_commit.py

bench: $(READY)
	$(BIN)/python bench/load.py

# not part of `make test`: proves for ten minutes that the store of memories loses nothing; MINUTES=60 is longer
torture: $(READY)
	$(BIN)/python tests/system/torture.py --minutes $(or $(MINUTES),10)

# not part of `make test`: installs agents from npm outside of the repository; FULL=1 plays every case
live: $(FRAMEWORKS)
	$(BIN)/python tests/system/live.py

# not part of `make test`: plays all cases to the releases of agents that were not played yet, and writes docs/releases.md;
# NEW=claude-code@2.1.330 looks at one, and says since when it differs. Installs from npm outside of the repository
atlas: $(READY)
	$(BIN)/python tests/system/atlas.py $(if $(NEW),--verify $(NEW))

clean:
	rm -rf .venv .cache
