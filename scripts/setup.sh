#!/usr/bin/env bash
# Installs the Debian packages that building and testing need and that are not there yet.
# On a system without apt-get it names what must be installed by hand, and stops if the compiler would not find it.
#   scripts/setup.sh build    packages to build and run
#   scripts/setup.sh test     the above and what the tests use
set -euo pipefail

packages=(g++ cmake ninja-build libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhdf5-dev
  libqhull-dev libassimp-dev libbullet-dev libtbb-dev)
if [ "${1:-build}" = test ]; then
  packages+=(libgtest-dev libbenchmark-dev libopenmpi-dev openmpi-bin libfclib-dev libsuitesparse-dev clang-format python3 python3-h5py python3-jsonschema)
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  missing=()
  for tool in g++ cmake ninja; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  for header in eigen3/Eigen/Core fmt/format.h nlohmann/json.hpp CLI/CLI.hpp; do
    found=no
    for dir in /usr/include /usr/local/include /opt/homebrew/include; do [ -e "$dir/$header" ] && found=yes; done
    [ "$found" = yes ] || missing+=("$header")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "setup: this system has no apt-get, and these were not found: ${missing[*]}" >&2
    echo "setup: install the equivalents of the Debian packages: ${packages[*]}" >&2
    exit 1
  fi
  echo "setup: no apt-get here; using the libraries that are installed (Debian names: ${packages[*]})"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null; then
    as_root=(sudo)
  else
    echo "setup: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq \
      --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "setup: could not install: ${missing[*]}" >&2
  exit 1
fi
