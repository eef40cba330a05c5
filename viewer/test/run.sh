#!/usr/bin/env bash
# Tests of the page in a copy of viewer/ below the build folder, where the packages are that it is built from.
#   run.sh install SOURCE WORK    copies the sources; installs the packages of package-lock.json unless they are there
#   run.sh unit SOURCE WORK       types, format, and node --test
#   run.sh bundle SOURCE WORK     builds, and compares with the bundle that is committed
#   run.sh browser SOURCE WORK    headless Chromium; SARRUS_COMMAND names the program for the live view
set -euo pipefail
what=$1 source=$2 work=$3

need() { command -v "$1" >/dev/null || { echo "viewer: $1 is missing; scripts/setup.sh test installs it" >&2; exit 1; }; }
need node

case "$what" in
  install)
    need npm
    mkdir -p "$work"
    rm -rf "$work"/{src,test,dist,out}
    cp -r "$source"/{src,test,dist,build.mjs,tsconfig.json,package.json,package-lock.json,.npmrc,.prettierrc.json,.prettierignore} "$work"
    if ! cmp -s "$work/package-lock.json" "$work/node_modules/.installed"; then
      (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
      cp "$work/package-lock.json" "$work/node_modules/.installed"
    fi
    (cd "$work" && node build.mjs --tests) ;;
  unit)
    cd "$work"
    npm run --silent check
    node --test out/test/*.test.mjs ;;
  bundle)
    cd "$work"
    node build.mjs --out out/dist
    if ! diff -rq -x page.html out/dist "$source/dist"; then
      echo "viewer: viewer/dist is not what viewer/src builds; run 'npm ci --ignore-scripts && npm run build' in viewer/ and commit dist" >&2
      exit 1
    fi ;;
  browser)
    cd "$work"
    node test/browser.mjs ;;
  *) echo "viewer: unknown test $what" >&2; exit 2 ;;
esac
