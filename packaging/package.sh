#!/usr/bin/env bash
# Makes the packages of a build, checks them, and lists their digests; called by `./dev package`, which builds first.
#
#   package.sh BUILD OUT [--sign KEY]
#
# SOURCE_DATE_EPOCH is set: all dates equal it.
set -euo pipefail
umask 022

build=$(realpath "${1:?usage: package.sh BUILD OUT [--sign KEY]}")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
key=
if [[ ${1:-} == --sign ]]; then
  key=${2:?--sign needs the name of a key that gpg knows}
  shift 2
fi
(($# == 0)) || { echo "package.sh: what is '$1'?" >&2; exit 2; }

say() { printf '\n== %s\n' "$*"; }

# make GENERATOR PATTERN: moves cpack's results into OUT.
make() {
  say "packages: $1"
  local folder=$build/packages-$1
  rm -rf "$folder"
  (cd "$build" && cpack -G "$1" -B "$folder" > "$folder.log" 2>&1) || { cat "$folder.log" >&2; return 1; }
  find "$folder" -maxdepth 1 -name "$2" -exec mv {} "$out" \;
  rm -rf "$folder"
}

# CPack's packages of symbols list digests by the paths of the build, and lack some standard files. Replaces them by
# packages as Debian's own tools would make them.
mend_symbols() {
  local tree name
  tree=$build/symbols
  rm -rf "$tree"
  dpkg-deb --raw-extract "$1" "$tree"
  name=$(dpkg-deb --field "$1" Package)
  mkdir -p -m 0755 "$tree/usr/share/doc"
  ln -s "${name%-dbgsym}" "$tree/usr/share/doc/$name"
  sed -i '/^$/d; /^Auto-Built-Package:/d; /^Package-Type:/d; $a Auto-Built-Package: debug-symbols' "$tree/DEBIAN/control"
  (cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$tree" "${1%.ddeb}.deb" > /dev/null
  rm -rf "$1" "$tree"
}

make_packages() {
  rm -f "$out"/*.deb "$out"/*.ddeb "$out"/*.rpm
  make DEB '*.*deb'
  local symbols
  for symbols in "$out"/*.ddeb; do
    mend_symbols "$symbols"
  done
  make RPM '*.rpm'
}

check_packages() {
  say "lintian"
  lintian --allow-root --fail-on error,warning --suppress-tags-from-file "$(dirname "$0")/lintian-exceptions" "$out"/*.deb
  say "rpmlint"
  rpmlint --strict --config "$(dirname "$0")/rpmlint.toml" "$out"/*.rpm
  say "desktop entries, AppStream, Prometheus"
  find "$build/packaging" -name '*.desktop' -print0 | xargs -0 -n 1 desktop-file-validate
  find "$build/packaging" -name '*.metainfo.xml' -exec appstreamcli validate --no-net {} +
  if command -v promtool > /dev/null; then
    promtool check rules "$(dirname "$0")"/monitoring/*.rules.yml
  else
    echo "the alert rules are not checked: promtool is in the package prometheus, which also starts a server"
  fi
  python3 -m json.tool "$(dirname "$0")"/monitoring/starling-coordinator.json > "$build/dashboard.json"
}

list_digests() {
  say "digests"
  "$(dirname "$0")/digests.sh" "$out" ${key:+--sign "$key"}
}

make_packages
check_packages
list_digests
