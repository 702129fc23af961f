#!/usr/bin/env bash
# Lists the digests of a folder's files in its SHA256SUMS, and signs that list if a key is named.
#
#   digests.sh FOLDER [--sign KEY]     KEY: any name that gpg knows it by
#   digests.sh --check-key KEY         only checks whether it can sign
#
# To check a download: gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check --ignore-missing SHA256SUMS
set -euo pipefail

sign() { gpg --batch --yes --armor --local-user "$1" --output "$2.asc" --detach-sign "$2"; }

# Signs something, since an existing key may have expired, be another's public half, or need a passphrase.
check_key() {
  tried=$(mktemp -d)
  trap 'rm -rf "$tried"' EXIT
  echo "a trial" > "$tried/text"
  command -v gpg > /dev/null || { echo "cannot sign: gpg is not installed (apt install gnupg)" >&2; exit 1; }
  if ! sign "$1" "$tried/text" 2> "$tried/why"; then
    echo "cannot sign with the key '$1': $(sed -n 's/^gpg: //p' "$tried/why" | tail -n 1)" >&2
    echo "Keys that can sign: $(gpg --batch --list-secret-keys --with-colons 2> /dev/null |
      awk -F: '$1 == "uid" { printf "%s%s", n++ ? ", " : "", $10 } END { if (!n) printf "none; gpg --quick-generate-key makes one" }')" >&2
    exit 1
  fi
}

if [[ ${1:-} == --check-key ]]; then
  check_key "${2:?--check-key needs a key}"
  exit
fi
cd "${1:?usage: digests.sh FOLDER [--sign KEY]}"
key=
[[ ${2:-} != --sign ]] || key=${3:?--sign needs a key}
rm -f SHA256SUMS SHA256SUMS.asc
mapfile -t files < <(find . -maxdepth 1 -type f -printf '%P\n' | LC_ALL=C sort)
sha256sum -- "${files[@]}" > SHA256SUMS
if [[ $key ]]; then
  sign "$key" SHA256SUMS
  gpg --batch --verify SHA256SUMS.asc SHA256SUMS 2>&1 | grep 'Good signature'
fi
sha256sum --check --quiet SHA256SUMS
du -b -- "${files[@]}" | sort -rn | awk '{ printf "%12d bytes  %s\n", $1, $2 }'
