#!/usr/bin/env bash
# Fuzzes every reader of files, as many at a time as there are processors, and prints a table of executions and findings
# (docs/reliability.md).
#   scripts/fuzz.sh SECONDS FOLDER SEED [READER...]
# With build/fuzz/fuzz/sarrus_libfuzzer (clang): libFuzzer, whose corpora grow in FOLDER/corpus/READER from run to run.
# Else build/release/fuzz/sarrus_fuzz. Inputs that break a promise are left in FOLDER. Exit code 1: there are some.
set -euo pipefail

seconds=$1
folder=$2
seed=$3
shift 3
here=$(cd "$(dirname "$0")/.." && pwd)
libfuzzer=$here/build/fuzz/fuzz/sarrus_libfuzzer
own=$here/build/release/fuzz/sarrus_fuzz
mkdir -p "$folder"
cd "$folder"
touch started  # findings of earlier runs stay, and are not told again

if [ ! -x "$libfuzzer" ]; then
  exec "$own" "$seconds" "${1:-}" "$seed"
fi

readers=("$@")
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <("$libfuzzer" list)

# One reader: ends by itself after the time, or with what it found.
fuzz_one() {
  local reader=$1
  mkdir -p "corpus/$reader"
  local known=()
  # Texts: a longer one takes longer, and finds no more.
  local most=100000
  case $reader in scene | mjcf | urdf | sdf) most=8000 ;; esac
  [ -d "$here/fuzz/corpus/$reader" ] && known=("$here/fuzz/corpus/$reader")
  "$libfuzzer" "$reader" "corpus/$reader" "${known[@]}" -max_total_time="$seconds" -seed="$seed" -timeout=20 \
    -rss_limit_mb=3000 -malloc_limit_mb=2500 -max_len="$most" -detect_leaks=0 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="finding-$reader-" >"log-$reader.txt" 2>&1 || true
}
export -f fuzz_one
export seconds seed here libfuzzer
printf '%s\n' "${readers[@]}" | xargs -P "$(nproc)" -I {} bash -c 'fuzz_one {}'

found=0
printf '| reader | executions | per second | slowest | peak memory | inputs kept | findings |\n|---|---|---|---|---|---|---|\n'
for reader in "${readers[@]}"; do
  log=log-$reader.txt
  stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
  findings=$(find . -maxdepth 1 -name "finding-$reader-*" -newer started | wc -l)
  [ "$findings" -eq 0 ] || found=1
  printf '| %s | %s | %s | %s s | %s MB | %s | %s |\n' "$reader" "$(stat number_of_executed_units)" \
    "$(stat average_exec_per_sec)" "$(stat slowest_unit_time_sec)" "$(stat peak_rss_mb)" \
    "$(find "corpus/$reader" -type f | wc -l)" "$findings"
done
exit $found
