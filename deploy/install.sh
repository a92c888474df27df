#!/bin/sh
# Installs larder from the unpacked tarball that this file lies in, or removes it again.
#   ./install.sh [--prefix DIR]             default: /usr/local for root, else ~/.local
#   ./install.sh --uninstall [--prefix DIR]
set -eu
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
uninstall=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 64; }
      prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=1 ;;
    --help|-h) sed -n '2,4s/^# *//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown option $1; see --help" >&2; exit 64 ;;
  esac
  shift
done
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
list=$prefix/lib/larder/files

# Removes what the list names, then the folders that were made for it and are empty without it.
remove() {
  folders=$(sort -r "$list.folders")
  while IFS= read -r file; do rm -f "$prefix/$file"; done <"$list"
  rm -f "$list" "$list.folders"
  echo "$folders" | while IFS= read -r folder; do rmdir "$prefix/$folder" 2>/dev/null || :; done
}

if [ -n "$uninstall" ]; then
  [ -f "$list" ] || { echo "install.sh: larder is not installed in $prefix; give --prefix" >&2; exit 1; }
  remove
  echo "removed from $prefix; caches and orders stay"
  exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
machine=$(uname -sm)
[ "$machine" = "Linux x86_64" ] || { echo "install.sh: this is for Linux on x86-64, not for $machine" >&2; exit 69; }
"$here/bin/larder" --version >/dev/null || {
  echo "install.sh: larder does not start here; it needs glibc 2.36 or later (ldd --version says which there is)" >&2
  exit 69
}
# An older version goes first, so that none of its libraries stays.
[ ! -f "$list" ] || remove
# Folders that are there already are not ours to remove.
folders=$(cd "$here" && find bin lib share -type d | sort | while IFS= read -r folder; do
  [ -d "$prefix/$folder" ] || echo "$folder"
done)
mkdir -p "$prefix/lib/larder" 2>/dev/null && [ -w "$prefix/lib/larder" ] || {
  echo "install.sh: cannot write into $prefix; give --prefix, or run it as root" >&2
  exit 74
}
(cd "$here" && find bin lib share -type f | sort) >"$list"
echo "$folders" >"$list.folders"
(cd "$here" && find bin lib share -type d) | while IFS= read -r folder; do mkdir -p "$prefix/$folder"; done
while IFS= read -r file; do
  # Beside it and renamed: a larder that runs keeps its own.
  cp "$here/$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done <"$list"
echo "installed $("$prefix/bin/larder" --version) in $prefix; try: larder demo"
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) echo "$prefix/bin is not in PATH; add it, or run $prefix/bin/larder" ;;
esac
