# For scripts that play on a machine as a whole. What tells of itself is waited for by that; this is for what only
# answers when it is asked.

fail() {
  printf '#### FAILED: %s\n' "$*"
  exit 1
}

# until_true SECONDS WHAT COMMAND …: asks twice a second.
until_true() {
  local what=$2 end=$((SECONDS + $1))
  shift 2
  until "$@" > /dev/null 2>&1; do
    ((SECONDS < end)) || fail "not in time: $what"
    sleep 0.5
  done
}
