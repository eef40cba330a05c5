#!/usr/bin/env bash
# Installs the Debian packages of a folder in a clean root, as a stranger would, and uses each of them there: the command runs
# a scene, Python imports the module, a program is compiled with the library; then all are removed, and nothing may stay.
# Needs root, debootstrap and a Debian mirror; takes minutes and 3 GB in /tmp (TMPDIR).
#   scripts/try_deb.sh [DEB_DIR] [SUITE]       default: out/deb, bookworm; MIRROR: another mirror; KEEP=1: keeps the root
set -euo pipefail
cd "$(dirname "$0")/.."
debs=${1:-out/deb} suite=${2:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}

stop() {
  echo "try_deb: $*" >&2
  exit 2
}
[ "$(id -u)" -eq 0 ] || stop "making a clean root needs root; run: sudo $0 $*"
command -v debootstrap >/dev/null || stop "debootstrap is not there; apt-get install debootstrap"
compgen -G "$debs/*.deb" >/dev/null || stop "no packages in $debs; make deb"

root=$(mktemp -d -t try_deb.XXXXXX)
chmod 755 "$root"
log=$root.log
finish() {
  local status=$?
  umount "$root/proc" 2>/dev/null || true
  rm -f "$log.before" "$log.after"
  if [ "${KEEP:-}" = 1 ]; then
    echo "try_deb: the root is $root, its log $log"
  elif [ $status -eq 0 ]; then
    rm -rf --one-file-system "$root" "$log"
  else
    tail -n 20 "$log" >&2
    rm -rf --one-file-system "$root"
    echo "try_deb: failed; the whole log is $log" >&2
  fi
}
trap finish EXIT
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} "$@"; }
install() {
  in_root apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@" >>"$log" 2>&1
}
deb() { (cd "$root" && compgen -G "debs/$1_*.deb" | sed 's,^,/,'); }
installed_size() { in_root dpkg-query -W -f '${Installed-Size}\n' | awk '{s += $1} END {print s / 1024}'; }
grown() { awk -v a="$1" -v b="$(installed_size)" 'BEGIN {printf "%.0f MB with what it depends on", b - a}'; }

echo "try_deb: a clean root with $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$log" 2>&1
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" 2>/dev/null || true
mkdir "$root/debs" "$root/work"
cp "$debs"/*.deb "$root/debs"
cp -r tests/install/consumer "$root/work/consumer"
in_root apt-get update -q >>"$log" 2>&1
in_root sh -c 'cd / && find usr etc var/lib -xdev -name "*sarrus*"' >"$log.before"

before=$(installed_size)
install "$(deb sarrus)"
echo "try_deb: sarrus is installed ($(grown "$before"))"
in_root sarrus --version
in_root sarrus run jansen_walker --duration 0.2 --json /work/walk.json --html /work/walk.html
[ -s "$root/work/walk.json" ] && [ -s "$root/work/walk.html" ]

if compgen -G "$debs/python3-sarrus_*.deb" >/dev/null; then
  before=$(installed_size)
  install "$(deb python3-sarrus)"
  echo "try_deb: python3-sarrus is installed ($(grown "$before"))"
  in_root python3 - <<'CODE'
import numpy, sarrus
sim = sarrus.Simulation(sarrus.Model.builtin("jansen_walker"))
before = sim.position.copy()
assert sim.step(200).ok
assert numpy.abs(sim.position - before).max() > 1e-3
print(f"sarrus {sarrus.__version__} of {sarrus.__file__}: {sim.time:.3f} s of {len(sim.position)} bodies")
CODE
fi

before=$(installed_size)
install "$(deb libsarrus-dev)" g++ cmake make
echo "try_deb: libsarrus-dev is installed, g++ and cmake with it ($(grown "$before"))"
in_root sh -ec 'cd /work/consumer && cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DSARRUS_INCLUDE_DIR=/usr/include &&
  cmake --build build --target consumer --parallel' >>"$log" 2>&1
[ "$(in_root /work/consumer/build/consumer)" = "pendulum swings" ]
echo "try_deb: a program with find_package(sarrus) is compiled and runs"

in_root sh -c "dpkg -P \$(dpkg-query -W -f '\${Package}\n' '*sarrus*')" >>"$log" 2>&1
in_root sh -c 'cd / && find usr etc var/lib -xdev -name "*sarrus*"' | grep -v '^var/lib/apt/' >"$log.after" || true
if ! diff "$log.before" "$log.after"; then
  echo "try_deb: these files stay behind" >&2
  exit 1
fi
echo "try_deb: removed, and nothing stays"
