# shellcheck shell=bash
# Functions for scripts that simulate a whole machine: they wait for programs that report their own state.

fail() {
  printf '#### FAILED: %s\n' "$*"
  exit 1
}

# wait_for SECONDS WHAT FILTER COMMAND …: runs COMMAND until FILTER, a command that reads its continuous output, has
# found something; then ends COMMAND.
wait_for() {
  local seconds=$1 what=$2 filter=$3 said teller found=0
  shift 3
  exec {said}< <(exec timeout "$seconds" "$@" 2> /dev/null)
  teller=$!
  bash -c "$filter" <&"$said" || found=$?
  kill "$teller" 2> /dev/null || true
  exec {said}<&-
  ((found == 0)) || fail "not in time: $what"
}

# wait_for_line SECONDS WHAT PATTERN COMMAND …: waits for the first line that fits the pattern, a Perl expression.
wait_for_line() { wait_for "$1" "$2" "grep --quiet --max-count 1 --perl-regexp -- ${3@Q}" "${@:4}"; }

# wait_for_credit SECONDS WHO SAMPLES COMMAND …: waits until COMMAND, a `starling status --follow --json` of WHO,
# reports more than SAMPLES credited.
wait_for_credit() {
  local more='import json, sys; sys.exit(not any(json.loads(line)["samples_credited"] > int(sys.argv[1]) for line in sys.stdin))'
  wait_for "$1" "$2 is credited with more than $3 samples" "python3 -c ${more@Q} $3" "${@:4}"
}
