#!/usr/bin/env bash
# packages_of.sh FILE …: lists the Debian packages that contain these files, one a line.
set -euo pipefail

for file in "$@"; do
  path=$(realpath "$file")
  # Packages know a library by its path before /lib became a link to /usr/lib, or by the one after.
  dpkg-query -S "$path" 2> /dev/null || dpkg-query -S "${path#/usr}" 2> /dev/null ||
    { echo "packages_of.sh: $path is of no package" >&2; exit 1; }
done | cut -d: -f1 | sort -u
