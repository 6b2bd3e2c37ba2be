#!/usr/bin/env bash
# Builds the same sources once more, in another folder, with another HOME, from what the Containerfile copies and nothing
# else. The two binaries must be the same bytes. Build scripts and macros are those of the first build, which saves much
# time; all that becomes part of the binary is compiled anew.
# usage: reproduce.sh BINARY, which `deploy/build.sh` made here
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

binary=$(realpath "$1")
host_tools=$(realpath "$(dirname "$binary")/../../dist")
scratch=$(mktemp --directory)
trap 'rm --recursive --force "$scratch"' EXIT
sources="$scratch/another folder"
mkdir --parents "$sources/target" "$scratch/home"

copied=$(sed --quiet 's/^COPY \([^-].*\) [^ ]*$/\1/p' Containerfile)
# shellcheck disable=SC2086 # several names
tar --create $copied | tar --extract --directory "$sources"
cp --archive "$host_tools" "$sources/target/"

env --unset CARGO_TARGET_DIR --unset CARGO_BUILD_TARGET HOME="$scratch/home" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" \
    RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" "$sources/deploy/build.sh" --quiet

second=$(echo "$sources"/target/*/dist/mcpress)
if ! cmp "$binary" "$second"; then
    cp "$second" "$binary.second"
    echo "reproduce: another build of the same sources gives other bytes: $binary.second" >&2
    exit 1
fi
echo "reproduce: two builds in two folders give the same $(stat --format %s "$binary") bytes"
