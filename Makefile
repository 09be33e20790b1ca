# Everything runs in .venv and is made from nothing: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
SHARED := $(abspath ../shared)

# Real data and golden streams are used where they lie beside the checkout.
ifneq ($(wildcard $(SHARED)/data),)
export HINGED_DATA ?= $(SHARED)/data
endif
ifneq ($(wildcard $(SHARED)/checks/vectors.py),)
export HINGED_CHECKS ?= $(SHARED)/checks
endif

# Folders without compiled code; edits of the others may leave something to compile.
PLAIN := cli client experiments files http journal mail service
SOURCES := $(shell find src -name '*.py' $(PLAIN:%=-not -path '*/hinged/%/*'))

# Programs that tests run for real. Where they cannot be installed, tests that need them skip by name.
PROGRAMS := /usr/sbin/dovecot /usr/bin/openssl /usr/bin/chromium
PACKAGES := dovecot-imapd openssl chromium

.PHONY: help install wheel demo system-packages test test-bounds-labels test-bounds-others test-uncompiled test-vectors test-oldest test-wheel test-long lint docs bench reproduce clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[all,test,lint]"
	@touch $@

$(VENV)/.warm: $(VENV)/.installed $(SOURCES)
	$(BIN)/hinged warm-up
	@touch $@

install: $(VENV)/.warm ## make .venv, install everything, compile the loops

# Machine code for each level in a folder of its own, then a wheel with all of them. What is packed was compiled just now.
CODE := build/machine_code

wheel: $(VENV)/.installed ## a wheel that carries machine code for this Python and platform, in dist/
	rm -rf $(CODE) dist
	for level in $$($(BIN)/python -c "from hinged.compiling.levels import levels_here; print(*levels_here())"); do \
		echo "compiling for $$level"; \
		NUMBA_CPU_NAME=$$level NUMBA_CPU_FEATURES= NUMBA_CACHE_DIR=$(abspath $(CODE))/$$level $(BIN)/hinged warm-up || exit 1; \
	done
	HINGED_MACHINE_CODE=$(abspath $(CODE)) $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# The demo needs neither what tests need nor all loops; it compiles its own.
$(VENV)/.demo: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -e $(VENV)/.installed || $(BIN)/pip install --quiet --editable ".[plot]"
	@touch $@

demo: $(VENV)/.demo ## learn a generated mail stream by several rules; table, picture, report
	$(BIN)/hinged demo

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# RUNLEVEL=1 asks Debian not to start what it installs.
system-packages: ## install the programs that tests run for real (Debian packages; needs root, or sudo without a password)
	@if ! ls $(PROGRAMS) > /dev/null 2>&1 && command -v apt-get > /dev/null; then \
		if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; \
		echo "installing $(PACKAGES)"; \
		$$as apt-get -qq update && $$as env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
			apt-get -qq install --no-install-recommends $(PACKAGES) > /dev/null; \
	fi || true
	@ls $(PROGRAMS) > /dev/null 2>&1 || echo "$(PACKAGES) could not be installed; tests that need them are skipped"

test: $(VENV)/.installed ## the whole suite: compiled, bounds-checked, uncompiled, golden streams
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target install system-packages lint
	$(BIN)/python -m pytest -n 2 --dist worksteal
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-bounds-labels test-bounds-others test-uncompiled test-vectors

# These take a core each, side by side: the first as long as all others. What looks for reads out of bounds need not be fast,
# so it is compiled sooner; what the others store is there by the time that readers beside a writer need it.
BOUNDS := NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 $(BIN)/python -m pytest

test-bounds-labels:
	$(BOUNDS) tests/test_theorems.py
	$(BOUNDS) tests/estimators/test_concurrency.py -k "not dicts"

test-bounds-others:
	$(BOUNDS) --ignore=tests/loops/test_compile_once.py tests/native tests/loops tests/text tests/io/examples/test_against_twins.py tests/io/examples/test_chunks.py

# Only compiled loops run beside each other, so readers beside a writer are left to the compiled runs. What follows
# the guide to adding a rule runs its processes uncompiled either way.
test-uncompiled:
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -k "not beside_a_writer" --ignore=tests/loops/test_compile_once.py --ignore=tests/rules/test_adding_a_rule.py tests/native tests/loops tests/rules tests/sharing tests/text

# Golden streams, where they lie beside the checkout.
test-vectors:
ifdef HINGED_CHECKS
	@$(BIN)/python $(HINGED_CHECKS)/vectors.py all > $(VENV)/vectors.txt || { grep -v '^ok' $(VENV)/vectors.txt; exit 1; }
	@echo "golden streams: $$(tail -n 1 $(VENV)/vectors.txt)"
endif

# In an environment with nothing but the wheel and what it requires.
test-wheel: wheel ## install the wheel as a newcomer would; nothing is compiled, and all levels give the same bits
	rm -rf build/packages
	$(BIN)/pip download --quiet --dest build/packages dist/*.whl
	rm build/packages/hinged-*
	$(BIN)/python tests/wheel/check.py dist/*.whl build/packages

# The oldest packages that pyproject.toml allows, in an environment of their own: a floor that is too low fails here.
test-oldest: ## commands, examples and estimators with the oldest packages that the metadata allows
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[all]"
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python "pytest>=8.2" "hypothesis>=6.100" "polars>=1.0"
	NUMBA_DISABLE_JIT=1 $(OLDEST)/bin/python -m pytest -W default -p no:cacheprovider tests/cli/test_options.py tests/cli/test_learn.py src/hinged/cli src/hinged/io src/hinged/service src/hinged/mail src/hinged/evaluate src/hinged/files
	$(OLDEST)/bin/python -m pytest -W default -p no:cacheprovider tests/compiling tests/native src/hinged/estimators

test-long: install system-packages ## more random streams, kills and damaged files; about an hour
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n 2 --dist worksteal tests

docs: install ## make the pictures of the documentation and check that every name in it exists
	$(BIN)/python docs/make_figures.py
	$(BIN)/python -m pytest tests/test_docs.py

bench: install ## time and mistakes beside scikit-learn, River and Vowpal Wabbit; writes docs/speed.md
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks --page docs/speed.md

reproduce: install ## the experiments of the papers, run again; a report, JSON, and docs/results.md
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python -m studies
	cp hinged-results/results.md docs/results.md

clean: ## remove everything that was made
	rm -rf $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis hinged-demo hinged-results build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
