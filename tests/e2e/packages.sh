#!/usr/bin/env bash
# From a download to an empty computer again: the packages in a fresh minimal Debian 12, which then boots. Installs them
# without systemd; serves two projects by their units, one of prepared pictures and on PostgreSQL; trains both as a
# system-wide volunteer in the hardened unit, and one as a desktop's user who goes through the first-run wizard by mouse
# and keyboard; looks at pages, their scripts and a certificate; sees both on the leaderboard; upgrades to a higher
# version, and sees identity and credit kept; is refused a downgrade below either database; purges, and looks for
# leftovers. Needs root, debootstrap, systemd-nspawn and a network.
#
#   packages.sh FOLDER PACKAGES HIGHER      PACKAGES and HIGHER: results of `./dev package` for two versions
#
# FOLDER/base, a fresh Debian, is made once and kept. FOLDER/machine is made again by every call, and kept for
# inspection; its /root/check holds the log and pictures of the screen. MIRROR names another Debian mirror.
set -euo pipefail

folder=$(realpath -m "${1:?usage: packages.sh FOLDER PACKAGES HIGHER}")
packages=$(realpath "${2:?the packages}")
higher=$(realpath "${3:?those of a higher version}")
here=$(dirname "$(readlink -f "$0")")
machine=$folder/machine
# Tools that simulate the desktop and examine the result, and a database server; the packages need none of them.
tools=(systemd dbus dbus-user-session procps curl sqlite3 python3 xvfb openbox trayer xdotool x11-utils imagemagick poppler-utils
  postgresql)

if [[ ! -e $folder/base/etc/debian_version ]]; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$folder/base" ${MIRROR:+"$MIRROR"}
fi
rm -rf "$machine"
cp -a "$folder/base" "$machine"
cp /etc/resolv.conf "$machine/etc/resolv.conf"
for setting in /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/*registry*; do # how this machine reaches its mirror
  [[ -e $setting ]] && cp "$setting" "$machine/etc/apt/apt.conf.d/"
done
mkdir -p "$machine/root/check/packages" "$machine/root/check/higher"
cp "$packages"/*.deb "$machine/root/check/packages/"
cp "$higher"/*.deb "$machine/root/check/higher/"
rm -f "$machine"/root/check/*/*dbgsym*
cp "$here"/{packages_check,desktop,screen,waiting}.sh "$machine/root/check/"

cat > "$machine/etc/systemd/system/check.service" << 'UNIT'
[Unit]
After=multi-user.target network.target
[Service]
Type=oneshot
ExecStart=/bin/bash /root/check/packages_check.sh booted
ExecStopPost=/bin/sh -c 'echo $EXIT_STATUS > /root/check/status; systemctl --no-block poweroff'
StandardOutput=append:/root/check/log
StandardError=append:/root/check/log
TimeoutStartSec=20min
[Install]
WantedBy=default.target
UNIT

inside() {
  unshare --mount --pid --fork --kill-child bash -euc '
    mount -t proc proc "$0/proc"
    mount -t tmpfs -o mode=1777 tmp "$0/tmp"
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
      ${http_proxy:+http_proxy="$http_proxy"} chroot "$0" "$@"' "$machine" "$@"
}
inside bash /root/check/packages_check.sh unbooted
inside apt-get install -y -qq --no-install-recommends "${tools[@]}" > "$machine/root/check/tools.log" 2>&1
inside systemctl --quiet enable check.service

systemd-nspawn --boot --directory "$machine" --register=no --keep-unit --quiet > "$machine/root/check/console" 2>&1 || true
cat "$machine/root/check/log"
[[ $(cat "$machine/root/check/status") == 0 ]] || { echo "packages.sh: failed; look into $machine/root/check" >&2; exit 1; }
