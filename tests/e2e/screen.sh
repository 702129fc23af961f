#!/usr/bin/env bash
# An invisible screen, with a window manager and, on request, a panel that hosts tray icons. Prints the display's number
# on standard output once all of it can be used, and ends with its standard input. Every user of this computer may use
# it.
#
#   screen.sh WIDTHxHEIGHT [--panel]
set -euo pipefail
folder=$(mktemp -d)
started=()
end() {
  ((${#started[@]})) && kill "${started[@]}" 2> /dev/null
  rm -rf "$folder"
}
trap end EXIT

# Xvfb writes its number once it can be used, and finds a free one itself.
mkfifo "$folder/number"
Xvfb -screen 0 "${1}x24" -ac -nolisten tcp -displayfd 3 3> "$folder/number" > /dev/null 2>&1 &
started+=($!)
read -r -t 30 number < "$folder/number" || { echo "screen.sh: no screen" >&2; exit 1; }
export DISPLAY=:$number
# A window manager runs its startup command once it manages windows.
mkfifo "$folder/managed"
openbox --startup "tee $folder/managed" < /dev/null > /dev/null 2>&1 &
started+=($!)
timeout 30 cat "$folder/managed" || { echo "screen.sh: no window manager" >&2; exit 1; }
if [[ ${2:-} == --panel ]]; then
  trayer --edge bottom --align left --widthtype request --height 24 --distance 4 < /dev/null > /dev/null 2>&1 &
  started+=($!)
  timeout 30 xdotool search --sync --onlyvisible --class trayer > /dev/null || { echo "screen.sh: no panel" >&2; exit 1; }
fi
echo "$number"
cat > /dev/null
