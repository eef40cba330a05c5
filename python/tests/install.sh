#!/usr/bin/env bash
# Installs the package by pip into a fresh environment, from the objects of a build folder, and uses it there.
#   install.sh PYTHON SOURCE_DIR BUILD_DIR WORK_DIR      PYTHON: has scikit-build-core, nanobind and numpy
set -euo pipefail
python=$1 source=$2 build=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
# The environment sees the packages of the one that builds, and has none of its own.
"$python" -m venv --without-pip "$work/venv"
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/builder.pth"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -C build-dir="$build" \
  -C cmake.define.SARRUS_BUILD_TESTS=ON \
  -w "$work" "$source"
wheel=$(ls "$work"/sarrus-*.whl)
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" "$wheel"
cd "$work"
unset PYTHONPATH
"$work/venv/bin/python" - "$site" <<'CODE'
import pathlib
import sys

import sarrus

folder = pathlib.Path(sarrus.__file__).parent
assert str(folder).startswith(sys.argv[1]), folder
assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
sim = sarrus.Simulation(sarrus.Model.builtin("fourbar_free"))
assert sim.step(10).ok
print(f"sarrus {sarrus.__version__} of {folder} took ten steps")
CODE
