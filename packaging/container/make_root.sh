#!/usr/bin/env bash
# Makes the coordinator's root file system and an OCI image of it, with debootstrap and umoci and without a container
# engine; then runs it with the image's settings, without rights and on a read-only root, and checks its health. Needs
# root.
#
#   make_root.sh PROGRAM OUT      PROGRAM: a starling-coordinator built on Debian 12
set -euo pipefail

program=$(realpath "${1:?usage: make_root.sh PROGRAM OUT}")
mkdir -p "$2"
out=$(realpath "$2")
root=$out/root
image=$out/image
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
user=7300

say() { printf '\n== %s\n' "$*"; }

make_root() {
  say "root file system"
  rm -rf --one-file-system "$root"
  # The libraries with which the program is linked, by the packages that contain them; curl is for the health check.
  local libraries
  mapfile -t libraries < <(ldd "$program" | awk '/=> \// { print $3 }' | xargs "$here/../packages_of.sh")
  ((${#libraries[@]} > 0))
  # Mounts that debootstrap leaves behind vanish with their own table of mounts.
  unshare --mount debootstrap --variant=minbase --include="ca-certificates,curl,$(IFS=,; echo "${libraries[*]}")" bookworm "$root" \
    ${MIRROR:+"$MIRROR"} > "$out/debootstrap.log"
  install -m 755 -s "$program" "$root/usr/bin/starling-coordinator"
  install -d -o $user -g $user -m 700 "$root/project"
  rm -rf "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/var/log/*.log \
    "$root"/usr/share/man/* "$root"/usr/share/locale/*
  # The licences must accompany an image that is given away.
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  install -D -m 644 "$here/../debian/copyright" "$root/usr/share/doc/starling-coordinator/copyright"
  du -s --apparent-size --block-size=1M "$root"
}

# The settings equal those in the Containerfile.
make_image() {
  say "OCI image"
  rm -rf "$image" "$out/bundle"
  umoci init --layout "$image"
  umoci new --image "$image:latest"
  umoci unpack --image "$image:latest" "$out/bundle"
  cp -a "$root/." "$out/bundle/rootfs"
  umoci repack --image "$image:latest" "$out/bundle"
  umoci config --image "$image:latest" --config.user $user:$user --config.volume /project \
    --config.exposedports 7300/tcp --config.stopsignal SIGTERM --config.entrypoint starling-coordinator \
    --config.cmd serve --config.cmd /project --config.cmd --admin --config.cmd 127.0.0.1:9443
  rm -rf "$out/bundle"
  umoci stat --image "$image:latest" | head -n 4
}

# in_root COMMAND …: runs it as the image's user, on a read-only root with one volume, without rights.
in_root() {
  unshare --mount --pid --fork --kill-child bash -euc '
    mount --bind "$0" "$0"
    mount --bind "$1" "$0/project"
    mount -t proc proc "$0/proc"
    mount --bind /dev "$0/dev"
    mount -o remount,bind,ro "$0"
    user=$2
    root=$0
    shift 2
    exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --inh-caps=-all \
      --bounding-set=-all env -i PATH=/usr/bin:/bin HOME=/project "$@"
  ' "$root" "$out/volume" $user "$@"
}

try_it() {
  say "run it"
  rm -rf "$out/volume"
  install -d -o $user -g $user -m 700 "$out/volume"
  in_root starling-coordinator init /project/poems --name Poems --listen 127.0.0.1:7399 > /dev/null
  in_root starling-coordinator serve /project/poems --admin 127.0.0.1:9499 > "$out/serve.log" 2>&1 &
  local server=$! healthy=no
  if in_root curl --fail --silent --insecure --retry 30 --retry-delay 1 --retry-all-errors --output /dev/null \
    https://127.0.0.1:9499/healthz; then
    healthy=yes
  fi
  if in_root touch /usr/anything 2> /dev/null; then healthy="no: the root can be written"; fi
  kill "$(pgrep --parent $server)" # unshare, which ends together with all its processes
  wait $server || true
  echo "healthy: $healthy"
  [[ $healthy == yes ]]
}

make_root
make_image
try_it
