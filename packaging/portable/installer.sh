#!/bin/sh
# Starling's installer for one user: a script with the archive behind it. Sections below `exit` are not text.
set -eu

version=@VERSION@
digest=@DIGEST@
folder=${XDG_DATA_HOME:-$HOME/.local/share}/starling-program
autostart=
yes=no

usage() {
  cat << HELP
Installs Starling $version for you alone, into $folder; no rights are needed.

usage: $(basename "$0") [--to FOLDER] [--autostart yes|no] [--yes] [--extract FOLDER]

--to FOLDER         install there
--autostart yes|no  start with the desktop or not, without asking
--yes               ask nothing; without --autostart this means no autostart
--extract FOLDER    only unpack

FOLDER/setup uninstall removes it again.
HELP
}

payload() { tail -n "+$(($(grep -an '^__ARCHIVE__$' "$0" | tail -n 1 | cut -d: -f1) + 1))" "$0"; }

unpack_to() {
  found=$(payload | sha256sum | cut -d' ' -f1)
  [ "$found" = "$digest" ] || { echo "This installer is damaged: download it again." >&2; exit 1; }
  mkdir -p "$1"
  payload | tar --extract --gzip --directory "$1" --strip-components=1
}

# Adds the version beside the existing ones, then switches to it; a running daemon continues until it is restarted.
install_to() {
  if [ -e "$1/versions/$version" ]; then
    echo "Starling $version is installed in $1 already." >&2
    exit 1
  fi
  mkdir -p "$1"
  incoming=$1/incoming
  rm -rf "$incoming"
  trap 'rm -rf "$incoming"' EXIT
  unpack_to "$incoming"
  mkdir -p "$1/versions"
  mv "$incoming/versions/$version" "$1/versions/$version"
  for file in installation.json setup README.txt; do mv -f "$incoming/$file" "$1/$file"; done
  ln -sfn "versions/$version" "$1/current.new"
  mv -T "$1/current.new" "$1/current"
  rm -rf "$incoming"
  trap - EXIT
}

while [ $# -gt 0 ]; do
  case $1 in
    --to) folder=${2:?--to needs a folder} && shift ;;
    --autostart) autostart=${2:?--autostart needs yes or no} && shift ;;
    --yes) yes=yes ;;
    --extract) unpack_to "${2:?--extract needs a folder}" && exit 0 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
if [ "$yes" = yes ] && [ -z "$autostart" ]; then autostart=no; fi
if [ "$yes" = no ] && [ -t 0 ]; then
  printf 'Install Starling %s into %s? [Y/n] ' "$version" "$folder"
  read -r answer
  case $answer in [nN]*) exit 1 ;; esac
fi
install_to "$folder"
exec "$folder/setup" install ${autostart:+--autostart "$autostart"}
__ARCHIVE__
