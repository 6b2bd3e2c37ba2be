#!/usr/bin/env bash
# Builds the same sources once more, with nothing in common but the toolchain and the sources of the libraries: another
# folder, another CARGO_HOME, another HOME, another clock. The two binaries must be the same bytes.
# usage: reproduce.sh BINARY, which `deploy/build.sh` made here
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binary=$(realpath "$1")
scratch=$(mktemp --directory)
trap 'rm --recursive --force "$scratch"' EXIT

sources="$scratch/another folder"
mkdir "$sources" "$scratch/home"
tar --create --exclude ./target --exclude ./.git --exclude node_modules . | tar --extract --touch --directory "$sources"
ln --symbolic "${CARGO_HOME:-$HOME/.cargo}" "$scratch/cargo"
toolchains=${RUSTUP_HOME:-$HOME/.rustup}

env --unset CARGO_TARGET_DIR HOME="$scratch/home" CARGO_HOME="$scratch/cargo" RUSTUP_HOME="$toolchains" \
    "$sources/deploy/build.sh" --quiet

second=$(echo "$sources"/target/*/dist/mcpress)
if ! cmp "$binary" "$second"; then
    cp "$second" "$binary.second"
    echo "reproduce: another build of the same sources gives other bytes: $binary.second" >&2
    exit 1
fi
echo "reproduce: two builds in two folders give the same $(stat --format %s "$binary") bytes"
