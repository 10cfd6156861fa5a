# make report     fit everything on the built-in tables and write report/index.html
# make pages      make the report, and from it and its cells README and documentation
# make evidence   make the long studies in evidence/ whose laws or tables have changed (hours; stopped, it goes on when it is run
#                 again); TABLES= is the folder of the tables that do not come with the package
# make test       check the style and the types, run the tests, build and try what is published; if there is a newer Python, run on it
#                 the tests of inference, which takes every law through every technique
# make dist       build the source distribution and from it the wheel, in dist; check both, use the wheel in a new environment
# make thorough   run every test, the longest simulations and refits too, on both Pythons
# make docs       build the documentation as a site in build/docs; `python docs/headline.py` writes its numbers
# make faults     read malformed input of every sort, made at random, from SEED=: COUNT= of each, more of what is quick; and
#                 kill and interrupt every command that takes long, KILLS= times by each signal
# make quick      run the quickest files of tests, of 75 seconds together in the last run of others, for daily work; on a fresh
#                 machine, where none was timed, all but those that share compiled models or trained sweeps
#
# All set up .venv first: the report and the studies need the package alone, the others its extras, torch among them. From the index
# of packages that pip uses by default torch comes with CUDA on Linux, 5 GB; PIP_EXTRA_INDEX_URL= names another, such as that of
# PyTorch's builds for CPUs. PYTHON= names the interpreter to use, NEXT_PYTHON= the newer one, OUT= the report's folder,
# WORKERS= how many tests run at once.

PYTHON ?= $(shell .ci/find-python base)
OUT ?= report
SEED ?= 1
COUNT ?= 1300
KILLS ?= 5
# Half the time to compile what is sampled once or twice; what is found is the same to rounding. One thread of algebra for
# each of the tests that run at once, which would wait for each other's. PyTensor does not record where graphs were made.
# Modules are compiled once, even where Python is told to write no bytecode: tests start 200 processes that import them.
TESTS := PYTHONDONTWRITEBYTECODE= NUMBA_OPT=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTENSOR_FLAGS=traceback__limit=0
# As many at once as there are cores; each holds about 1.5 GB.
WORKERS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
PYTEST := pytest -n $(WORKERS) --maxprocesses 4
PIP := -m pip --disable-pip-version-check install --quiet
WHICH := -m "not thorough"
# What meets PyMC, ArviZ and xarray, whose next versions come with the newer Python: it runs what is marked "newer" alone.
INFERENCE := tests/inference tests/test_contract.py tests/test_files.py
INFERENCE += $(foreach name,arrays backend priors pymc_model,tests/models/test_$(name).py)

.PHONY: report pages evidence test thorough quick docs faults style pytest dist next next-pytest
.NOTPARALLEL:

report: .venv/made
	.venv/bin/bayescaling report --out $(OUT)

pages: .venv/installed report
	.venv/bin/python docs/headline.py $(OUT)/results.json --cells

evidence: .venv/made
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python evidence/make.py $(if $(TABLES),--tables $(TABLES))

test: style pytest dist next

style: .venv/installed
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.ci/check-types .venv/bin/python

pytest: .venv/installed
	@next=$$(.ci/find-python next .venv/bin/python); \
	$(TESTS) .venv/bin/$(PYTEST) -m "not thorough$${next:+ and not newer}" --durations=25

thorough: style .venv/installed
	$(TESTS) .venv/bin/$(PYTEST) --durations=25
	@$(MAKE) --no-print-directory next WHICH=

quick: .venv/installed
	$(TESTS) .venv/bin/$(PYTEST) --quick 75

docs: .venv/installed-docs
	.venv/bin/sphinx-build -W --keep-going -q -b html docs build/docs

faults: .venv/installed
	.venv/bin/python tests/test_faults.py --seed $(SEED) --count $(COUNT)
	.venv/bin/python tests/test_endings.py --seed $(SEED) --kills $(KILLS)

dist: .venv/installed
	rm -rf dist
	.venv/bin/python -m build --quiet
	.venv/bin/twine check --strict dist/*
	.venv/bin/python .ci/try_wheel.py dist/*.whl

next: .venv/installed
	@python=$$(.ci/find-python next .venv/bin/python) && \
	if [ -n "$$python" ]; then $(MAKE) --no-print-directory next-pytest NEXT_PYTHON="$$python"; \
	else echo "no Python 3.12 or newer was found: its tests are left out (NEXT_PYTHON= names one)"; fi

next-pytest: .venv-next/installed
	$(TESTS) .venv-next/bin/$(PYTEST) $(WHICH) $(INFERENCE) --durations=25

.venv/made: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found; name one with PYTHON="; exit 1; }
	test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	.venv/bin/python $(PIP) -c constraints.txt -e .
	@touch $@

.venv/installed: .venv/made
	.venv/bin/python $(PIP) -c constraints.txt -e '.[dist,test,training]'
	@touch $@

.venv/installed-docs: .venv/installed
	.venv/bin/python $(PIP) -c constraints.txt -e '.[docs]'
	@touch $@

.venv-next/installed: pyproject.toml constraints-3.12.txt
	test -x .venv-next/bin/pip || $(NEXT_PYTHON) -m venv .venv-next
	.venv-next/bin/python $(PIP) -c constraints-3.12.txt -e '.[test]'
	@touch $@
