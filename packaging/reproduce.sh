#!/usr/bin/env bash
# Tests that packages and archives are identical to the byte, on every machine. Makes those of this commit twice, in
# fresh clones under different circumstances: folder names of other lengths, time zone, language, umask, home, one or
# all processors, and once without the compiler cache. Then compares every file. Finished results are kept, and a
# further call continues with them.
#
#   reproduce.sh FOLDER
set -euo pipefail

folder=$(realpath -m "${1:?usage: reproduce.sh FOLDER}")
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
commit=$(git -C "$source" rev-parse HEAD)
[[ -z $(git -C "$source" status --porcelain) ]] || echo "what is not committed in $source is not in what is compared" >&2

# clone NAME: clones this commit there.
clone() {
  [[ -e $folder/$1 ]] || git clone --quiet --no-checkout "$source" "$folder/$1"
  git -C "$folder/$1" fetch --quiet "$source" "$commit"
  git -C "$folder/$1" checkout --quiet --detach "$commit"
}

# make NAME UMASK SETTING …: makes packages and archives in made-NAME.
make() {
  local name=$1 umask=$2
  shift 2
  printf '\n== %s: umask %s, %s\n' "$name" "$umask" "$*"
  clone "$name"
  rm -rf "$folder/made-$name" && mkdir -p "$folder/made-$name" "$folder/home-$name"
  (
    cd "$folder/$name"
    umask "$umask"
    env HOME="$folder/home-$name" "$@" ./dev package --out "$folder/made-$name/packages"
    env HOME="$folder/home-$name" "$@" ./dev portable --out "$folder/made-$name/portable"
  ) > "$folder/$name.log" 2>&1 || { tail -n 20 "$folder/$name.log" >&2; exit 1; }
}

# Lists every file and its digest, and for other entries names, modes and the targets of links.
contents() {
  cd "$folder/made-$1"
  find . -printf '%y %m %P %l\n' | LC_ALL=C sort -k 3
  find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
}

cache=${CCACHE_DIR:-$(ccache --get-config cache_dir 2> /dev/null || true)}
make one 0022 TZ=UTC LC_ALL=C.UTF-8 ${cache:+CCACHE_DIR="$cache"}
make another-with-a-longer-name 0077 TZ=Pacific/Kiritimati LC_ALL=POSIX CCACHE_DISABLE=1
contents one > "$folder/one.contents"
contents another-with-a-longer-name > "$folder/another.contents"
if ! diff "$folder/one.contents" "$folder/another.contents"; then
  echo "reproduce.sh: what is above differs" >&2
  exit 1
fi
files=$(grep -c '^[0-9a-f]\{64\} ' "$folder/one.contents")
printf '\n%s: %d files, all the same in both; packages and archives:\n' "${commit:0:12}" "$files"
grep -E ' \./(packages|portable)/[^/]*$' "$folder/one.contents" | grep -E '^[0-9a-f]{64}'
