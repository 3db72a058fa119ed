# Every target sets up what it needs: nothing but Python 3.11 or newer, git and make has to be there.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := bash
# Compiling six hundred modules at each start would take a fifth of the tests' time.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
READY := .venv/.ready
# Three workers suit two cores: tests wait for brokers and for Spark a third of their time. Each
# worker starts a broker, and a file's broker tests share it. Groups start in the order of
# tests/conftest.py, the long ones first.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadgroup --no-loadscope-reorder

.PHONY: help
help: ## This list
	@echo "make <target>, each of which sets up what it needs:"
	@sed -n -E 's/^([a-z]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: demo
demo: $(READY) ## See what it does: the main job, on the template and the embedded registry
	@scripts/demo

.PHONY: setup
setup: $(READY) ## The virtual environment .venv, with everything in it

.PHONY: test
test: lint java ## Everything: style, types, layers, all tests, also with a real Pulsar broker
	@echo "tests"
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(PYTEST)

# Not the types, which take mypy long without a cache, and nothing slow: `make test` has both.
# Handed out by the file: a test at a time costs a fifth of the minute, and nothing here is grouped.
.PHONY: quick
quick: style ## Under a minute: style, layers, and the unit tests that are fast
	@echo "fast unit tests"
	@HYPOTHESIS_PROFILE=quick $(PYTEST) -n 2 --dist loadfile --quiet -m "not broker and not slow" tests/unit tests/architecture

.PHONY: pythons
pythons: $(READY) ## Rule cases, recorded decisions and commands, on every other Python from 3.11 on
	@scripts/test-pythons

.PHONY: lint
lint: style ## Style, layers, types, and GitHub's workflows
	@echo "types"
	@$(BIN)/mypy --no-error-summary
	@echo "workflows"
	@scripts/setup-actionlint
	@scripts/lint-workflows

# No line of the list: `lint` and `quick` begin with it.
.PHONY: style
style: $(READY)
	@echo "style"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@echo "layers"
	@$(BIN)/lint-imports --no-logo

.PHONY: format
format: $(READY) ## Bring the code into its canonical form
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

.PHONY: bench
bench: $(READY) ## Measure, and print the figures
	@set -e; for each in benchmarks/bench_*.py; do echo "$$each"; $(BIN)/python "$$each"; done

.PHONY: clean
clean: ## Remove what the targets made
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What the tests with a real broker need; they are skipped, with a reason, where it cannot be had.
.PHONY: java
java:
	@scripts/setup-java

$(READY): pyproject.toml constraints.txt scripts/setup gitops/__init__.py
	@echo "set-up"
	@scripts/setup
	@touch $@
