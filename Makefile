# Everything sets itself up: a fresh machine needs Python 3.11 (or newer), git and make.
# Another Python for .venv: make clean, then make PYTHON=/path/to/python3.11 test

SHELL := /bin/bash
export PYTHON ?=
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench faults backends test-oldest-sdk test-py312 test-py313 clean

help:  ## this list
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup:  ## the environment in .venv, as pyproject.toml wants it
	@scripts/venv .venv any torch,hdf5,bench,dev

demo: setup  ## train a small model on 2 ranks, then show its run in the terminal
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo

test: setup  ## lint, all tests in stages, and what was skipped and why
	@scripts/test lint unit backends distributed faults oldest py312 py313

lint: setup  ## ruff, mypy strict, the layers of docs/design.md
	@scripts/test lint

bench: setup  ## the figures of docs/design.md, ours against others
	@$(BIN)/python -m benchmarks

faults: setup  ## the long form of every fault: hundreds of kills and forks (FAULTS_SEED=n for another sequence)
	@LONG_FAULTS=1 $(BIN)/python -m pytest tests/faults tests/backends/test_ship_outages.py tests/backends/test_ship_open_spans.py -o timeout=900

backends: setup  ## build Jaeger, Tempo and the Collector once per user (needs Go)
	@$(BIN)/python -m tests.backends.install

test-oldest-sdk: setup  ## the unit tests on the oldest versions of the ranges in pyproject.toml
	@scripts/test oldest

test-py312: setup  ## the unit tests on Python 3.12, where there is one
	@scripts/test py312

test-py313: setup  ## the unit tests on Python 3.13, where there is one
	@scripts/test py313

clean:  ## remove what make made here
	rm -rf .venv .venv-* .venv*.lock .demo .test-results build dist *.egg-info
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
