#!/usr/bin/env bash
# Does the installer without a package manager give an ordinary user of another distribution a working volunteer? Makes a
# machine with nothing but Debian 13 (a chroot), runs the installer in it as a user without rights, joins a project that is
# served outside, trains, looks at the leaderboard, and takes everything away again. Needs root, debootstrap and a network.
#
#   portable.sh FOLDER BUILD INSTALLER      the chroot, kept; a build with starling-coordinator; the .run file
set -euo pipefail

folder=$(realpath -m "${1:?usage: portable.sh FOLDER BUILD INSTALLER}")
build=$(realpath "$2")
installer=$(realpath "$3")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
suite=${SUITE:-trixie}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT

if [[ ! -e $folder/etc/debian_version ]]; then
  unshare --mount debootstrap --variant=minbase "$suite" "$folder" ${MIRROR:+"$MIRROR"}
fi
grep -q '^ada:' "$folder/etc/passwd" || chroot "$folder" useradd --create-home ada
rm -rf "$folder/home/ada" && cp -r "$folder/etc/skel" "$folder/home/ada"
cp "$installer" "$folder/home/ada/starling.run"
chroot "$folder" chown -R ada: /home/ada
before=$(cd "$folder" && find home/ada | sort)

say() { printf '\n== %s\n' "$*"; }

# as_ada COMMAND: in the chroot, without any right, with processes of its own that end with it.
as_ada() {
  unshare --mount --pid --fork --kill-child bash -euc '
    mount --rbind /dev "$0/dev"
    mount -t proc proc "$0/proc"
    mount -t tmpfs -o mode=1777 tmp "$0/tmp"
    exec chroot "$0" setpriv --reuid ada --regid ada --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \
      env -i HOME=/home/ada PATH=/home/ada/.local/bin:/usr/bin:/bin LANG=C.UTF-8 sh -euc "cd; $1"
  ' "$folder" "$1"
}

coordinator=$build/bin/starling-coordinator
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

serve_project() {
  say "a project outside"
  PYTHONPATH=$here python3 - "$work" << 'PYTHON'
import sys
from pathlib import Path
import swarm, swarm_case
print(swarm.write_run(Path(sys.argv[1]) / "run", swarm_case.small_corpus(), swarm_case.SETTINGS))
PYTHON
  link=$("$coordinator" init "$work/project" --name Portable --listen "127.0.0.1:$port" | tail -n 1)
  "$coordinator" run create "$work/project" "$work/run/manifest.toml" > /dev/null
  "$coordinator" run start "$work/project" small
  "$coordinator" serve "$work/project" > "$work/log" 2>&1 &
  server=$!
}

serve_project
say "install"
as_ada 'sh starling.run --yes --autostart yes
        ls ~/.local/bin ~/.local/share/applications ~/.config/autostart 2> /dev/null || true
        starlingd --version
        QT_QPA_PLATFORM=offscreen starling-tray --version
        ldd ~/.local/share/starling-program/current/lib/qt6/plugins/platforms/libqxcb.so > /dev/null
        for file in ~/.local/share/starling-program/current/bin/*; do
          case $file in *.conf) ;; *) ! ldd "$file" | grep "not found" ;; esac
        done'
say "join and train"
as_ada "mkdir -p -m 700 ~/.local/share/starling
        echo '{\"compute\":\"always\",\"network\":\"always\",\"disk_free_min_gb\":0}' > ~/.local/share/starling/preferences.json
        starlingd --listen 127.0.0.1 > log 2>&1 &
        for i in \$(seq 100); do starling status > /dev/null 2>&1 && break; sleep 0.1; done
        starling join '$link' --name Ada
        for i in \$(seq 600); do
          starling leaderboard | grep -q '1  Ada' && break
          sleep 0.1
        done
        starling status
        starling leaderboard | grep Ada
        grep 'is ready, confined by' log
        starling update || true
        starling stop
        wait"
"$coordinator" run status "$work/project" small | grep Ada
curl --silent --insecure "https://127.0.0.1:$port/leaderboard" | grep -o Ada | head -n 1
say "uninstall"
as_ada '~/.local/share/starling-program/setup uninstall --purge; rm log'
left=$(cd "$folder" && find home/ada -type f -o -type l | sort)
known=$(cd "$folder" && printf '%s\n' "$before" | while read -r file; do [[ -d $file ]] || echo "$file"; done)
[[ $left == "$known" ]] || { echo "left behind:"; diff <(echo "$known") <(echo "$left"); exit 1; }
say "all of it worked"
