#!/usr/bin/env bash
# Tests that the installer without a package manager gives an ordinary user of another distribution a working volunteer.
# Makes a machine with nothing but Debian 13 and a font (a chroot; SUITE=sid for another). In it, as a user without
# rights: runs the installer; starts the window by its menu entry and a join link, and goes through the wizard by the
# keyboard; trains for a project that is served outside; sees the volunteer on the leaderboard; updates to a higher
# version from a signed feed, which the window follows, without losing identity or credit; and removes everything again.
#
#   portable.sh FOLDER BUILD INSTALLER HIGHER    the chroot, kept; a build with starling-coordinator and starling-release;
#                                                the .run file; the .tar.gz of a higher version
#
# Needs root, debootstrap, a network, and for the desktop, which is outside the machine: xvfb openbox trayer xdotool
# x11-utils imagemagick. Pictures of the screen are in FOLDER.screens. MIRROR names another Debian mirror.
set -euo pipefail

folder=$(realpath -m "${1:?usage: portable.sh FOLDER BUILD INSTALLER HIGHER}")
build=$(realpath "${2:?a build}")
installer=$(realpath "${3:?the installer}")
higher=$(realpath "${4:?the archive of a higher version}")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/waiting.sh"
suite=${SUITE:-trixie}
screens=$folder.screens
work=$(mktemp -d)
host_process=
trap '"$here/desktop.sh" end "$screens" 2> /dev/null || true; kill $(jobs -p) $host_process 2> /dev/null || true; rm -rf "$work"' EXIT
export STARLING_BIN=$build/bin PYTHONPATH=$here

say() { printf '\n== %s\n' "$*"; }
# Leaves out the cache of fonts, which any program may write.
files_of_ada() { (cd "$folder" && find home/ada ! -type d ! -path '*/.cache/fontconfig/*' | sort); }

make_machine() {
  if [[ ! -e $folder/etc/debian_version ]]; then
    unshare --mount debootstrap --variant=minbase --include=fonts-dejavu-core,fontconfig-config "$suite" "$folder" ${MIRROR:+"$MIRROR"}
  fi
  say "$(sed -n 's/^PRETTY_NAME=//p' "$folder/etc/os-release"), glibc $(chroot "$folder" dpkg-query -W -f '${Version}' libc6), $(
    chroot "$folder" dpkg-query -f '.\n' -W | wc -l) packages"
  echo '127.0.0.1 localhost' > "$folder/etc/hosts"
  grep -q '^ada:' "$folder/etc/passwd" || chroot "$folder" useradd --create-home ada
  rm -rf "$folder/home/ada" && cp -r "$folder/etc/skel" "$folder/home/ada"
  cp "$installer" "$folder/home/ada/starling.run"
  chroot "$folder" chown -R ada: /home/ada
  files_of_ada > "$work/before"
  rm -rf "$screens" && mkdir -p "$screens"
}

# One set of mounts and processes, which ends with this script.
start_machine() {
  mkdir -p -m 1777 /tmp/.X11-unix
  coproc MACHINE { exec unshare --mount --pid --fork --kill-child bash -euc '
    mount --rbind /dev "$0/dev"
    mount -t proc proc "$0/proc"
    mount -t tmpfs -o mode=1777 tmp "$0/tmp"
    mkdir -p "$0/tmp/.X11-unix" && mount --bind /tmp/.X11-unix "$0/tmp/.X11-unix"
    echo ready
    read -r until_the_end || true' "$folder"; }
  read -r -t 30 <&"${MACHINE[0]}" || fail "no machine"
  cat > "$work/ada" << SCRIPT
#!/bin/sh
# Runs as that user, without any rights.
exec nsenter --mount=/proc/$MACHINE_PID/ns/mnt --pid=/proc/$MACHINE_PID/ns/pid_for_children chroot "$folder" \\
  setpriv --reuid ada --regid ada --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \\
  env -i HOME=/home/ada PATH=/home/ada/.local/bin:/usr/bin:/bin LANG=C.UTF-8 \${DISPLAY:+DISPLAY="\$DISPLAY"} "\$@"
SCRIPT
  chmod +x "$work/ada"
}
as_ada() { "$work/ada" sh -euc "cd; $1"; }
status() { as_ada 'starling status --json' | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
ada_is_credited_beyond() { wait_for_credit 900 Ada "$1" "$work/ada" starling status --follow --json; }

serve_project() {
  say "a project outside"
  local coordinator=$build/bin/starling-coordinator
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  python3 - "$work" << 'PYTHON'
import sys
from pathlib import Path
import swarm, swarm_case
print(swarm.write_run(Path(sys.argv[1]) / "run", swarm_case.small_corpus(), swarm_case.SETTINGS))
PYTHON
  link=$("$coordinator" init "$work/project" --name Portable --listen "127.0.0.1:$port" | tail -n 1)
  "$coordinator" run create "$work/project" "$work/run/manifest.toml" > /dev/null
  "$coordinator" run start "$work/project" small
  "$coordinator" serve "$work/project" > "$work/log" 2>&1 &
  curl --silent --insecure --fail --retry 30 --retry-delay 1 --retry-all-errors --output /dev/null \
    "https://127.0.0.1:$port/status.json" || fail "the coordinator does not serve"
}

# A static host with the higher version, at the address where an installation of the lower one looks for it.
serve_release() {
  cat > "$work/host.py" << 'PYTHON'
import shutil, sys, threading
from pathlib import Path
import releases
folder, higher = map(Path, sys.argv[1:])
host = releases.StaticHost(folder / "host")
made = releases.Releases(folder / "made", host)
shutil.copy(higher, host.files)
made.feed(higher.name.split("-")[1], host.files / higher.name)
made.source(folder / "updates.json")
print("ready", flush=True)
threading.Event().wait()
PYTHON
  exec {host}< <(exec python3 "$work/host.py" "$work/releases" "$higher")
  host_process=$!
  read -r -t 60 -u "$host" || fail "no host for releases"
}

install_lower() {
  say "install, as a user without rights"
  as_ada 'sh starling.run --yes --autostart yes
          ls ~/.local/bin ~/.local/share/applications ~/.config/autostart
          starlingd --version
          QT_QPA_PLATFORM=offscreen starling-tray --version
          for file in ~/.local/share/starling-program/current/bin/starling*; do
            if ldd "$file" | grep "not found"; then exit 1; fi
          done'
  lower=$(as_ada 'starlingd --version')
  "$work/ada" sh -c "cd ~/.local/share/starling-program/versions/$lower && mkdir -p share/starling && cat > share/starling/updates.json" \
    < "$work/releases/updates.json"
}

volunteer() {
  say "the window, by its menu entry and the link; the wizard"
  local entry program
  entry=$(as_ada "grep -l 'x-scheme-handler/starling' ~/.local/share/applications/*.desktop")
  program=$(sed -n 's/^Exec=\(.*starling-tray\) %u$/\1/p' "$folder$entry")
  "$here/desktop.sh" join "$screens" "$link" "$work/ada" "$program"
  say "trained, and on the leaderboard"
  ada_is_credited_beyond 0
  "$here/desktop.sh" close "$screens"
  as_ada 'starling status
          starling leaderboard | grep Ada
          grep "is ready, confined by" ~/.local/share/starling/starlingd.log | tail -n 1'
  curl --silent --insecure "https://127.0.0.1:$port/leaderboard" | grep -o '>Ada<' | head -n 1
}

identity() { as_ada 'sha256sum ~/.local/share/starling/host.key'; }
# The process that is the tray of this version.
tray_of() {
  # Other processes end meanwhile, which is not a failure.
  { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "*/versions/$1/bin/starling-tray" -printf '%h\n' 2> /dev/null || true; } |
    sed 's:^/proc/::' | grep .
}

update() {
  local version before before_identity tray
  version=$(basename "$higher" | cut -d- -f2)
  say "an update from $lower to $version, from a signed feed"
  before_identity=$(identity)
  before=$(status samples_credited)
  tray=$(tray_of "$lower") || fail "no tray of the lower version"
  as_ada 'starling update'
  wait_for_line 900 "the daemon is version $version" "starlingd \Q$version\E is ready" \
    tail --lines +1 --follow=name --retry "$folder/home/ada/.local/share/starling/starlingd.log"
  # The window ends when it has started its successor.
  timeout 60 tail --pid="$tray" --follow /dev/null || fail "the window is the lower version still"
  tray_of "$version" || fail "no window of the higher version"
  [[ $(status version) == "$version" ]] || fail "the daemon says another version"
  [[ $(identity) == "$before_identity" ]] || fail "another identity than before"
  ada_is_credited_beyond "$before"
  "$here/desktop.sh" picture "$screens" 11-updated
  as_ada 'starling status --json' | python3 -c 'import json, sys
d = json.load(sys.stdin); print(d["version"], d["display_name"], d["samples_credited"])'
  ls "$folder/home/ada/.local/share/starling-program/versions"
}

uninstall() {
  say "uninstall"
  as_ada '~/.local/share/starling-program/setup uninstall --purge'
  diff "$work/before" <(files_of_ada) || fail "left behind"
  (cd "$folder" && find home/ada -iname '*starling*' ! -name starling.run) | grep . && fail "left behind"
  if pgrep --uid "$(stat -c %u "$folder/home/ada")" starling; then fail "somebody still runs"; fi
}

make_machine
start_machine
serve_project
serve_release
install_lower
volunteer
update
uninstall
say "all of it worked"
