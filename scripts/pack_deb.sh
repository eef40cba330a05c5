#!/usr/bin/env bash
# Packs what a build folder has into Debian packages, and checks their names, versions, dependencies and lists of files.
#   scripts/pack_deb.sh BUILD_DIR OUT_DIR
set -euo pipefail
build=$1 out=$2
if grep -q '^SKBUILD:' "$build/CMakeCache.txt"; then
  echo "pack_deb: pip has configured $build for its own package; cmake $build -USKBUILD -USARRUS_PYTHON_DIR undoes that" >&2
  exit 77
fi
rm -rf "$out"
mkdir -p "$out"
cpack --config "$build/CPackConfig.cmake" -B "$out" >"$out/cpack.log" 2>&1 || { cat "$out/cpack.log" >&2; exit 1; }
rm -rf "$out/_CPack_Packages" "$out/cpack.log"

fail() {
  echo "pack_deb: $*" >&2
  exit 1
}
version=$(sed -n 's/^project(sarrus VERSION \([0-9.]*\).*/\1/p' "$(dirname "$0")/../CMakeLists.txt")

# check PACKAGE PATTERN...: every pattern is a file of it, and every file is below one of the folders of a package.
check() {
  local package=$1 deb files pattern
  shift
  deb=$(ls "$out/${package}_${version}"_*.deb) || fail "no package $package of version $version"
  files=$(dpkg-deb --fsys-tarfile "$deb" | tar -t)
  for pattern in "$@" "^./usr/share/doc/$package/copyright$" "^./usr/share/doc/$package/changelog.gz$"; do
    grep -q "$pattern" <<<"$files" || fail "$package has no file like $pattern"
  done
  ! grep -v '/$' <<<"$files" | grep -vE '^./usr/(bin|include/sarrus|lib|share/(doc|man|lintian))/' || fail "$package has files elsewhere"
  [ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "$package has another version in it"
  grep -q "$package" <<<"$(dpkg-deb -f "$deb" Package)" || fail "$deb has another name in it"
  [ -n "$(dpkg-deb -f "$deb" Depends)" ] || fail "$package depends on nothing"
  ! dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards './usr/lib/cmake/*' 2>/dev/null | grep -n "$PWD" ||
    fail "$package names a folder of this machine"
}
check sarrus '^./usr/bin/sarrus$' '^./usr/share/man/man1/sarrus.1.gz$'
check libsarrus-dev '^./usr/include/sarrus/step/simulation.h$' '/libsarrus_step.a$' '/cmake/sarrus/sarrusConfig.cmake$' \
  '/cmake/sarrus/sarrusTargets.cmake$' '/docs/scene-format.md$'
if grep -q 'SARRUS_BUILD_PYTHON:BOOL=ON' "$build/CMakeCache.txt"; then
  check python3-sarrus '^./usr/lib/python3/dist-packages/sarrus/__init__.py$' \
    '/dist-packages/sarrus/_core.*\.so$' '/dist-packages/sarrus/_cpu.*\.so$' '/sarrus/py.typed$'
fi

# The manual page has every command.
manual=$(dpkg-deb --fsys-tarfile "$out/sarrus_${version}"_*.deb | tar -xO ./usr/share/man/man1/sarrus.1.gz | gunzip)
for command in $("$build/apps/sarrus" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  grep -qx "\.B $command" <<<"$manual" || fail "the manual page has no command $command"
done
