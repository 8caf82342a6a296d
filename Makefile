# make app    set up and open the app on http://127.0.0.1:8501
# make test   set up and run every check and quick test, and all tests of the rooms that were changed: some minutes of two processors
# make test-deep  the same with all samples, examples and journeys, as every night
# make bench  set up and run the benchmarks; OPTIONS="--data FOLDER" and others as benchmarks/README.md says
# make scoreboard  measure what other libraries answer beside ours and write docs/scoreboard.md: hours, goes on where it was
# make lock   bring requirements.txt and requirements-dev.txt up to the ranges of pyproject.toml; UPGRADE=1 to the newest
# make types  check the types of the shared page and of the JavaScript reader; needs npm, and a network the first time
# make docs   set up and write the papers, tutorials, mechanisms and reference as a site: build/site/index.html
# make sbom   set up and write what the app is made of, as CycloneDX: build/sbom.json
# make papers set up and run the papers' experiments again; OPTIONS likewise; what was stopped goes on

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

# What Python compiles is kept, whatever the shell wants: each process of a test would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test test-deep chromium style types bench scoreboard lock papers docs sbom clean

app: $(VENV)/.app
	$(BIN)/python -m core app --port=$(PORT)

# One process collects for all. What an assertion saw is told of tests that failed, which are run again: to have it ready
# in all of them takes half a minute. Apple's libraries do not work on in a forked process.
SIDE_BY_SIDE := $(if $(filter Darwin,$(shell uname)),-n 3 --dist worksteal,-p tests.side_by_side --processes 3)

# What mypy found is kept for this user, as compiled loops are, and holds for other clones of the same files: it tells by
# what is in them.
TYPES := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/frostglass/types

test-deep: export FROSTGLASS_DEEP = 1
test test-deep: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs=4 --output-sync $(VENV)/.warm chromium style
	$(BIN)/mypy --cache-dir=$(TYPES) & $(BIN)/python -m pytest $(SIDE_BY_SIDE) --assert=plain; tested=$$?; \
	test $$tested -ne 1 || $(BIN)/python -m pytest --last-failed --last-failed-no-failures none; wait $$! && exit $$tested

chromium:
	@tests/install_chromium.sh

style:
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports

types:
	npx --yes --package typescript@5 tsc --project readers/javascript

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(OPTIONS)

scoreboard: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scoreboard $(OPTIONS)

papers: $(VENV)/.dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.papers $(OPTIONS)

docs: $(VENV)/.publish
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The site is build/site/index.html."

sbom: $(VENV)/.publish
	@mkdir -p build
	$(BIN)/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json

# Every version of Python from the oldest on, every platform; no address and no path gets into either file.
LOCK = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --custom-compile-command "make lock" \
	$(if $(UPGRADE),--upgrade)
APP = pyproject.toml --extra app

lock: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(LOCK) $(APP) -o requirements.txt
	$(LOCK) $(APP) --extra cluster --extra marginals --extra mcp --extra onnx --extra postgres --extra serve --group dev -c requirements.txt -o requirements-dev.txt
	$(LOCK) $(APP) --extra serve --extra postgres -c requirements-dev.txt -o requirements-serve.txt
	$(LOCK) --group publish -c requirements.txt -c requirements-dev.txt -o requirements-publish.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Frostglass needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV); }

INSTALL = $(BIN)/python install_libraries.py

$(VENV)/.app: requirements.txt | $(VENV)/bin/python
	@echo "Fetching the libraries, which takes some seconds the first time."
	@$(INSTALL) requirements.txt
	@touch $@

# The app compiles beside itself; who measures or tests has it done before.
$(VENV)/.warm: $(VENV)/.app $(shell find core -name '*.py')
	@$(BIN)/python -m core.ui.serving.warming
	@touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt | $(VENV)/bin/python
	@echo "Fetching the libraries and what tests need, which takes some seconds the first time."
	@$(INSTALL) requirements-dev.txt
	@touch $(VENV)/.app $@

$(VENV)/.publish: requirements-publish.txt | $(VENV)/.app
	@$(INSTALL) requirements-publish.txt
	@touch $@

clean:
	rm -rf $(VENV)
