# Two commands do everything on a fresh machine with nothing but Python and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
ADAPTED := .venv/.adapted

.PHONY: setup demo test check bench live torture clean

setup: $(READY)

$(READY): requirements-dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "foretold needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	$(BIN)/python -m compileall -q src
	touch $(READY)

# the frameworks that adapters are tested against, and the SDKs of models: not needed for anything else
$(ADAPTED): $(READY) requirements-adapters.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-adapters.txt
	touch $(ADAPTED)

demo: $(READY)
	@$(BIN)/python sample/demo.py

test: $(ADAPTED)
	$(BIN)/python -m pytest -n 2

check: $(ADAPTED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_imports.py

bench: $(READY)
	$(BIN)/python bench/load.py

# not part of `make test`: proves for ten minutes that the store of memories loses nothing; MINUTES=60 is longer
torture: $(READY)
	$(BIN)/python tests/system/torture.py --minutes $(or $(MINUTES),10)

# not part of `make test`: installs agents from npm outside of the repository; FULL=1 plays every case
live: $(ADAPTED)
	$(BIN)/python tests/system/live.py

clean:
	rm -rf .venv .cache
