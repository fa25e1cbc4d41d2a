# `make run` serves the app, `make test` checks everything; both set up what they need.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: setup run test coverage lint bench

setup: $(STAMP)

# torch comes first and alone: resolved together with the rest it would pull gigabytes of CUDA.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

run: setup
	$(BIN)/evorag serve

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict core

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# Tracing every line makes the tests a good deal slower, so it has a command of its own.
coverage: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --cov --cov-report=term:skip-covered

bench: setup
	$(BIN)/python -m benchmarks.startup --json
	$(BIN)/python -m benchmarks.latency --chunks 10000 --json
	$(BIN)/python -m benchmarks.ingest --json
	$(BIN)/python -m benchmarks.versions --json
