# shellcheck shell=bash
# For scripts that play on a machine as a whole: they wait for what tells of itself.

fail() {
  printf '#### FAILED: %s\n' "$*"
  exit 1
}

# wait_for SECONDS WHAT FILTER COMMAND …: until the filter, a command that reads what COMMAND goes on saying, has found
# something. COMMAND is ended then.
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

# wait_for_line SECONDS WHAT PATTERN COMMAND …: for the first line that fits the pattern, one of Perl's.
wait_for_line() { wait_for "$1" "$2" "grep --quiet --max-count 1 --perl-regexp -- ${3@Q}" "${@:4}"; }

# wait_for_credit SECONDS WHO SAMPLES COMMAND …: until more than so many are credited, by COMMAND, which is a
# `starling status --follow --json` of theirs.
wait_for_credit() {
  local more='import json, sys; sys.exit(not any(json.loads(line)["samples_credited"] > int(sys.argv[1]) for line in sys.stdin))'
  wait_for "$1" "$2 is credited with more than $3 samples" "python3 -c ${more@Q} $3" "${@:4}"
}
