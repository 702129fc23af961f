#!/usr/bin/env bash
# The part of packages.sh that runs inside its machine: `unbooted`, without systemd, then `booted`, with it.
set -euo pipefail
cd /root/check
exec 2>&1
. ./waiting.sh
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
export no_proxy=127.0.0.1

project=/var/lib/starling-coordinator/poems
address=127.0.0.1:7700
birds=/var/lib/starling-coordinator/birds # a second one, on a database server
birds_address=127.0.0.1:7710
defaults=/etc/default/starling-coordinator

say() { printf '\n#### %s: %s\n' "$(date -u +%T)" "$*"; }
as_operator() { runuser -u starling-coordinator -- "$@"; }
json() { python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"; }
as_headless() { runuser -u starling -- starling --data-dir /var/lib/starling "$@"; }
# The volunteer's credit, as everybody can see it.
credited() { curl -ksS "https://$address/v1/leaderboard.json?sort=total" | python3 -c '
import json, sys
found = [row for row in json.load(sys.stdin)["rows"] if row["name"] == sys.argv[1]]
print(found[0]["samples"] if found else 0)' "$1"; }
files_of_system() { find / -xdev \( -path /proc -o -path /root -o -path /home -o -path /tmp -o -path /var/cache -o -path /var/log \
  -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /run -o -path /sys -o -path /dev \) -prune -o -print | sort; }

unbooted() {
  apt-get update -qq
  files_of_system > files_before
  say "apt install ./starling-*.deb, without systemd"
  apt-get install -y -qq ./packages/*.deb > install.log || { tail -20 install.log; fail "apt install"; }
  dpkg -l 'starling*' | tail -3
  for program in starling starlingd starling-coordinator; do $program --version; done
  [[ $(stat -c %U:%a /var/lib/starling-coordinator) == starling-coordinator:700 ]] || fail "the projects' folder"
  QT_QPA_PLATFORM=offscreen starling-tray --version
  man -w starling > /dev/null 2>&1 || [[ -e /usr/share/man/man1/starling.1.gz || ! -d /usr/share/man ]] || fail "manual page"
  say "removed, kept, purged, and installed again, without systemd"
  apt-get remove -y -qq 'starling-*' > /dev/null
  [[ -d /var/lib/starling-coordinator ]] || fail "removing took the state with it"
  apt-get install -y -qq ./packages/*.deb > /dev/null
}

operator() {
  say "a project of the operator's"
  echo 'SERVE_OPTIONS="--admin 127.0.0.1:9443 --relay 127.0.0.1:7701"' > $defaults
  as_operator starling-coordinator init $project --name Poems --listen $address > init.log
  as_operator starling-coordinator invite new $project --uses 10 | tail -1 > link
  mkdir -p run
  cat /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/GPL-2 /usr/share/common-licenses/LGPL-2.1 > run/train.txt
  cp /usr/share/common-licenses/Artistic run/held_out.txt
  cat > run/manifest.toml << 'MANIFEST'
run_id = "licences"
title = "Licences, learned by heart"
target_batch_size = 64
micro_batch_size = 8
[model]
layers = 2
width = 64
heads = 2
context = 64
[schedule]
warmup_rounds = 5
total_rounds = 100000
[data]
train = "train.txt"
validation = "held_out.txt"
MANIFEST
  chmod 755 /root /root/check
  as_operator starling-coordinator run create $project /root/check/run/manifest.toml
  as_operator starling-coordinator run start $project
  systemctl enable --quiet --now starling-coordinator@poems
  systemctl is-active starling-coordinator@poems
  systemctl show starling-coordinator@poems -p Type -p StatusText -p WatchdogUSec -p WatchdogTimestamp
  systemctl show starling-coordinator@poems -p SystemCallFilter | grep --quiet --word-regexp setpriority ||
    fail "the unit does not let threads that hash passwords be nicer"
  as_operator starling-coordinator doctor $project
}

# Two kinds of pictures, readable by everybody.
pictures() {
  local kind number
  for kind in plain rough; do
    mkdir -p "run/pictures/$kind"
    for number in {1..64}; do
      case $kind in
        plain) convert -size 40x30 "gradient:hsl($((number * 5)),80%,50%)-black" "run/pictures/plain/$number.png" ;;
        rough) convert -size 30x40 -seed "$number" plasma:fractal "run/pictures/rough/$number.jpg" ;;
      esac
    done
  done
}

server_operator() {
  say "texts and pictures made ready, and a project of them on a database server"
  install -d -o starling-coordinator run/prepared
  pictures
  as_operator starling-coordinator data prepare text run/prepared/text run/train.txt --vocabulary 400 --shard-mb 0.05
  as_operator starling-coordinator data prepare images run/prepared/pictures run/pictures --side 16 --shard-mb 0.04
  (
    cd /
    runuser -u postgres -- createuser starling-coordinator
    runuser -u postgres -- createdb --owner starling-coordinator --template template0 --encoding UTF8 --locale C.UTF-8 birds
  )
  echo 'SERVE_OPTIONS=' > $defaults-birds
  as_operator starling-coordinator init $birds --name Birds --listen $birds_address --database postgresql:///birds > init_birds.log
  tail -1 init_birds.log > link_birds
  cat > run/words.toml << 'MANIFEST'
run_id = "words"
title = "Licences, by words"
target_batch_size = 16
[model]
layers = 1
width = 32
heads = 2
context = 32
vocabulary = 400
[data]
kind = "tokens"
shards = "/root/check/run/prepared/text/shards.json"
MANIFEST
  cat > run/pictures.toml << 'MANIFEST'
run_id = "pictures"
title = "Plain or rough"
peers_max = 2
target_batch_size = 8
micro_batch_size = 4
[model]
architecture = "mlp"
layers = 2
width = 32
inputs = 768
classes = 2
[data]
kind = "labelled"
shards = "/root/check/run/prepared/pictures/shards.json"
MANIFEST
  local run
  for run in words pictures; do as_operator starling-coordinator run create $birds "/root/check/run/$run.toml"; done
  as_operator starling-coordinator run start $birds pictures
  systemctl start starling-coordinator@birds
  systemctl is-active starling-coordinator@birds
}

metrics() {
  say "every metric that the dashboard and the alerts name is there"
  curl -ksS https://127.0.0.1:9443/metrics > metrics.txt
  python3 - << 'PYTHON'
import re
known = set(re.findall(r"^(starling_\w+?)(?:\{| )", open("metrics.txt").read(), re.M))
asked = set()
for file in ("starling-coordinator.json", "starling-coordinator.rules.yml"):
    asked |= set(re.findall(r"\bstarling_\w+", open("/usr/share/starling-coordinator/" + file).read()))
late = {"starling_backup_last_success_timestamp_seconds"}
print(len(asked), "asked for; unknown:", sorted(asked - known - late))
assert asked - known - late == set()
PYTHON
}

headless() {
  say "a system-wide volunteer, in the hardened unit"
  systemctl start starlingd
  as_headless prefs preset dedicated > /dev/null
  as_headless prefs set threads 1 > /dev/null 2>&1 || true
  as_headless join "$(cat link)" --name Headless
  wait_for_credit 900 Headless 0 runuser -u starling -- starling --data-dir /var/lib/starling status --follow --json
  (($(credited Headless) > 0)) || fail "Headless is not on the leaderboard"
  as_headless status
  as_headless log --lines 200 | grep -i sandbox || true
  local trainer
  trainer=$(pgrep -f libexec/starling/starling-trainer | head -1)
  grep -E 'NoNewPrivs|Seccomp:' "/proc/$trainer/status"
  chrt -p "$trainer" | head -1
  systemd-analyze security --no-pager starlingd.service starling-coordinator@poems.service | grep -E 'UNIT|starling'
  systemd-analyze security --no-pager starlingd.service | tail -1
  systemd-analyze security --no-pager starling-coordinator@poems.service | tail -1
  say "the watchdog hears both"
  systemctl log-level debug # it then reports every message
  wait_for_line 600 "the daemon's watchdog is fed" 'WATCHDOG=1' journalctl --follow --unit starlingd
  systemctl log-level info
  pages
  second_project
  say "stopped: the model is saved and nobody is left"
  systemctl stop starlingd
  systemctl show starlingd -p Result
  if pgrep -f starling-trainer; then fail "a trainer without its daemon"; fi
}

# Pages as a browser requests them, from the unit with all its restrictions.
pages() {
  say "pages, their scripts, and a certificate"
  local page=https://$address volunteer script
  curl -ksSf "$page/" > page.html
  grep --only-matching '<script [^>]*src="[^"]*"' page.html | sed 's/.*src="//; s/"$//' > scripts
  (($(wc --lines < scripts) == 2)) || fail "the first page has not the scripts of its charts"
  while read -r script; do
    curl -ksSf --compressed "$page$script" > script.js
    (($(stat -c %s script.js) > 1000)) || fail "$script is empty"
    if [[ $script == */dygraph-* ]]; then grep --quiet Dygraph script.js || fail "$script is no dygraphs"; fi
    echo "$script: $(stat -c %s script.js) bytes"
  done < scripts
  volunteer=$(curl -ksSf "$page/leaderboard" | grep --only-matching 'href="/volunteer/[0-9]*"[^<]*<[^>]*>Headless' | grep --only-matching '[0-9]\+' | head -1)
  [[ -n $volunteer ]] || fail "Headless has no page"
  curl -ksSf "$page/volunteer/$volunteer" | grep --quiet "/certificate/$volunteer.pdf" || fail "no certificate is offered"
  curl -ksSf "$page/certificate/$volunteer" | grep --quiet '<svg' || fail "no certificate"
  curl -ksSf "$page/certificate/$volunteer.pdf" > certificate.pdf
  pdftotext -layout certificate.pdf certificate.txt || fail "the certificate is no PDF"
  grep Headless certificate.txt || fail "the certificate does not name the volunteer"
  pdffonts certificate.pdf | tail -n +3 | grep . || fail "the certificate has no fonts"
  if journalctl --unit starling-coordinator@poems | grep -iE 'fontconfig|glib|pango|critical'; then fail "a library complains"; fi
}

# Trains that volunteer in the project on the database server.
second_project() {
  say "the second project has its turn"
  as_headless join "$(cat link_birds)" --name Headless
  as_headless projects train Birds
  local trained='import json, sys
def trained(status): return status["project"] == "Birds" and status["samples_credited"] > 0
sys.exit(not any(trained(json.loads(line)) for line in sys.stdin))'
  wait_for 900 "Headless is credited by Birds" "python3 -c ${trained@Q}" \
    runuser -u starling -- starling --data-dir /var/lib/starling status --follow --json
  as_headless projects train Poems
  as_operator starling-coordinator status $birds
  as_operator starling-coordinator credit check $birds
}

desktop() {
  say "autostart does nothing for a user who has joined nothing"
  useradd --create-home --shell /bin/bash bob
  local at_login=(env -u DISPLAY sh -c "$(sed -n 's/^Exec=//p' /etc/xdg/autostart/starling-tray.desktop)")
  runuser -u bob -- "${at_login[@]}" || fail "the autostart entry, without a display and a project"
  [[ ! -e /home/bob/.local/share/starling ]] || fail "it has written something"
  say "a desktop's user, from the join link to the first accepted sample"
  useradd --create-home --shell /bin/bash ada
  install -d -m 755 -o ada -g ada /home/ada/screens
  # Opens the link as a browser or a mail program does: by the desktop entry's Exec line.
  local program
  program=$(sed -n 's/^Exec=\(starling-tray\) %u$/\1/p' "$(grep -l 'x-scheme-handler/starling' /usr/share/applications/*.desktop)")
  at_desktop join /home/ada/screens "$(cat link)" "$program"
  wait_for_credit 900 Ada 0 runuser -u ada -- starling status --follow --json
  at_desktop close /home/ada/screens
  curl -ksS "https://$address/leaderboard" | grep -o '>Ada<' | head -1
  runuser -u ada -- starling status
  if runuser -u ada -- "${at_login[@]}" > at_login.log 2>&1; then fail "autostart does nothing for a volunteer"; fi
  grep -o 'could not connect to display' at_login.log | head -1
}
at_desktop() { (cd /home/ada && runuser -u ada -- bash /root/check/desktop.sh "$@"); }

# Properties that must survive an upgrade.
identity() {
  as_operator cat $project/ca.pem | sha256sum
  find /home/ada/.local/share/starling -name '*.key' -exec sha256sum {} +
}

upgraded() {
  say "upgrade"
  local before_identity before
  before_identity=$(identity)
  before=$(credited Ada)
  local version
  version=$(dpkg-deb -f "$(ls higher/starling-client_*.deb)" Version)
  apt-get install -y -qq ./higher/*.deb > upgrade.log || { tail -20 upgrade.log; fail "upgrade"; }
  [[ $(dpkg-query -W -f '${Version}' starling-coordinator) == "$version" ]] || fail "the version is not $version"
  curl -ksS --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null "https://$address/status.json" ||
    fail "the coordinator does not serve again"
  curl -ksS "https://$address/status.json" | json 'd["version"]'
  [[ $(curl -ksS "https://$address/status.json" | json 'd["version"]') == "${version%-*}" ]] || fail "the old one serves on"
  grep -q admin $defaults || fail "the operator's settings are gone"
  [[ $(identity) == "$before_identity" ]] || fail "another identity than before"
  (($(credited Ada) >= before)) || fail "credit was lost"
  # The daemon of a user's session belongs to the user: it continues unchanged until it is restarted.
  local old
  old=$(pgrep -u ada -x starlingd)
  runuser -u ada -- starling stop
  timeout 30 tail --pid="$old" --follow /dev/null || fail "Ada's daemon has not ended"
  runuser -u ada -- setsid starlingd > /dev/null 2>&1 &
  wait_for_line 60 "Ada's new daemon is ready" "starlingd \Q${version%-*}\E is ready" \
    tail --lines +1 --follow=name --retry /home/ada/.local/share/starling/starlingd.log
  wait_for_credit 900 Ada "$before" runuser -u ada -- starling status --follow --json
  runuser -u ada -- starling status --json | json 'd["version"], d["display_name"], d["samples_credited"]'
}

of_the_future="INSERT INTO schema_version (version, name) VALUES (999, 'of the future')"
of_now="DELETE FROM schema_version WHERE version = 999"
downgrade_is_refused() {
  local version
  version=$(dpkg-query -W -f '${Version}' starling-coordinator)
  if apt-get install -y -qq --allow-downgrades ./packages/starling-coordinator_*.deb > downgrade.log 2>&1; then
    fail "the downgrade was not refused"
  fi
  grep 'starling-coordinator: ' -A2 downgrade.log
  grep --quiet "$1" downgrade.log || fail "not because of what: $1"
  [[ $(dpkg-query -W -f '${Status} ${Version}' starling-coordinator) == "install ok installed $version" ]] || fail "half a downgrade"
}

refused() {
  say "a downgrade below the database is refused, and changes nothing"
  systemctl stop starling-coordinator@poems starling-coordinator@birds
  local in_file=(sqlite3 "$project/coordinator.db") on_server=(psql --quiet --dbname birds --command)
  as_operator "${in_file[@]}" "$of_the_future"
  downgrade_is_refused "project in $project is"
  as_operator "${in_file[@]}" "$of_now"
  as_operator "${on_server[@]}" "$of_the_future"
  downgrade_is_refused "project in $birds is"
  as_operator "${on_server[@]}" "$of_now"
  systemctl start starling-coordinator@poems starling-coordinator@birds
  say "a downgrade that the database allows is not"
  apt-get install -y -qq --allow-downgrades ./packages/*.deb > downgrade.log 2>&1 || { tail downgrade.log; fail "downgrade"; }
  as_operator starling-coordinator credit check $project
}

purged() {
  say "purge"
  runuser -u ada -- starling stop || true
  apt-get purge -y -qq 'starling-*' > purge.log 2>&1 || { tail -20 purge.log; fail "purge"; }
  if pgrep -fa 'starling(d|-coordinator|-trainer)'; then fail "somebody still runs"; fi
  if getent passwd starling starling-coordinator; then fail "users are left"; fi
  local left
  left=$(files_of_system | comm -13 files_before - | grep -i starling || true)
  [[ -z $left ]] || fail "left behind: $left"
  ls -d /home/ada/.local/share/starling # users' homes belong to them
}

booted() {
  operator
  server_operator
  headless
  desktop
  metrics
  upgraded
  refused
  purged
  say "all of it passed"
}

"$1"
