# One command each, on a machine with Python 3.11 or newer and make: every target makes the environment that it needs.
#
#   make test                  the tests                    make first-network         train the first network
#   make pages                 the code of every page       make first-network-full    every seed of every model
#   make test-slow             what takes minutes           make tutorials             render the scripts as pages
#   make check                 format, lint, types          make bench                 time it against its peers
#   make docs                  the site, in site/           make fuzz                  random programs, for ten minutes
#   make mutants               mistakes no test catches     make symmetry              the tables about symmetry
#   make systems               the tables about systems     make metric                the tables about metrics
#   make search                the tables about search    make look                  the site as its readers see it
#   make front                 pictures that pages share
#   make outputs               what the code of a page prints, as ARGS="tutorials/trees.md"
#
# PYTHON names the interpreter to begin with, VENV the environment, ARGS what to add to the command, WORKERS how many
# processes the tests run in (by default one for each core):
#   make test PYTHON=python3.13 VENV=.venv-3.13 ARGS="tests/project/test_order.py -q"

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= auto
RUN := $(VENV)/bin/python
# A Python of an environment that is active, or a PYTHONPATH, is not to be seen in this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.PHONY: test pages test-slow fuzz mutants check format lint mypy pyright planted docs first-network first-network-full tutorials
.PHONY: bench symmetry systems metric search look front outputs
.DEFAULT_GOAL := test

test pages test-slow: $(VENV)/.has-test
	$(RUN) -m pytest --numprocesses=$(WORKERS) --dist=worksteal $(MARKED) $(ARGS)

pages: MARKED := -m page
test-slow: MARKED := -m slow

mutants: $(VENV)/.has-test # of one module, as in `make mutants ARGS=cdl/laws/_folds.py`
	$(RUN) tests/support/mutation.py $(ARGS)

# ARGS="--seconds 3600 --seed 3": how long it goes on, and where it begins. What fails is printed as a program.
fuzz: $(VENV)/.has-test
	PYTHONPATH=tests/support $(RUN) -m fuzz $(ARGS)

check: format lint mypy pyright planted

format lint mypy pyright planted: $(VENV)/.has-test $(VENV)/.has-check

format:
	$(RUN) -m ruff format --check .

lint:
	$(RUN) -m ruff check .

mypy:
	$(RUN) -m mypy

pyright:
	$(RUN) -m pyright --pythonpath $(RUN) --warnings

planted: # the errors that both type checkers are to find
	$(RUN) -m pytest -m "slow or not slow" tests/project/test_typing.py

docs: $(VENV)/.has-docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict $(ARGS)

# With Chromium. ARGS="--only trees" for one page, ARGS="--into look" for pictures.
look: $(VENV)/.has-docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet
	$(RUN) tools/look $(ARGS)

# Runs pages, and writes what their code prints below it: ARGS="--figures tutorials/trees.md" copies their figures too.
outputs: $(VENV)/.has-tutorials
	$(RUN) tools/outputs.py $(ARGS)

first-network: $(VENV)/.has-tutorials
	$(RUN) tutorials/first_network.py $(ARGS)

first-network-full: $(VENV)/.has-tutorials
	$(RUN) tutorials/first_network.py --full $(ARGS)

# Five programs, ten minutes in all; one alone: PYTHONPATH=tutorials python -m symmetry.beyond_groups --help
symmetry: $(VENV)/.has-tutorials
	for name in beyond_groups how_equivariant karate_club rotated_bodies what_structure_buys; do \
	  PYTHONPATH=tutorials $(RUN) -m symmetry.$$name --write || exit 1; done

# Three programs. statsmodels and river are read where they are installed: make systems, after pip install statsmodels river
systems: $(VENV)/.has-tutorials
	for name in always_learning plans talking; do \
	  PYTHONPATH=tutorials $(RUN) -m systems.$$name --write || exit 1; done

# Four programs, in four minutes.
metric: $(VENV)/.has-tutorials
	for name in coordinates descent lengths modules; do \
	  PYTHONPATH=tutorials $(RUN) -m metric.$$name --write || exit 1; done

# Three programs, ten minutes in all. CDL_DATA names a folder with cifar10/ and imagenet/, where there is one.
search: $(VENV)/.has-tutorials
	for name in pictures resampled signatures; do \
	  PYTHONPATH=tutorials $(RUN) -m searches.$$name --write || exit 1; done

front: $(VENV)/.has-tutorials # the pictures of the first page, from the program of README.md
	PYTHONPATH=tutorials $(RUN) -m front

tutorials: $(VENV)/.has-docs
	$(RUN) tools/render.py $(ARGS)

bench: $(VENV)/.has-bench
	$(RUN) -m benchmarks $(ARGS)

# `.has-NAME` says that the extra NAME is installed, as pyproject.toml and constraints.txt now have it.
$(VENV)/.has-%: pyproject.toml constraints.txt | $(RUN)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$*]"
	@touch $@

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'cdl needs Python 3.11 or newer, and "$(PYTHON)" is not: name another, as in `make $(MAKECMDGOALS) PYTHON=python3.12`.' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
