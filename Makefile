# `make demo`: from a fresh clone to a data set, an agent and a report. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
export DO_NOT_TRACK := 1
export HF_HUB_DISABLE_TELEMETRY := 1
.DEFAULT_GOAL := help
.PHONY: help venv demo build-all test test-fast lint format build ui repro dvc-yaml

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

venv: $(STAMP)  ## .venv with everything that constraints.txt pins

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): about three minutes"
	$(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt -e '.[dvc,rl,dev]'
	touch $@

demo: venv  ## the whole way on this machine's CPU
	$(BIN)/ops6k build --preset demo

test: venv  ## every test that needs no GPU
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not gpu"

test-fast: venv  ## the tests that take seconds
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not gpu and not slow"

lint: venv  ## ruff and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

format: venv  ## rewrite the sources as ruff wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

build: venv  ## wheel and sdist into dist/
	$(BIN)/python -m build

repro: venv  ## the stages under DVC
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro

dvc-yaml: venv  ## dvc.yaml from the table of stages
	$(BIN)/ops6k dvc-yaml

ui: venv  ## Prefect's server, pool and worker on this machine, in the foreground
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python flows/ui.py
