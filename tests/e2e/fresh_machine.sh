#!/usr/bin/env bash
# Tests that a machine with nothing but Debian 12 (SUITE=trixie: 13) and git gets from clone to a running swarm. Makes
# such a machine (a chroot), clones this repository's HEAD in it, and runs the two commands of the README, or others.
# Needs root, debootstrap and a network.
#
#   fresh_machine.sh FOLDER [COMMAND …]     default commands: "./dev test" "./dev demo --minutes 1"
#
# FOLDER is created, and kept: a second call starts over with a new clone, but keeps the machine. To measure the time
# from nothing, remove FOLDER first. MIRROR names another Debian mirror than debootstrap's default.
set -euo pipefail

folder=$(realpath -m "${1:?usage: fresh_machine.sh FOLDER [COMMAND …]}")
shift
commands=("$@")
((${#commands[@]})) || commands=("./dev test" "./dev demo --minutes 1")
repository=$(git -C "$(dirname "$(readlink -f "$0")")" rev-parse --show-toplevel)

if [[ ! -e $folder/etc/debian_version ]]; then
  debootstrap --variant=minbase --include=ca-certificates,git "${SUITE:-bookworm}" "$folder" ${MIRROR:+"$MIRROR"}
fi
git -C "$repository" bundle create -q "$folder/root/starling.bundle" HEAD
cp /etc/resolv.conf "$folder/etc/resolv.conf"
for setting in /etc/apt/apt.conf.d/*proxy*; do # how this machine reaches its mirror
  [[ -e $setting ]] && cp "$setting" "$folder/etc/apt/apt.conf.d/"
done

cat > "$folder/root/check.sh" << 'CHECK'
set -euo pipefail
cd /root
rm -rf starling
git clone -q starling.bundle starling
cd starling
for command in "$@"; do
  echo "#### $command"
  SECONDS=0
  $command
  echo "#### '$command' passed in $SECONDS s"
done
CHECK
# Mounts and processes of its own, which end with it.
exec unshare --mount --pid --fork --kill-child bash -euc '
  mount --bind /dev "$0/dev"
  mount -t proc proc "$0/proc"
  mount -t tmpfs -o mode=1777 tmp "$0/tmp"
  exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" \
    ${http_proxy:+http_proxy="$http_proxy"} chroot "$0" bash /root/check.sh "$@"
' "$folder" "${commands[@]}"
