#!/usr/bin/env bash
# Builds the program for images: one static binary, whose bytes depend on the sources, the content and the toolchain only,
# not on the folder, the user or the time. The Containerfile, CI and the pipelines all build with it.
#
#   MCPRESS_CONTENT=/path/to/content deploy/build.sh
#
# The binary is target/TRIPLE/dist/mcpress, where TRIPLE is $CARGO_BUILD_TARGET, by default that of this machine.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_BUILD_TARGET=${CARGO_BUILD_TARGET:-$(rustc --print host-tuple)}

# Paths of sources stand in the messages of panics, as cargo writes them. Of several that fit, the last one counts.
absolute() { if [[ $1 == /* ]]; then echo "$1"; else echo "$PWD/$1"; fi; }
cargo_home=$(absolute "${CARGO_HOME:-$HOME/.cargo}")
target=$(absolute "${CARGO_TARGET_DIR:-target}")
prefixes=("$PWD=/mcpress" "$cargo_home=/cargo" "$target=/target")

# With a target named, these are for the program alone, and not for build scripts, which run on this machine.
rust_flags=(-C target-feature=+crt-static)
c_flags=()
for prefix in "${prefixes[@]}"; do
    rust_flags+=("--remap-path-prefix=$prefix")
    c_flags+=("$(printf '%q' "-ffile-prefix-map=$prefix")")
done
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${rust_flags[*]}")
export CARGO_ENCODED_RUSTFLAGS TARGET_CFLAGS="${c_flags[*]}" CC_SHELL_ESCAPED_FLAGS=1

# A library of hash tables draws a part of its keys when it is compiled, unless it is told them.
export CONST_RANDOM_SEED=mcpress

exec cargo build --profile dist --locked --package mcpress "$@"
