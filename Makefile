# What a person types. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Else each run of the tests rewrites all of their assertions anew: some environments of containers set it.
unexport PYTHONDONTWRITEBYTECODE

PYTHON := /usr/bin/python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := build/stamps
NAME ?= dev
SUITE ?= trixie
LAB := $(PYTHON) -m tests.lab

# Journals wait for the disk with each record, which tests need not. Where less memory is set aside, as in containers, it
# is the disk all the same.
IN_MEMORY = $(shell free=$$(df --output=avail /dev/shm 2> /dev/null | tail -1); \
	[ "$${free:-0}" -gt 1048576 ] && echo /dev/shm || echo "$${TMPDIR:-/tmp}")

TRANSLATIONS := $(wildcard locale/*/LC_MESSAGES/django.po)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Running

.PHONY: run
run: ## Run the product: on this host if it has OpenZFS, else its pages at once and then the lab guest
	@scripts/run.sh

.PHONY: dev
dev: venv assets translations ## Run the pages on a recorded machine, everything simulated
	@scripts/dev.sh

.PHONY: demo
demo: venv assets translations ## Write the recorded machine as pages that need no server, a story in five stops: build/demo/index.html
	@$(BIN)/python -m tests.demo

# Testing

.PHONY: test
test: lint test-tools lab-image ## Run every check and the tests, those on real OpenZFS in the lab included
	@scripts/test.sh

.PHONY: test-long
test-long: test-tools ## Run what takes hours: the lab's long tests, a million inputs for each reader, the console on PostgreSQL
	@$(BIN)/python -m tests.postgresql
	@$(BIN)/pytest -m long

.PHONY: test-unit
test-unit: venv ## Run the quick tests, which need nothing but Python; those on loop devices are in make test
	@PYTEST_DEBUG_TEMPROOT=$(IN_MEMORY) $(BIN)/pytest tests/unit -m "not slow and not long and not devices" \
		-o tmp_path_retention_policy=failed --numprocesses 2 --dist worksteal

.PHONY: test-postgresql
test-postgresql: venv ## Run the tests of the console on a PostgreSQL of their own (3 min)
	@$(BIN)/python -m tests.postgresql

.PHONY: mutants
mutants: venv ## Change what guards the disks, one thing at a time, and see a test fail (MODULE=domain/storage/gaps)
	@nice -n 19 $(BIN)/python -m tests.mutants $(MODULE)

.PHONY: freeze
freeze: venv ## Keep today's stored forms in tests/golden, so that every later release reads them
	@DJANGO_SETTINGS_MODULE=nasadvisor.settings $(BIN)/python -m tests.unit.stored.freeze

.PHONY: codes
codes: venv ## Write what `nasadvisor explain` and docs/reference/codes.md say of each code, from the code
	@$(BIN)/python -m tests.unit.explain.gather

.PHONY: manual
manual: venv ## Write the pages of the manual and the completion of shells, from the command line
	@$(BIN)/python -m tests.unit.packaging.manual

.PHONY: evidence
evidence: test-tools ## Check the verdicts in the lab against what is measured (2 h, alone); writes docs/explanation/evidence.md
	@$(BIN)/python -m tests.evidence

.PHONY: screens
screens: venv assets translations $(STAMPS)/packages-test ## Take a picture of every page in every state (STATE=story)
	@$(BIN)/python -m tests.browser.screens $(STATE)

.PHONY: lint
lint: venv $(STAMPS)/packages-test ## Check style, types, floors and shell scripts
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports > build/lint-imports.log || { cat build/lint-imports.log; exit 1; }
	@shellcheck packaging/*.sh packaging/manage packaging/nasadvisor packaging/deb/*.sh packaging/deb/*/*.sh \
		packaging/deb/*/p*inst packaging/deb/*/p*rm packaging/truenas/start packaging/truenas/nasadvisor \
		packaging/truenas/nasadvisor-truenas packaging/truenas/*.sh scripts/*.sh .ci/run

.PHONY: test-tools
test-tools: venv assets translations $(STAMPS)/packages-lab $(STAMPS)/packages-test

.PHONY: bench
bench: venv ## Run the benchmarks (half an hour with those in the lab): budget, measured and peer side by side
	@nice -n 19 $(BIN)/python -m benchmarks

# The lab

.PHONY: lab
lab: $(STAMPS)/packages-lab ## Boot the lab guest (NAME=dev)
	@$(LAB) up --name $(NAME)

.PHONY: lab-image
lab-image: $(STAMPS)/packages-lab assets translations ## Build the image that guests start from, and the package to try in it
	@$(LAB) build && $(LAB) deb

.PHONY: lab-ssh
lab-ssh: ## Run a command in the guest: make lab-ssh CMD='zpool status'
	@$(LAB) ssh --name $(NAME) -- $(if $(CMD),'$(subst ','\'',$(CMD))')

.PHONY: lab-down
lab-down: ## End the lab guest and forget its disks
	@$(LAB) down --name $(NAME)

# Building

.PHONY: docs
docs: $(VENV)/.stamp-docs ## Make pages of the documentation for a browser, searchable without a network, in build/docs
	@rm -rf build/docs
	@SOURCE_DATE_EPOCH=1735689600 $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env \
		--doctree-dir build/doctrees docs build/docs
	@rm build/docs/.buildinfo

.PHONY: deb
deb: venv docs assets translations $(STAMPS)/packages-lab ## Build the Debian package for Debian 13 and Proxmox VE 9 (SUITE=bookworm: for 12 and 8)
	@packages=$$($(LAB) deb --released --suite $(SUITE)) && mkdir -p build && cp $$packages build/ \
		&& scripts/sbom.sh build $$(basename --multiple $$packages) && basename --multiple $$packages

.PHONY: deb-here
deb-here: assets translations docs ## Build the Debian package for the release that this machine runs, e.g. Ubuntu
	@mkdir -p build && packaging/deb/build.sh build

.PHONY: release
release: venv assets translations docs $(STAMPS)/packages-lab ## Test, build the packages of every suite with checksums and notes, and tag it
	@scripts/release.sh

.PHONY: venv
venv: $(VENV)/.stamp ## Make the virtual environment for development

$(VENV)/.stamp: requirements/dev.txt $(VENV)/.stamp-run
	@echo "Installing the Python packages for development …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/.stamp-docs: requirements/docs.txt $(VENV)/.stamp-run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/.stamp-run: requirements/run.txt | $(STAMPS)/packages-build
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/pip || $(BIN)/python -m ensurepip --default-pip > /dev/null
	@echo "Installing the Python packages …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r $<
	@touch $@

.PHONY: pages-tools
pages-tools: $(VENV)/.stamp-run assets translations $(STAMPS)/packages-pages

.PHONY: assets
assets: static/vendor/.stamp ## Fetch Bootstrap, htmx and the icons into static/vendor

static/vendor/.stamp: package-lock.json packaging/copy_assets.py packaging/icons.txt $(VENV)/.stamp-run | $(STAMPS)/packages-build
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@$(BIN)/python packaging/copy_assets.py
	@touch $@

.PHONY: translations
translations: $(TRANSLATIONS:.po=.mo) ## Compile the translations

%.mo: %.po | $(STAMPS)/packages-build
	@msgfmt --check-format --output-file=$@ $<

$(STAMPS)/packages-lab: tests/lab/packages.py $(STAMPS)/packages-build

$(STAMPS)/packages-%: scripts/packages.sh
	@mkdir -p $(@D)
	@scripts/packages.sh $*
	@touch $@

.PHONY: lock
lock: venv ## Resolve the Python and npm packages anew
	@scripts/lock.sh

.PHONY: weak
weak: venv | $(STAMPS)/packages-build ## Ask the registries which of the pinned packages have known weaknesses
	@scripts/weak.sh

.PHONY: clean
clean: ## Remove what was built; the lab's images stay
	@rm -rf build static/vendor node_modules staticfiles $(VENV) locale/*/LC_MESSAGES/*.mo
