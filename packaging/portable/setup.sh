#!/bin/sh
# Makes an unpacked Starling known to this user's desktop, and removes it again. Nothing outside the home folder is
# touched, and no rights are needed.
set -eu

root=$(dirname "$(readlink -f "$0")")
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
commands=$HOME/.local/bin
autostart_entry=$config/autostart/starling-tray.desktop

usage() {
  cat << 'HELP'
usage: setup install [--autostart yes|no]
       setup uninstall [--purge]

install      commands in ~/.local/bin, a menu entry, icons, and the handler of starling:// links. Asks whether Starling
             is to start with the desktop, unless --autostart says so
uninstall    ends Starling and removes all that, and this folder. --purge: models, data, preferences and your identity
             in ~/.local/share/starling too
HELP
}

# Reports progress if somebody looks.
say() { printf '%s\n' "$*"; }

each_shared_file() { # icons and the menu entry, relative to share/
  (cd "$root/current/share" 2> /dev/null && find icons applications -type f 2> /dev/null) || true
}

refresh_desktop() {
  if command -v update-desktop-database > /dev/null; then update-desktop-database -q "$data/applications" || true; fi
  if command -v gtk-update-icon-cache > /dev/null; then gtk-update-icon-cache -q -t "$data/icons/hicolor" || true; fi
}

ask_autostart() {
  [ -t 0 ] || { echo no; return; }
  printf 'Start Starling with the desktop? [Y/n] ' >&2
  read -r answer
  case $answer in [nN]*) echo no ;; *) echo yes ;; esac
}

install_for_user() {
  mkdir -p "$commands"
  for program in starling starlingd starling-tray; do
    if [ -e "$root/current/bin/$program" ]; then ln -sfn "$root/current/bin/$program" "$commands/$program"; fi
  done
  each_shared_file | while read -r file; do
    mkdir -p "$data/$(dirname "$file")"
    case $file in
      *.desktop) sed "s|^\(Try\)\?Exec=\(starling[a-z-]*\)|\1Exec=$root/current/bin/\2|" "$root/current/share/$file" > "$data/$file" ;;
      *) cp "$root/current/share/$file" "$data/$file" ;;
    esac
  done
  refresh_desktop
  if [ "${autostart:-}" = "" ]; then autostart=$(ask_autostart); fi
  if [ "$autostart" = yes ]; then
    mkdir -p "$(dirname "$autostart_entry")"
    printf '[Desktop Entry]\nType=Application\nName=Starling\nExec="%s" --hidden\nTryExec=%s\nX-GNOME-Autostart-enabled=true\n' \
      "$root/current/bin/starling-tray" "$root/current/bin/starling-tray" > "$autostart_entry"
  fi
  say "Starling is installed in $root."
  case :$PATH: in
    *":$commands:"*) say "Start it from the menu, or with the command starling-tray." ;;
    *) say "Start it from the menu, or with $commands/starling-tray (log in again, and starling-tray is enough)." ;;
  esac
}

# The daemon first saves the model and ends its trainer; after this nobody writes here any more.
end_programs() {
  ended=
  for process in /proc/[0-9]*; do
    case $(readlink "$process/exe" 2> /dev/null) in
      "$root"/*/bin/*) kill "${process#/proc/}" 2> /dev/null && ended="$ended ${process#/proc/}" ;;
    esac
  done
  for process in $ended; do timeout 300 tail --pid "$process" --follow /dev/null || true; done
}

uninstall_for_user() {
  end_programs
  for program in starling starlingd starling-tray; do
    if [ "$(readlink "$commands/$program" 2> /dev/null)" = "$root/current/bin/$program" ]; then rm "$commands/$program"; fi
  done
  each_shared_file | while read -r file; do rm -f "$data/$file"; done
  # The window has written some of these itself, for a copy that was run before it was installed.
  for entry in "$autostart_entry" "$data/applications/starling-tray-links.desktop"; do
    if grep -qs "$root/" "$entry"; then rm -f "$entry"; fi
  done
  refresh_desktop
  if [ "${purge:-}" = yes ]; then rm -rf "$data/starling"; fi
  cd /
  rm -rf "$root"
  say "Starling is gone."
}

command=${1:-}
[ $# -eq 0 ] || shift
while [ $# -gt 0 ]; do
  case $1 in
    --autostart) autostart=${2:?--autostart needs yes or no} && shift ;;
    --purge) purge=yes ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
case $command in
  install) install_for_user ;;
  uninstall) uninstall_for_user ;;
  -h | --help) usage ;;
  *) usage >&2 && exit 2 ;;
esac
