# Each target sets itself up in .venv: a bare clone, python3, a C++ compiler and a package index suffice.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)

.PHONY: demo test lint format bench help clean

demo: .venv/ready-demo  ## learn the strokes of handwritten digits; leaves out/demo.png
	@$(BIN)/gaussian-neurons demo

test: .venv/ready-dev  ## all tests
	@$(BIN)/python -m pytest

lint: .venv/ready-dev  ## style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/ready-dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: .venv/ready-dev  ## speed and memory beside the NumPy reference; samplers and streams
	@$(BIN)/python -m benchmarks.speed
	@$(BIN)/python -m benchmarks.streams

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; say which with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/ready-demo: .venv/bin/pip $(SOURCES)
	@echo "Setting up .venv: compiling the core takes about half a minute."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[cli]'
	@touch $@

.venv/ready-dev: .venv/bin/pip $(SOURCES)
	@echo "Setting up .venv: compiling the core takes about half a minute."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/ready-demo

help:  ## this
	@grep -E "^[a-z]+:.*##" Makefile | sed -E "s/:.*##/ /"

clean:
	rm -rf .venv build out
