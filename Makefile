# Everything a developer types. Each target sets up what it needs.

CARGO   ?= cargo
PYTHON  ?= python3
VENV    := .venv
PY      := $(VENV)/bin/python
READY   := $(VENV)/.ready
PEERS_PY := target/peers/venv/bin/python
PEERS_READY := target/peers/venv/.ready
CHECKERS := tests/validators/node_modules/.ready
JAVASCRIPT := javascript/node_modules/.ready
CONSOLE := console/node_modules/.ready
SERVER  := target/release/stratalog-server
CLI     := target/release/stratalog
TREE_SITTER := target/tools/bin/tree-sitter

CRATES := -p stratalog-engine -p stratalog-language -p stratalog-protocol -p stratalog-server -p stratalog-client

# All packages are chosen, whatever is built: else libraries are built again with other features.
TEST := $(CARGO) test --release --locked --workspace

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := parse_and_print run_program

export STRATALOG_SERVER := $(abspath $(SERVER))
export STRATALOG_CLI    := $(abspath $(CLI))
# Random programs are the same in every run of the tests, so none fails for what it did not change.
export PROPTEST_RNG_SEED ?= 20261122
RANDOM_ROUNDS ?= 10
# Modules are compiled where they are imported first, and not all of them at once.
unexport PYTHONDONTWRITEBYTECODE
# Tests that talk to servers wait more than they work.
export RUST_TEST_THREADS ?= 3
# In Python, each worker has a server of its own.
PYTEST_WORKERS ?= 2
SOAK_SECONDS ?= 3600

.PHONY: help demo demo-keep run build native wheel crates deb site test test-rust test-python check fmt lint lint-rust lint-python lint-javascript lint-console test-javascript test-console test-browsers console screenshots golden cluster-test cluster-figures grammar crash simulate random fuzz load soak soak-live bench peers \
	peers-live vectors scaling roundtrip ci clean browser compiler

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: build $(READY) ## load Debian's package graph into a fresh server and ask it questions
	$(PY) demo/demo.py --server $(STRATALOG_SERVER) --cli $(STRATALOG_CLI)

demo-keep: build $(READY) ## the same, and leave the server running
	$(PY) demo/demo.py --server $(STRATALOG_SERVER) --cli $(STRATALOG_CLI) --keep

run: build ## start a server on 127.0.0.1:8080
	$(SERVER)

build: compiler ## build server and command line
	$(CARGO) build --release --locked --workspace --bins

native: compiler ## build the database that Python opens in its own process, where the sources of Python find it
	$(CARGO) build --release --locked --workspace --lib --bins
	cp target/release/libstratalog_native.so python/src/stratalog/_native.abi3.so

wheel: $(READY) compiler ## what `pip install` takes, with the executables, in target/wheels: for this platform, and as sources
	rm -rf target/wheels
	cd python && ../$(PY) -m hatchling build --directory ../target/wheels/built
	PATH=$(abspath $(VENV)/bin):$$PATH $(PY) -m auditwheel repair --wheel-dir target/wheels target/wheels/built/*.whl
	mv target/wheels/built/*.tar.gz target/wheels
	rm -r target/wheels/built

site: export NO_MKDOCS_2_WARNING = 1
site: $(READY) ## the manual as a site, in target/site; links are checked
	$(PY) -m mkdocs build --quiet --strict -f packaging/site/mkdocs.yml

crates: compiler ## what crates.io would get, each built from that alone, in target/package
	$(CARGO) package --locked $(CRATES)

deb: build ## a Debian package with the systemd unit, in target/deb
	@command -v dpkg-shlibdeps >/dev/null || $(call install,dpkg-dev)
	packaging/deb/build target/deb

# What those of Python leave of the processors, those of Node take.
test: test-rust ## every test: Rust, golden files, random programs, sockets, clients, demo answers
	$(MAKE) --jobs=2 --output-sync=line test-python test-browsers

test-browsers: test-javascript test-console

test-rust: build
	$(TEST)

test-python: build native $(READY) $(CHECKERS) $(CONSOLE) browser
	$(PY) -m pytest python/tests -q -n $(PYTEST_WORKERS) --dist loadfile

test-javascript: build $(JAVASCRIPT) browser
	npm test --prefix javascript

test-console: $(CONSOLE)
	npm test --prefix console

check: fmt lint ## what CI checks beside the tests

fmt: $(READY)
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path cluster/Cargo.toml --check
	$(VENV)/bin/ruff format --check python demo benches/peers

lint: lint-rust lint-python lint-javascript lint-console

lint-rust:
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings

lint-python: $(READY)
	$(VENV)/bin/ruff check python demo benches/peers
	$(VENV)/bin/mypy --config-file python/pyproject.toml python/src python/tests python/tools demo benches/peers
	$(PY) python/tools/generate.py --check
	$(VENV)/bin/hadolint packaging/Dockerfile packaging/Dockerfile.cluster

lint-javascript: $(JAVASCRIPT)
	npm run check --prefix javascript

lint-console: $(CONSOLE)
	npm run check --prefix console

console: $(CONSOLE) ## build the console and the page of single messages into server/console and server/page, which are in the server's binary
	npm run build --prefix console

screenshots: build $(READY) browser ## the pictures of docs/console.md, on the demo's graph
	$(PY) python/tools/screenshots.py --server $(STRATALOG_SERVER)

golden: build ## rewrite the answers of the golden files; the diff is the review
	UPDATE_GOLDEN=1 $(TEST) --test golden

crash: build ## kill a server 200 times under writers and look for what is lost
	STRATALOG_CRASH_ROUNDS=200 $(TEST) --test storage -- crash:: --nocapture

# SIMULATE_SEED=n runs one seed again, exactly; SIMULATE_FIRST=n goes on where another run has ended.
simulate: export SIMULATE_SEEDS ?= 100000
simulate: compiler ## SIMULATE_SEEDS seeds of storage under faults: graphs, people, rights, backups and archives against a model
	$(TEST) --lib simulation -- --nocapture

# The code is safe Rust, so what is looked for are panics and hangs: no sanitizer, and the stable compiler will do.
random: build ## random programs, recursions, views and files of RANDOM_ROUNDS other seeds, against the oracle
	for round in $$(seq $(RANDOM_ROUNDS)); do \
		export PROPTEST_RNG_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "seed $$PROPTEST_RNG_SEED"; \
		$(TEST) --test engine -- differential:: recursions:: views:: proofs:: || exit 1; \
		$(TEST) --test clients -- round_trips:: || exit 1; \
	done

# One process a line, so that each has its own peak of memory.
cluster-figures: compiler ## what evaluation by plans costs beside evaluation in memory
	$(CARGO) build --release --locked --manifest-path cluster/Cargo.toml --target-dir target/cluster --example figures
	@for case in $$(target/cluster/release/examples/figures); do for place in here 16384 512; do \
		target/cluster/release/examples/figures $$case $$place || exit 1; \
	done; done

# A workspace of its own, with DataFusion in it: CLUSTER_TEST_ARGS names some of its tests.
cluster-test: compiler ## what is evaluated by plans, here and by executors, beside the oracle and the golden files: PROPTEST_CASES=5000 for more programs
	$(CARGO) test --locked --manifest-path cluster/Cargo.toml --target-dir target/cluster $(CLUSTER_TEST_ARGS)
	STRATALOG_EXECUTORS=2 $(CARGO) test --locked --manifest-path cluster/Cargo.toml --target-dir target/cluster --test answers

grammar: ## make the parser of editors/tree-sitter-stratalog from its grammar, and run the tests of that
	@test -x $(TREE_SITTER) || $(CARGO) install --locked --root target/tools tree-sitter-cli@0.27.1
	cd editors/tree-sitter-stratalog && $(abspath $(TREE_SITTER)) generate && $(abspath $(TREE_SITTER)) test

fuzz: ## run each fuzz target for FUZZ_SECONDS, starting from the golden programs
	@command -v cargo-fuzz >/dev/null || $(CARGO) install --locked cargo-fuzz
	$(CARGO) run --release --locked -p stratalog-tests --example fuzz_seeds -- $(FUZZ_TARGETS:%=fuzz/corpus/%)
	cp Cargo.lock fuzz/Cargo.lock
	for target in $(FUZZ_TARGETS); do \
		$(CARGO) fuzz run --sanitizer none $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 \
			-timeout=10 -rss_limit_mb=2048 || exit 1; \
	done

load: build ## 1, 8, 64 and 256 connections on a real server; LOAD_* as in docs/performance.md
	$(CARGO) build --release --locked --workspace --example load
	target/release/examples/load

soak: export LOAD_CONNECTIONS ?= 64
soak: export LOAD_SECONDS ?= 600
soak: load ## the same for ten minutes: memory must not grow

# The seed says what is committed; who reads when is up to the machine.
soak-live: export STRATALOG_LIVE_SECONDS = $(SOAK_SECONDS)
soak-live: export STRATALOG_LIVE_ROUNDS = 2
soak-live: build ## SOAK_SECONDS of random commits beside live queries: each copy is right at each version, memory must not grow
	export STRATALOG_LIVE_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "seed $$STRATALOG_LIVE_SEED"; \
		$(TEST) --test sockets -- subscriptions::every_copy --nocapture

# PEERS names some of the workloads, ENGINES some of the engines; facts are kept between runs.
peers: $(PEERS_READY) ## this engine beside seven others: PEERS="closure triangles" ENGINES="ours duckdb"
	$(PEERS_PY) benches/peers/run.py $(PEERS) $(if $(ENGINES),--engines $(ENGINES))

# CASES names some of the lines.
peers-live: $(PEERS_READY) ## facts come and go, and it is told what changes of an answer: ours, from scratch, differential-dataflow, dbsp
	$(PEERS_PY) benches/peers/live.py $(CASES)

vectors: $(PEERS_READY) ## nearest vectors: ours beside usearch, hnswlib and NumPy: VECTORS="100000 1000000"
	$(PEERS_PY) benches/peers/vectors.py $(VECTORS)

scaling: $(PEERS_READY) ## how our cost grows with the size of the work: docs/scaling.svg
	$(PEERS_PY) benches/peers/scaling.py

roundtrip: build $(READY) ## ten million rows from Parquet through Python into a server and back, beside DuckDB
	$(PY) python/tools/roundtrip.py --server $(STRATALOG_SERVER)

bench: ## the criterion suites
	$(CARGO) bench --locked -p stratalog-benches

ci: test check ## all of it

clean:
	$(CARGO) clean
	rm -rf $(VENV)

# One virtual environment with the client and all that its tests and the demo use.
$(READY): python/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --no-compile --disable-pip-version-check -e 'python[dev]'
	touch $@

# The engines that come as packages of Python have one of their own.
$(PEERS_READY): benches/peers/requirements.txt
	$(PYTHON) -m venv target/peers/venv
	$(PEERS_PY) -m pip install --quiet --no-compile --disable-pip-version-check -r $<
	touch $@

# The validators of the documents that the server serves, as they stand in the lock file.
$(CHECKERS): tests/validators/package-lock.json
	@command -v npm >/dev/null || $(call install,nodejs npm)
	npm ci --prefix tests/validators --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# The client for browsers and Node, with all that builds and tests it.
$(JAVASCRIPT): javascript/package-lock.json
	@command -v npm >/dev/null || $(call install,nodejs npm)
	npm ci --prefix javascript --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# What the console is built with. It takes the client from its sources.
$(CONSOLE): console/package-lock.json $(JAVASCRIPT)
	npm ci --prefix console --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# The index of near vectors is C++.
compiler:
	@command -v c++ >/dev/null || $(call install,build-essential)

# The page of the WebSocket is tested in a real browser.
browser:
	@command -v chromium >/dev/null || test -n "$$CHROMIUM" || $(call install,chromium)

install = { echo "installing $(1) with apt-get, which needs root"; apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null; }
