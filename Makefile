# Two commands, each sets up what it needs: `make conformance` runs the suite on embedded backends, `make test` the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRA ?= test

.PHONY: conformance test test-lowest lint docs clean

$(VENV)/ready-$(EXTRA): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "langgraph-conformance needs Python 3.10 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRA)]'
	touch $@

conformance: $(VENV)/ready-$(EXTRA)
	$(BIN)/python tests/conformance_of_embedded.py

test: $(VENV)/ready-$(EXTRA)
	$(BIN)/python -m pytest -n 2 --dist worksteal -p no:randomly tests

# The oldest supported versions of everything that has a lower bound; wants Python 3.10. What official backends of that
# time deviate in is not recorded: the reference is tried.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(VENV)-lowest $(VENV)-lowest/bin/uv pip install --quiet --resolution lowest-direct --editable '.[test-lowest]'
	$(VENV)-lowest/bin/python -m pytest -n 2 --dist worksteal -p no:randomly -k "not test_an_embedded_backend or Reference" \
		tests/test_officials.py tests/test_plugin.py tests/test_reference_saver.py tests/test_reference_store.py

lint: $(VENV)/ready-$(EXTRA)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

docs: $(VENV)/ready-$(EXTRA)
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) $(VENV)-lowest build dist
