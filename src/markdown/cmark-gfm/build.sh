#!/bin/sh
# Compiles cmark-gfm.wasm from the sources of cmark-gfm. See README.md for what it needs.
set -eu
if [ $# -ne 1 ] || [ ! -f "$1/src/blocks.c" ]; then
  echo "usage: $0 FOLDER, a checkout of github/cmark-gfm" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# What its build with CMake would write.
cat > "$made/config.h" <<'END'
#include <stdbool.h>
#define CMARK_ATTRIBUTE(list) __attribute__(list)
#define CMARK_INLINE inline
END
printf '#define CMARK_GFM_EXPORT\n' > "$made/cmark-gfm_export.h"
printf '#define CMARK_GFM_VERSION 0\n#define CMARK_GFM_VERSION_STRING ""\n' > "$made/cmark-gfm_version.h"

sources=
for file in src/*.c extensions/*.c; do
  case $file in
    # The program, and what it writes besides HTML.
    src/main.c | src/man.c | src/latex.c | src/xml.c | src/commonmark.c | src/plaintext.c | src/render.c) ;;
    *) sources="$sources $file" ;;
  esac
done
# shellcheck disable=SC2086
clang --target=wasm32-wasi -mexec-model=reactor -Oz -DNDEBUG -w \
  -I"$made" -Isrc -Iextensions -Wl,--strip-all -Wl,--max-memory=268435456 \
  -o "$here/cmark-gfm.wasm" "$here/render.c" $sources
sha256sum "$here/cmark-gfm.wasm"
