#!/usr/bin/env bash
# Makes the downloads without a package manager from a build: an archive that runs from any folder, a self-extracting
# installer of it, and an AppDir.
#
#   make.sh BUILD OUT [--updates FILE] [--sign KEY]
#
# FILE says where such installations look for newer versions (starling-release source). SOURCE_DATE_EPOCH, if it is set,
# is the date of every file, so that equal builds make equal bytes.
set -euo pipefail
umask 022

build=$(realpath "${1:?usage: make.sh BUILD OUT [--updates FILE]}")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
updates= key=
while (($#)); do
  case $1 in
    --updates) updates=$(realpath "${2:?--updates needs a file}") && shift 2 ;;
    --sign) key=${2:?--sign needs a key that gpg knows} && shift 2 ;;
    *) echo "make.sh: what is '$1'?" >&2 && exit 2 ;;
  esac
done
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
own_bytes_max=20000000 # limit for a client without a window, beside LibTorch

version=$("$build/bin/starlingd" --version)
platform=linux-$(uname -m)
name=starling-$version-$platform
work=$(mktemp -d "$out/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/starling
tree=$root/versions/$version

say() { printf '\n== %s\n' "$*"; }

install_tree() {
  say "programs and what they need"
  local component
  for component in client tray; do
    DESTDIR=$work/staging cmake --install "$build" --component "$component" --prefix /usr --strip > "$work/install.log"
  done
  mkdir -p "$root/versions"
  mv "$work/staging/usr" "$tree"
  rm -rf "$tree/lib/systemd" # units name paths of a system-wide installation
  [[ -z $updates ]] || install -D -m 644 "$updates" "$tree/share/starling/updates.json"
  cmake -DTREE="$tree" -DQT_PLUGINS="$(qmake6 -query QT_INSTALL_PLUGINS)" -P "$here/gather.cmake"
  copy_translations
  find "$tree/lib" -name '*.so*' -type f -exec chmod 644 {} + -exec strip --strip-unneeded {} +
  set_paths
}

# Qt's own texts, in the languages of the window.
copy_translations() {
  local qt language
  qt=$(qmake6 -query QT_INSTALL_TRANSLATIONS)
  mkdir -p "$tree/lib/qt6/translations"
  for language in de es fr ru; do
    [[ ! -e $qt/qtbase_$language.qm ]] || cp "$qt/qtbase_$language.qm" "$tree/lib/qt6/translations"
  done
}

# Uses the old kind of path, which also applies to the dependencies of the libraries themselves.
set_paths() {
  local file
  for file in "$tree"/bin/* "$tree"/libexec/starling/*; do
    [[ $file == *.conf ]] || patchelf --force-rpath --set-rpath "\$ORIGIN/$(realpath --relative-to="$(dirname "$file")" "$tree/lib")" "$file"
  done
  while read -r file; do patchelf --remove-rpath "$file"; done < <(find "$tree/lib" -name '*.so*' -type f)
}

describe_root() {
  printf '{"layout":1}\n' > "$root/installation.json"
  ln -s "versions/$version" "$root/current"
  install -m 755 "$here/setup.sh" "$root/setup"
  cp "$here/README.txt" "$root/README.txt"
}

# Calls tar with settings that give equal results for everybody.
pack() {
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(date +%s)}" "$@"
}

make_archive() {
  say "archive"
  pack --directory "$work" starling | gzip -n -6 > "$out/$name.tar.gz"
}

make_installer() {
  say "installer"
  local digest
  digest=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
  sed -e "s/@VERSION@/$version/" -e "s/@DIGEST@/$digest/" "$here/installer.sh" > "$work/installer"
  cat "$work/installer" "$out/$name.tar.gz" > "$out/$name.run"
  chmod 755 "$out/$name.run"
}

# Makes the folder that appimagetool turns into an AppImage; that program is not available here.
make_appdir() {
  say "AppDir"
  local appdir=$out/Starling.AppDir
  rm -rf "$appdir"
  mkdir "$appdir"
  cp -a "$tree" "$appdir/usr"
  local desktop icon
  desktop=$(find "$appdir/usr/share/applications" -name '*.desktop' 2> /dev/null | head -n 1)
  icon=$(find "$appdir/usr/share/icons/hicolor/scalable/apps" -name '*.svg' 2> /dev/null | head -n 1)
  [[ -z $desktop ]] || cp "$desktop" "$appdir"
  [[ -z $icon ]] || { cp "$icon" "$appdir" && ln -s "$(basename "$icon")" "$appdir/.DirIcon"; }
  install -m 755 "$here/AppRun" "$appdir/AppRun"
}

# needs FILE …: the size in bytes of all bundled libraries that these need.
needs() {
  LD_LIBRARY_PATH=$tree/lib ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | xargs -r realpath | sort -u |
    grep "^$(realpath "$tree")/lib/" | xargs -r du -cb | tail -n 1 | cut -f1
}

# The sizes that this project adds to LibTorch, for a computer without a window.
tell_sizes() {
  say "sizes in bytes"
  local libtorch client
  libtorch=$(($(needs "$tree"/lib/libtorch_cpu.so.*) + $(du -b "$tree"/lib/libtorch_cpu.so.* | cut -f1)))
  client=$(($(needs "$tree"/bin/starling{,d} "$tree"/libexec/starling/starling-{trainer,tokenizer}) +
    $(du -cb "$tree"/bin/starling{,d} "$tree"/libexec/starling/starling-{trainer,tokenizer} | tail -n 1 | cut -f1)))
  printf '%12d  LibTorch and what it needs\n%12d  the client without its window, with that\n%12d  everything, unpacked\n' \
    "$libtorch" "$client" "$(du -sb "$tree" | cut -f1)"
  local own=$((client - libtorch))
  printf '%12d  of the client that are not LibTorch; %d are allowed\n' "$own" "$own_bytes_max"
  ((own <= own_bytes_max)) || { echo "make.sh: the client has become too large" >&2; exit 1; }
}

list_digests() {
  say "digests"
  find "$out" -maxdepth 1 -name 'starling-*' ! -name "$name.*" -type f -exec rm {} + # those of other versions
  "$here/../digests.sh" "$out" ${key:+--sign "$key"}
}

install_tree
describe_root
make_archive
make_installer
make_appdir
tell_sizes
list_digests
