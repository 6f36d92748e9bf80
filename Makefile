# Two commands do all the set-up: `make run` to try Brain, `make test` to check it.
.PHONY: run test lint suite stress test-clients bench bench-recall docs lock clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := .demo
VAULT  ?=
LOCOMO ?=
HELP   ?=
REFERENCE ?=
MODEL  ?=

run: $(VENV)/run.stamp ## sync a vault (VAULT=path, else a demo) and watch it
	@vault="$(VAULT)"; \
	if [ -z "$$vault" ]; then \
	  vault="$(DEMO)"; \
	  [ -d "$$vault" ] || $(BIN)/brain init --demo "$$vault"; \
	fi; \
	$(BIN)/brain sync --vault "$$vault" && \
	printf '\nIn another terminal:\n\n  %s search sqlite --vault %s\n\n' "$(BIN)/brain" "$$vault" && \
	exec $(BIN)/brain watch --vault "$$vault"

test: lint suite ## lint, types and the whole suite

lint: $(VENV)/test.stamp
	$(BIN)/ruff format --check brain tests bench
	$(BIN)/ruff check brain tests bench
	$(BIN)/mypy

suite: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n auto -m "not stress and not clients" tests

stress: $(VENV)/test.stamp ## the long runs
	$(BIN)/python -m pytest -m stress tests

test-clients: $(VENV)/clients.stamp ## against the real clients, which it installs
	$(BIN)/python -m pytest -m clients tests

bench: $(VENV)/test.stamp ## speed and memory, as ratios within one run
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m bench

bench-recall: $(VENV)/test.stamp ## how well it finds; HELP=folder, LOCOMO=file, REFERENCE=rank.py, MODEL=name
	$(BIN)/python -m bench.recall $(if $(HELP),--questions "$(HELP)") \
	  $(if $(LOCOMO),--locomo "$(LOCOMO)") $(if $(REFERENCE),--reference "$(REFERENCE)") \
	  $(if $(MODEL),--model "$(MODEL)")

docs: $(VENV)/test.stamp ## write the generated references anew
	$(BIN)/python -m tests.generate

lock: $(VENV)/test.stamp ## write constraints.txt from what is installed
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '^vault-brain' > constraints.txt

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/run.stamp

$(VENV)/clients.stamp: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check claude-agent-sdk==0.2.183
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) .bench .pytest_cache .mypy_cache .ruff_cache .hypothesis
