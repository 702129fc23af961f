#!/usr/bin/env bash
# search.sh TARGET SECONDS FOLDER: lets libFuzzer search with one target of the fuzz build; ./dev fuzz does it for all.
# An input that breaks something stays in FOLDER/found: once the fault is mended, it belongs in the target's corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$1 seconds=$2 folder=$3
corpus=tests/fuzz/corpus/$target
[[ -d $corpus ]] || corpus=$folder/seeds/$target
mkdir -p "$folder/grown/$target"
options=(-max_total_time="$seconds" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1)
# libstb allocates the length that a piece of a file claims, and does not touch the bytes that do not come.
[[ $target == image ]] && options+=(-malloc_limit_mb=4096)
status=0
build/fuzz/fuzz/"$target" "${options[@]}" -artifact_prefix="$folder/found/$target-" \
  "$folder/grown/$target" "$corpus" > "$folder/$target.log" 2>&1 || status=$?
readonly interrupted=72  # libFuzzer's exit status after Ctrl-C
case $status in
  0) finding='nothing found' ;;
  "$interrupted") finding='stopped before its time, nothing found so far' ;;
  *) finding="FOUND, see $folder/$target.log" ;;
esac
figure() { sed -n "s/^stat::$1: *//p" "$folder/$target.log"; }
coverage=$(grep -o 'cov: [0-9]*' "$folder/$target.log" | tail -1)
printf '%-20s %10s executions, %s, %s MB: %s\n' "$target" "$(figure number_of_executed_units)" "$coverage" \
  "$(figure peak_rss_mb)" "$finding"
exit $((status != 0))
