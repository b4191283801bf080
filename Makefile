# make setup | demo | test | lint | types | docs | wheel — each does its own set-up, none does anything twice.

# 3.11 first: it is the version everything here was measured with.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
TORCH ?= torch==2.13.0
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup demo test slow lint types format docs wheel clean

setup: $(READY)

# torch goes first and by exact version: an open range would fetch gigabytes of CUDA on a laptop.
$(READY): pyproject.toml setup.py package-lock.json backends/chromium/page/mask.ts
	@test -n "$(PYTHON)" || { echo "paint needs Python 3.11 or newer; install it or set PYTHON=…" >&2; exit 1; }
	@command -v npm >/dev/null || { echo "paint needs npm (Node.js) once, to fetch p5 and p5.brush; install Node.js and run this again." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable ".[dev,train,parquet,serve]"
	$(BIN)/paint doctor --fix --quiet
	@touch $@

demo: setup
	$(BIN)/paint demo -o build/demo

# a worker takes up to 2 GB with its browser; a file's tests share what they have made, so they stay together
test: setup
	$(BIN)/python -m pytest -q -n logical --maxprocesses 4 --dist loadfile

slow: setup
	$(BIN)/python -m pytest -q -m slow

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy does not follow the editable install's package map: it gets the tree as the wheel lays it out, by links.
types: setup
	@rm -rf build/types && mkdir -p build/types/paintcli
	@ln -s $(CURDIR)/paintcli/* build/types/paintcli/
	@ln -s $(CURDIR)/backends $(CURDIR)/prompts $(CURDIR)/pools build/types/paintcli/
	MYPYPATH=build/types $(BIN)/mypy -p paintcli

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# every flag of every command, from the code; a test holds it against the code
docs: setup
	$(BIN)/typer paintcli.cli.main utils docs --name paint --output docs/reference.md

wheel: setup
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf .venv node_modules build dist *.egg-info
