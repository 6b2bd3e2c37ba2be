#!/usr/bin/env bash
# Builds the same sources once more, as the Containerfile does, with nothing in common but the toolchain and the sources of
# the libraries: another folder, another CARGO_HOME, another HOME, another time. The two binaries must be the same bytes,
# and of the content nothing may depend but the package itself.
# usage: reproduce.sh BINARY, which `deploy/build.sh` made here
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binary=$(realpath "$1")
scratch=$(mktemp --directory)
trap 'rm --recursive --force "$scratch"' EXIT
sources="$scratch/another folder"
log=$scratch/log
mkdir --parents "$sources" "$scratch/home" "$scratch/empty/empty"
touch "$scratch/empty/empty/server.yaml"

# What the Containerfile copies from its context, and with other times than here.
copied=$(sed --quiet 's/^COPY \([^-].*\) [^ ]*$/\1/p' Containerfile)
# shellcheck disable=SC2086 # several names
tar --create $copied | tar --extract --touch --directory "$sources"
ln --symbolic "${CARGO_HOME:-$HOME/.cargo}" "$scratch/cargo"

# build CONTENT
build() {
    env --unset CARGO_TARGET_DIR HOME="$scratch/home" CARGO_HOME="$scratch/cargo" MCPRESS_CONTENT="$1" \
        RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" "$sources/deploy/build.sh" 2>"$log" || { cat "$log" >&2 && false; }
}

build "$scratch/empty"
libraries=$(grep --count '^ *Compiling ' "$log")
build "$sources/content"
compiled=$(sed --quiet 's/^ *Compiling \([^ ]*\).*/\1/p' "$log")
if [[ $compiled != mcpress ]]; then
    echo "reproduce: another content compiled more than the package itself: ${compiled//$'\n'/ }" >&2
    exit 1
fi

second=$(echo "$sources"/target/*/dist/mcpress)
if ! cmp "$binary" "$second"; then
    cp "$second" "$binary.second"
    echo "reproduce: another build of the same sources gives other bytes: $binary.second" >&2
    exit 1
fi
echo "reproduce: builds in two folders give the same $(stat --format %s "$binary") bytes, and another content compiled" \
    "1 package of $libraries"
