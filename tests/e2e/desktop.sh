#!/usr/bin/env bash
# Simulates a volunteer at a desktop: a screen, a window manager, a panel, and the program that a join link starts.
#
#   desktop.sh join FOLDER LINK COMMAND …   starts all that, then COMMAND … LINK, and goes through the first-run wizard by
#                                           the keyboard, as Ada; all of it continues to run afterwards
#   desktop.sh close FOLDER                 finishes the wizard and closes the window; the icon in the panel stays
#   desktop.sh picture FOLDER NAME          takes a picture of the screen
#   desktop.sh end FOLDER                   ends the screen, and everything on it
#
# Pictures go to FOLDER, the screen's number to FOLDER/display. Each step waits for its window, by title.
set -euo pipefail
. "$(dirname "$0")/waiting.sh"
export LC_ALL=C.UTF-8 # titles have more than ASCII
folder=$2
if [[ -e $folder/display ]]; then
  DISPLAY=$(cat "$folder/display")
  export DISPLAY
fi

picture() { import -window root "$folder/$1.png"; }

start_screen() {
  # The screen outlives this script: it holds its standard input open itself.
  mkfifo "$folder/hold"
  exec {screen}< <(exec 2> /dev/null setsid bash "$(dirname "$0")/screen.sh" 1100x800 --panel 0<> "$folder/hold")
  read -r -t 90 -u "$screen" number || fail "no screen"
  export DISPLAY=:$number
  echo $! > "$folder/screen"
  echo "$DISPLAY" > "$folder/display"
}

# Waits for the window of that title and gives it the focus.
at_window() {
  if ! timeout 60 xdotool search --sync --onlyvisible --name "$1" > "$folder/found"; then
    picture lost
    fail "no window '$1'; see $folder/lost.png"
  fi
  xdotool windowactivate --sync "$(tail -n 1 "$folder/found")"
}

# Keys are processed one after the other, whatever page comes in between.
wizard() {
  at_window '^Join .*: Which project' # it names the project once that has answered
  picture 1-link
  xdotool key Return
  at_window '^Join .*: What you give$'
  xdotool key space # "I agree to give this"
  picture 2-give
  xdotool key Return
  at_window '^Join .*: You$'
  xdotool type Ada
  picture 3-you
  xdotool key Return
  at_window '^Join .*: How much$'
  xdotool key Down Down # from gentle to dedicated, which needs no idle computer
  picture 4-limits
  xdotool key Return
  at_window '^Join .*: Ready$'
  picture 5-ready
  xdotool key Return
  at_window '^Join .*: First steps$'
  picture 6-first-steps
}

close_window() {
  at_window '^Join .*: First steps$'
  picture 7-accepted
  xdotool key Return
  at_window ' Starling$' # some computers cannot display the dash before it
  picture 8-window
  xdotool key alt+F4
  at_window '^Starling goes on$' # shown the first time
  picture 9-goes-on
  xdotool key Return
  # The window manager's list reports it with every change.
  wait_for_line 30 "the window is closed" "^(?!.*$(printf 0x%x "$(tail -n 1 "$folder/found")"))" \
    xprop -spy -root _NET_CLIENT_LIST
  picture 10-panel
}

case $1 in
  join)
    link=$3
    shift 3
    start_screen
    setsid "$@" "$link" < /dev/null > "$folder/tray.log" 2>&1 &
    wizard
    ;;
  close) close_window ;;
  picture) picture "$3" ;;
  end) kill -- "-$(cat "$folder/screen")" ;; # its whole session
esac
