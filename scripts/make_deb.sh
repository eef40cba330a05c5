#!/usr/bin/env bash
# Builds the Debian packages of a build folder and checks them (docs/install.md). Without MPI, whose packages are large, and
# without what pip left in the cache of CMake.
#   scripts/make_deb.sh BUILD_DIR OUT_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 out=$2
# One date for one commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

options=(-DSARRUS_BUILD_TESTS=OFF -DSARRUS_MPI=OFF -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib -USKBUILD)
targets=(sarrus_command)
if [ -e python/CMakeLists.txt ]; then
  scripts/python_env.sh
  python=$PWD/build/venv/bin/python
  version='import sys; print(*sys.version_info[:2], sep=".")'
  if [ "$("$python" -c "$version")" != "$(/usr/bin/python3 -c "$version")" ]; then
    echo "make_deb: build/venv is not of Debian's Python; remove it, and make it again with PYTHON=/usr/bin/python3" >&2
    exit 1
  fi
  options+=(-DSARRUS_BUILD_PYTHON=ON -DSARRUS_PYTHON_DIR=lib/python3/dist-packages "-DPython_EXECUTABLE=$python")
  targets+=(sarrus_python)
fi
cmake --preset release -B "$build" "${options[@]}" >"$build-configure.log" 2>&1 || { cat "$build-configure.log" >&2; exit 1; }
rm -f "$build-configure.log"
cmake --build "$build" --target "${targets[@]}"
scripts/pack_deb.sh "$build" "$out"
if command -v lintian >/dev/null; then
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/*.deb
else
  echo "make_deb: lintian is not there, its checks are left out"
fi
ls -sh "$out"/*.deb
