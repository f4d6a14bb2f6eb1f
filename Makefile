# The project's commands. `make run` and `make test` do their own set-up; README.md says more.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_FOR_TESTS := $(VENV)/.ready-for-tests
PORT ?= 8000

.PHONY: run setup stop test lint types imports migrations pytest fuzz clean

run: setup
	@$(BIN)/python manage.py serve --port $(PORT)

setup: $(READY)
	@$(BIN)/python manage.py setup

stop: $(READY)
	@$(BIN)/python manage.py stop

# This torch first: another version that would fit is a download of gigabytes.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "SPIRE needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Python's venv is missing; in Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(READY_FOR_TESTS): $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

test: lint imports types migrations pytest

lint: $(READY_FOR_TESTS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

imports: $(READY_FOR_TESTS)
	$(BIN)/lint-imports

types: $(READY_FOR_TESTS)
	$(BIN)/mypy

migrations: $(READY_FOR_TESTS)
	$(BIN)/python manage.py makemigrations --check --dry-run --settings tests.settings

pytest: $(READY_FOR_TESTS)
	$(BIN)/pytest

# Ten minutes of bytes that are hardly HTML; what fails is written to a crash-* file.
fuzz: $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[fuzz]"
	mkdir -p var/fuzz
	$(BIN)/python fuzz/fuzz_tree.py -max_total_time=600 -max_len=4000 -timeout=20 var/fuzz

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
