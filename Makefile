# Each target sets itself up in .venv: a bare clone, python3, a C++ compiler and a package index suffice.
PYTHON ?= python3
BIN := .venv/bin
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc 2>/dev/null || echo 2)
# Bytecode is kept, also where the environment says otherwise: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=
# Libraries that the benchmarks measure the processor's peak with; not part of an installed package.
WITH_PEAK := --config-settings=cmake.define.GAUSSIAN_NEURONS_PEAK=ON
# The tests that run the compiled core in the most ways.
NATIVE_TESTS := tests/learning tests/sampling tests/model tests/clustering
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)

.PHONY: demo live test test-lowest test-sanitized coverage fuzz lint format bench bench-quality bench-peers bench-live bench-repulsion bench-scale bench-gpu pictures wheel release-check help clean

demo: .venv/ready-demo  ## learn the strokes of handwritten digits; leaves out/demo.png
	@$(BIN)/gaussian-neurons demo

live: .venv/ready-demo  ## watch neurons learn, in the browser
	@$(BIN)/gaussian-neurons live $(OPTIONS)

test: .venv/ready-dev  ## all tests
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

test-lowest: .venv-lowest/ready  ## all tests with the lowest version of each dependency that is allowed
	@.venv-lowest/bin/python -m pytest -n 1 -W default::DeprecationWarning

test-sanitized: .venv-sanitized/ready  ## tests of the core; an invalid address or undefined behaviour ends them; OPTIONS=tests/learning
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
		.venv-sanitized/bin/python -m pytest -n auto --maxprocesses 4 --dist worksteal $(or $(OPTIONS),$(NATIVE_TESTS))

coverage: .venv-coverage/ready  ## all tests, and the branches of Python and C++ that they take; OPTIONS=tests/learning
	@find build/coverage -name '*.gcda' -delete
	@.venv-coverage/bin/python -m pytest -n auto --maxprocesses 4 --dist worksteal --cov \
		--cov-report=term:skip-covered --cov-report=html:out/coverage/python $(OPTIONS)
	@mkdir -p out/coverage/native
	@$(BIN)/gcovr --root . --filter native/ --exclude-throw-branches --exclude-unreachable-branches --merge-lines \
		--gcov-ignore-errors source_not_found --gcov-suspicious-hits-threshold 0 --txt-metric branch --txt \
		--print-summary --html-details out/coverage/native/index.html build/coverage

fuzz: .venv/ready-dev  ## random inputs against what is promised, for a minute; OPTIONS='--seconds 3600'
	@$(BIN)/python -m fuzz $(OPTIONS)

lint: .venv/ready-dev  ## style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/ready-dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

wheel: .venv/ready-dev  ## dist/: an sdist and a wheel, tried without a compiler; OPTIONS='--python python3.11 python3.13'
	@$(BIN)/python -m release.wheels $(OPTIONS)

release-check: .venv/ready-dev  ## all that a release needs; OPTIONS='--only versions claims'
	@$(BIN)/python -m release $(OPTIONS)

bench: .venv/ready-dev  ## speed and memory beside the NumPy reference; samplers, streams, automatic widths, covariances
	@$(BIN)/python -m benchmarks.speed
	@$(BIN)/python -m benchmarks.streams
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.automatic
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.rows
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.covariances

bench-scale: .venv/ready-dev  ## sweeps, threads, lists of neighbours, partitions; OPTIONS='threads --cores 16'
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.scale $(OPTIONS)

bench-gpu: .venv/ready-dev  ## learning on a GPU; needs CuPy in .venv: .venv/bin/pip install 'cupy-cuda12x[ctk]'
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.gpu $(OPTIONS)

bench-live: .venv/ready-dev  ## learning while a page shows it, beside learning without one
	@$(BIN)/python -m benchmarks.live $(OPTIONS)

bench-repulsion: .venv/ready-dev  ## what repulsion at every r-th sample changes, and saves; some minutes
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.repulsion $(OPTIONS)

# Files may also be named as goals: make bench-compare old.json new.json
NAMED := $(filter %.json,$(MAKECMDGOALS))
bench-compare: .venv/ready-dev  ## two results of bench-peers, A=old.json B=new.json: is anything slower?
	@$(BIN)/python -m benchmarks.peers.compare $(A) $(B) $(NAMED) $(OPTIONS)

.PHONY: bench-compare $(NAMED)
$(NAMED): ; @:

pictures: .venv/ready-dev  ## the pictures of docs/any-data.md, how.md and when.md
	@$(BIN)/python -m benchmarks.pictures
	@$(BIN)/python -m benchmarks.how
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.beside

.PHONY: docs clean-docs
docs: .venv-docs/ready  ## the documentation as a site, in out/site
	@.venv-docs/bin/python docs/build.py

clean: clean-docs
clean-docs:
	rm -rf .venv-docs docs/generated

bench-quality: .venv-bench/ready  ## clusters found beside other libraries, while they drift, and an ablation; OPTIONS='--only ours'
	@.venv-bench/bin/python -m benchmarks.quality $(OPTIONS)
	@.venv-bench/bin/python -m benchmarks.changes

bench-peers: .venv-peers/ready  ## what a sample costs beside other libraries, turn by turn; OPTIONS=--quick
	@.venv-peers/bin/python -m benchmarks.peers $(OPTIONS)

# The peers have environments of their own: what they ask for shall not change what is tested.
.venv/bin/pip .venv-lowest/bin/pip .venv-bench/bin/pip .venv-peers/bin/pip .venv-docs/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; say which with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(@:/bin/pip=)

.venv/ready-demo: .venv/bin/pip $(SOURCES)
	@echo "Setting up .venv: compiling the core takes about half a minute."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

.venv/ready-dev: .venv/bin/pip $(SOURCES)
	@echo "Setting up .venv: compiling the core takes about half a minute."
	@$(BIN)/pip install --quiet --disable-pip-version-check $(WITH_PEAK) --editable '.[dev]'
	@touch $@ .venv/ready-demo

.venv-lowest/ready: .venv-lowest/bin/pip $(SOURCES)
	@echo "Setting up .venv-lowest: compiling the core takes about half a minute."
	@.venv-lowest/bin/pip install --quiet --disable-pip-version-check uv
	@.venv-lowest/bin/uv pip install --quiet --python .venv-lowest --resolution lowest-direct $(WITH_PEAK) \
		--editable '.[test]'
	@touch $@

# A core that is checked while it runs; all other packages are those of .venv.
.venv-sanitized/ready .venv-coverage/ready: .venv-%/ready: .venv/ready-dev $(SOURCES)
	@echo "Setting up .venv-$*: compiling the core takes some minutes."
	@$(BIN)/python -m venv .venv-$*
	@cd .venv-$*/lib/python*/site-packages && echo $(CURDIR)/.venv/lib/python*/site-packages > dev.pth
	@.venv-$*/bin/pip install --quiet --disable-pip-version-check --no-deps --editable . \
		--config-settings=build-dir=build/$* --config-settings=cmake.build-type=Debug \
		--config-settings=cmake.define.GAUSSIAN_NEURONS_CHECK=$*
	@touch $@

.venv-bench/ready: .venv-bench/bin/pip $(SOURCES)
	@echo "Setting up .venv-bench: the core is compiled, and other libraries are fetched to compare with."
	@.venv-bench/bin/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

.venv-peers/ready: .venv-peers/bin/pip $(SOURCES)
	@echo "Setting up .venv-peers: the core is compiled, and some large libraries are fetched to compare with."
	@.venv-peers/bin/pip install --quiet --disable-pip-version-check $(WITH_PEAK) --editable '.[peers]'
	@touch $@

.venv-docs/ready: .venv-docs/bin/pip $(SOURCES)
	@echo "Setting up .venv-docs: the core is compiled, and Sphinx is fetched."
	@.venv-docs/bin/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

help:  ## this
	@grep -E "^[a-z-]+:.*##" Makefile | sed -E "s/:.*##/ /"

clean:
	rm -rf .venv .venv-* build dist out
