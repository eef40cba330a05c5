# Two commands do everything on a fresh machine: `make demo` and `make test`.
.PHONY: all demo test deb python build sanitize fuzz soak format format-check tidy bench-table bench-collision bench-solvers bench-mlcp bench-peers clean

SARRUS := build/release/apps/sarrus

all: build

build:
	@scripts/setup.sh build
	@cmake --preset release -DSARRUS_BUILD_TESTS=OFF >build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	@cmake --build --preset release --target sarrus_command

demo: build
	@mkdir -p out
	$(SARRUS) run jansen_walker --duration 10 --json out/jansen_walker.json --record out/jansen_walker.h5 --record-every 8 \
	  --svg out/jansen_walker.svg --html out/jansen_walker.html
	@echo "wrote out/jansen_walker.json, out/jansen_walker.h5 (recording) and out/jansen_walker.svg (picture)"
	@echo "open out/jansen_walker.html in a browser: $(CURDIR)/out/jansen_walker.html"

# Every test, and every folder of them once more with small inputs and the engine under the sanitizers (sanitized.*).
test: demo format-check
	@scripts/setup.sh test
	@scripts/python_env.sh
	cmake --preset release -DSARRUS_BUILD_TESTS=ON -DSARRUS_SANITIZED_TESTS=ON -DSARRUS_MPI=ON -USKBUILD $(PYTHON_OPTIONS)
	cmake --build --preset release
	ctest --preset release

# Debian packages in out/deb (docs/install.md): sarrus, libsarrus-dev, python3-sarrus. Without MPI, which takes its own
# dependencies along; what pip left in the cache of CMake is none of theirs.
deb:
	@scripts/setup.sh deb
	@scripts/make_deb.sh build/release out/deb

# The package for Python (docs/python.md): build/venv with it installed, from the objects of the release build, and its tests.
PYTHON_OPTIONS := -DSARRUS_BUILD_PYTHON=ON -DSARRUS_PYTHON_DIR=lib/python3/dist-packages -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
python:
	@scripts/setup.sh python
	@scripts/python_env.sh
	@cmake --preset release -DSARRUS_BUILD_TESTS=OFF $(PYTHON_OPTIONS) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	build/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	  --force-reinstall -C build-dir=build/release .
	@cmake --preset release -USKBUILD $(PYTHON_OPTIONS) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	build/venv/bin/python -m pytest python/tests
	@echo "the package is in build/venv: build/venv/bin/python -c 'import sarrus'"

# Everything under the address and undefined-behaviour sanitizers, every test at full size, each source compiled alone.
sanitize:
	@scripts/setup.sh test
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

# Every reader of files fed with changed ones under the sanitizers, a minute each; longer: make fuzz HOURS=8. Other changes:
# FUZZ_SEED=2. One reader: FUZZ_READERS=scene. libFuzzer where clang 14 is, else a program of ours. (docs/reliability.md)
HOURS :=
FUZZ_SEED := 1
FUZZ_READERS :=
fuzz:
	@scripts/setup.sh fuzz
	@if ! { command -v clang++-14 && cmake --preset fuzz && cmake --build --preset fuzz --target sarrus_libfuzzer; }; then \
	  cmake --preset release -DSARRUS_SANITIZED_TESTS=ON && cmake --build --preset release --target sarrus_fuzz; fi
	@scripts/fuzz.sh $(if $(HOURS),$$(( $(HOURS) * 3600 )),60) out/fuzz $(FUZZ_SEED) $(FUZZ_READERS)

# The table of docs/reliability.md: 10^7 steps of each scene, twice; hours. Shorter: make soak SOAK_STEPS=100000.
SOAK_STEPS := 10000000
soak: build
	$(SARRUS) bench soak --steps $(SOAK_STEPS)

format:
	@scripts/setup.sh test
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

format-check:
	@scripts/setup.sh test
	@git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run --Werror

# A configuration of its own: clang cannot read GCC's precompiled headers.
tidy:
	@cmake --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSARRUS_BUILD_TESTS=OFF >/dev/null
	@git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -n 4 -P 2 clang-tidy -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option

bench-table: build
	python3 scripts/scene_table.py $(SARRUS)

# The tables of docs/collision.md.
bench-collision:
	@scripts/setup.sh test
	@cmake --preset release -DSARRUS_BUILD_BENCH=ON >/dev/null
	@cmake --build --preset release --target collision_pairs_bench broad_phase_bench
	@mkdir -p out
	build/release/bench/collision_pairs_bench --benchmark_min_time=0.05 --benchmark_format=json >out/pairs.json
	@python3 scripts/collision_table.py out/pairs.json
	build/release/bench/broad_phase_bench

# Solvers on the problem families, and the factorisation below them. One BLAS thread: CHOLMOD's would be no fair match.
# Other seeds, families or solvers: make bench-solvers BENCH_ARGS="--seeds 3 --families ring20".
BENCH_ARGS := --seeds 20
bench-solvers:
	@scripts/setup.sh test
	@cmake --preset release -DSARRUS_BUILD_BENCH=ON >/dev/null
	@cmake --build --preset release --target solver_families_bench block_factor_bench
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 build/release/bench/block_factor_bench --benchmark_min_time=0.02 \
	  --benchmark_repetitions=5 --benchmark_format=json >out/factor.json
	@python3 scripts/block_factor_table.py out/factor.json
	@build/release/bench/solver_families_bench --md $(BENCH_ARGS) --csv out/solver_families.csv

# The table of docs/papers.md, MLCP solvers. Shorter: make bench-mlcp MLCP_ARGS="--steps 100 brick_wall".
MLCP_ARGS := --steps 500 --every 5
bench-mlcp:
	@scripts/setup.sh test
	@cmake --preset release -DSARRUS_BUILD_BENCH=ON >/dev/null
	@cmake --build --preset release --target mlcp_scenes
	@build/release/bench/mlcp_scenes $(MLCP_ARGS)

# The tables of docs/peers.md: other engines on our scenes. Shorter: make bench-peers PEERS_ARGS=--quick. Siconos is
# compared on the FCLIB problems of a folder: PEERS_ARGS="--fclib DIR".
PEERS_ARGS :=
bench-peers:
	@scripts/setup.sh peers
	@cmake --preset release -DSARRUS_BUILD_PEERS=ON | grep 'peers:' || true
	@cmake --build --preset release --target sarrus_command sarrus_peers
	@mkdir -p out
	$(SARRUS) bench peers --json out/peers.json $(PEERS_ARGS)

clean:
	rm -rf build out
