#!/usr/bin/env bash
# Installs the Debian packages that building and testing need and that are not there yet.
# On a system without apt-get it names what must be installed by hand, and stops if the compiler would not find it.
#   scripts/setup.sh build    packages to build and run
#   scripts/setup.sh test     the above and what the tests use
#   scripts/setup.sh deb      packages to build, and those that make and check Debian packages
#   scripts/setup.sh python   packages to build, and those that the Python package is built with
#   scripts/setup.sh fuzz     packages to build, and clang with libFuzzer where this system has them
#   scripts/setup.sh peers    packages to build, and the engines that `sarrus bench peers` compares with; those that cannot
#                             be installed are named and left out
#   scripts/setup.sh bench    packages to build, and MuJoCo's Python package in build/mujoco, for `sarrus bench batch --mujoco`
set -euo pipefail

packages=(g++ cmake ninja-build libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhdf5-dev zlib1g-dev
  libqhull-dev libtinyxml2-dev libbullet-dev libsdformat-dev libboost-dev libtbb-dev)
if [ "${1:-build}" = test ] || [ "${1:-build}" = fuzz ]; then
  packages+=(libgtest-dev libbenchmark-dev libopenmpi-dev openmpi-bin libfclib-dev libsuitesparse-dev clang-format python3 python3-h5py python3-jsonschema)
fi
case "${1:-build}" in
  test | python) packages+=(python3 python3-dev python3-venv) ;;
esac

# The page's tests want node, npm and a Chromium, from wherever they come.
if [ "${1:-build}" = test ]; then
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
  { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || packages+=(chromium)
fi

case "${1:-build}" in
  test | deb) packages+=(dpkg-dev file) ;;
esac
[ "${1:-build}" != deb ] || packages+=(python3 python3-dev python3-venv)
[ "${1:-build}" != bench ] || packages+=(python3 python3-venv)

# What does not come as a package of the system.
finish() {
  if [ "${kind}" = bench ] && ! [ -x build/mujoco/bin/python ]; then
    { python3 -m venv build/mujoco && build/mujoco/bin/pip install -q mujoco numpy; } || {
      rm -rf build/mujoco
      echo "setup: could not install the Python package mujoco; sarrus bench batch runs without it"
    }
  fi
}
kind=${1:-build}

# Not needed: one by one, and what this system does not have is left out.
extra=()
case "${1:-build}" in
  fuzz) extra=(clang-14 libclang-rt-14-dev) ;;
  test) extra=(qemu-user) ;;
  deb) extra=(lintian) ;;
  peers) extra=(libmujoco-dev libode-dev libdart-dev libdart-collision-ode-dev libdart-external-odelcpsolver-dev
    libdart-external-ikfast-dev libdart-external-convhull-3d-dev libsimbody-dev libsiconos-numerics-dev libsuitesparse-dev) ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  missing=()
  for tool in g++ cmake ninja; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  for header in eigen3/Eigen/Core fmt/format.h nlohmann/json.hpp CLI/CLI.hpp boost/beast/websocket.hpp; do
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

is_installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null || true)" = "install ok installed" ]; }

missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
missing_extra=()
for package in "${extra[@]}"; do is_installed "$package" || missing_extra+=("$package"); done
if [ ${#missing[@]} -eq 0 ] && [ ${#missing_extra[@]} -eq 0 ]; then
  finish
  exit 0
fi

echo "setup: installing ${missing[*]} ${missing_extra[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null; then
    as_root=(sudo)
  else
    echo "setup: not root and no sudo; as root run: apt-get install ${missing[*]} ${missing_extra[*]}" >&2
    [ ${#missing[@]} -eq 0 ] && exit 0
    exit 1
  fi
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1
}
"${as_root[@]}" apt-get update -qq >"$log" 2>&1 || updated=no
if [ ${#missing[@]} -gt 0 ] && { [ "${updated:-yes}" = no ] || ! install "${missing[@]}"; }; then
  tail -n 5 "$log" >&2
  echo "setup: could not install: ${missing[*]}" >&2
  exit 1
fi
for package in "${missing_extra[@]}"; do
  install "$package" || echo "setup: could not install $package; what needs it will be left out"
done
finish
