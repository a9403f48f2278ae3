# Everything that a person does with a checkout. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV ?= uv
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet --no-input
PYTEST := $(BIN)/python -m pytest
# Parallel workers of the test runs; `make test JOBS=0` runs in one process.
JOBS ?= 2
PYTEST_ARGS ?=
# Further options of `make faults`, such as `--only html502,sso --seed 7`.
FAULTS_ARGS ?=
SPREAD := -n $(JOBS) --dist loadgroup
RUN_STATE := .state/run
BASH_PROGRAM := $(SHELL) $(.SHELLFLAGS)
PINNED := --universal --generate-hashes --no-header --python-version 3.11

.PHONY: help setup setup-dev run test check fix docs contract e2e load faults bench \
	bench-all coverage lock clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile \
	  | while IFS='|' read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done

run: $(VENV)/.installed ## watch PR=<url> once with a token in GITHUB_TOKEN or GH_TOKEN, else play the demo
	@$(BASH_PROGRAM) "$$RUN_ONCE" run

test: $(VENV)/.installed-dev ## run the quick test suite; needs no service
	$(PYTEST) -q $(SPREAD) -m "not slow" $(PYTEST_ARGS)

check: $(VENV)/.installed-dev ## format, lint, types, layers, dependencies, spelling and docs, as CI does
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry . --known-first-party prwatch \
	  --extend-exclude benchmarks --extend-exclude noxfile.py
	$(BIN)/codespell --skip './requirements*.txt,./tests/samples'
	$(MAKE) --no-print-directory docs

fix: $(VENV)/.installed-dev ## format, and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed-dev ## compare the documentation with the code
	$(PYTEST) -q tests/test_docs.py $(PYTEST_ARGS)

contract: $(VENV)/.installed-dev ## run the contract suites on every backend that answers
	$(PYTEST) -q tests/contract $(PYTEST_ARGS)

e2e: $(VENV)/.installed-dev ## run the program as a process against the simulated GitHub
	$(PYTEST) -q -m e2e $(PYTEST_ARGS)

load: $(VENV)/.installed-dev ## run the load and soak tests and print what each cycle cost
	$(PYTEST) -q -s -m slow $(PYTEST_ARGS)

faults: $(VENV)/.installed-dev ## play all faults of the simulated GitHub and all pairs, and print what each cost
	$(BIN)/python -m tests.fault.matrix --jobs $(JOBS) $(FAULTS_ARGS)

bench: $(VENV)/.installed-bench ## run the quick benchmarks (minutes) and print their ratios
	$(BIN)/python -m benchmarks

bench-all: $(VENV)/.installed-bench ## run every benchmark, up to 100,000 watches (20 minutes)
	$(BIN)/python -m benchmarks --all

coverage: $(VENV)/.installed-dev ## run the quick suite and hold branch coverage: 95 % overall, 100 % in prwatch/domain
	$(MAKE) --no-print-directory test PYTEST_ARGS="--cov --cov-report= $(PYTEST_ARGS)"
	$(BIN)/coverage report --fail-under=100 --include='prwatch/domain/*'
	$(BIN)/coverage report --fail-under=95

lock: ## pin the dependencies again, with hashes (needs uv)
	$(UV) pip compile -q $(PINNED) --all-extras --group build pyproject.toml -o requirements.txt
	$(UV) pip compile -q $(PINNED) --all-extras --group dev pyproject.toml -o requirements-dev.txt
	$(UV) pip compile -q $(PINNED) --all-extras --group bench -c requirements-dev.txt pyproject.toml -o requirements-bench.txt

clean: ## remove the environment, caches and the state of `make run`
	rm -rf $(VENV) .state dist build htmlcov .coverage* .mypy_cache .ruff_cache \
	  .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(VENV)/.installed ## make the environment with what the program needs

setup-dev: $(VENV)/.installed-dev ## make the environment with the tools of development too

# pip writes bytecode when it installs, which halves the start-up of a program
# that later runs where it may not write.
$(VENV)/.installed: requirements.txt pyproject.toml
	@$(BASH_PROGRAM) "$$MAKE_ENVIRONMENT" environment
	@echo "Installing prwatch and what it needs into $(VENV); hashes are checked."
	@$(PIP) install --compile --require-hashes -r requirements.txt
	@$(PIP) install --compile --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt pyproject.toml
	@$(BASH_PROGRAM) "$$MAKE_ENVIRONMENT" environment
	@echo "Installing prwatch and its development tools into $(VENV); hashes are checked."
	@$(PIP) install --compile --require-hashes -r requirements-dev.txt
	@$(PIP) install --compile --no-build-isolation --no-deps -e .
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: requirements-bench.txt $(VENV)/.installed-dev
	@echo "Installing what the benchmarks compare prwatch with; hashes are checked."
	@$(PIP) install --compile --require-hashes -r requirements-bench.txt
	@touch $@

# Makes the virtual environment unless a working one is there.
define MAKE_ENVIRONMENT
if "$(BIN)/python" -m pip --version >/dev/null 2>&1; then exit 0; fi
if ! command -v "$(PYTHON)" >/dev/null; then
  echo "prwatch needs Python 3.11 or newer; there is no $(PYTHON) here." >&2
  exit 1
fi
version=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "prwatch needs Python 3.11 or newer; $(PYTHON) is $$version." >&2
  echo "Name another one with: make PYTHON=python3.12 …" >&2
  exit 1
fi
if ! "$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null; then
  echo "$(PYTHON) cannot make virtual environments: venv or ensurepip is missing." >&2
  echo "On Debian and Ubuntu: apt-get install python$$version-venv" >&2
  exit 1
fi
echo "Making a virtual environment in $(VENV) with Python $$version."
"$(PYTHON)" -m venv --clear "$(VENV)"
endef
export MAKE_ENVIRONMENT

# Watches one pull request for one cycle, or plays the demo, and says which.
define RUN_ONCE
demo() {
  echo "$$1 Playing the demo, which needs neither a token nor a network."
  exec "$(BIN)/prwatch" demo
}
if [ -n "$${GITHUB_TOKEN:-}" ]; then token_env=GITHUB_TOKEN
elif [ -n "$${GH_TOKEN:-}" ]; then token_env=GH_TOKEN
else demo "There is no token in GITHUB_TOKEN or GH_TOKEN."; fi
[ -n "$${PR:-}" ] || demo "No pull request is named (PR=https://github.com/OWNER/NAME/pull/N)."
address='^https://([A-Za-z0-9.-]+)/([A-Za-z0-9-]+/[A-Za-z0-9._-]+)/pull/([0-9]+)'
if [[ ! $$PR =~ $$address ]]; then
  echo "PR must be the address of a pull request: https://github.com/OWNER/NAME/pull/N" >&2
  exit 2
fi
host=$${BASH_REMATCH[1]} repository=$${BASH_REMATCH[2]} number=$${BASH_REMATCH[3]}
api_url=https://$$host/api/v3
if [ "$$host" = github.com ]; then api_url=https://api.github.com; fi
mkdir -p "$(RUN_STATE)"
cat >"$(RUN_STATE)/prwatch.toml" <<TOML
state_dir = "$$PWD/$(RUN_STATE)"

[[workspace]]
name = "run"
token_env = "$$token_env"
api_url = "$$api_url"

[[workspace.watch]]
repository = "$$repository"
pull_request = $$number
TOML
echo "Reading $$repository#$$number once; what is known of it is kept in $(RUN_STATE)."
echo "Run it again to be told what changed since."
exec "$(BIN)/prwatch" --cycle --config "$(RUN_STATE)/prwatch.toml"
endef
export RUN_ONCE
