# Two commands do everything: `make demo` and `make test`. Each starts from nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.PHONY: demo test check serve bench format clean

# The stamp files say which dependencies are installed; they are renewed when pyproject.toml is.
$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@

demo: $(VENV)/.installed  ## ask a question of the bundled example site and print the brief
	@$(BIN)/python examples/demo.py

check: $(VENV)/.installed-dev  ## style, types and architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check  ## everything that must hold before a change lands
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

serve: $(VENV)/.installed  ## the HTTP server on 127.0.0.1:8765
	$(BIN)/citewell serve --transport streamable-http

bench: $(VENV)/.installed-dev  ## speed and quality; reads ../shared/data where it exists
	$(BIN)/python -m bench

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
