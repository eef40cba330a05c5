#!/usr/bin/env bash
# Makes the virtual environment of the tests and of `make python`, build/venv, with what python/requirements.txt lists; does
# nothing if it has that already. PYTHON: the interpreter; default: python3.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/venv
wanted=$(sha256sum python/requirements.txt | cut -d' ' -f1)
[ -x $venv/bin/python ] && [ "$(cat $venv/requirements 2>/dev/null || true)" = "$wanted" ] && exit 0
echo "python_env: making $venv"
mkdir -p build
"${PYTHON:-python3}" -m venv --clear $venv
if ! $venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements.txt; then
  echo "python_env: could not install what python/requirements.txt lists; the Python package index has to be reachable" >&2
  exit 1
fi
echo "$wanted" >$venv/requirements
