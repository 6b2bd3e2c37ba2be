#!/usr/bin/env bash
# The binary follows its content tree: whatever changes there is in the next build, and nothing else causes one.
# Needs nothing but cargo; run it from anywhere.
set -euo pipefail
cd "$(dirname "$0")/../.."

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
export MCPRESS_CONTENT=$tree
passed=0

build() { cargo build --release --quiet; }
uris() { target/release/mcpress list docs; }
# expect WHAT present|absent TEXT
expect() {
    build
    local found=absent
    if uris | grep -qF -- "$3"; then found=present; fi
    if [ "$found" != "$2" ]; then
        echo "rebuild: $1: \`$3\` is $found in the next build" >&2
        exit 1
    fi
    passed=$((passed + 1))
}

mkdir -p "$tree/docs/resources/a/b"
touch "$tree/docs/server.yaml"
printf '# One\n' >"$tree/docs/resources/a/b/one.md"
expect "a new tree" present docs://a/b/one

printf '# Two\n' >"$tree/docs/resources/a/b/two.md"
expect "a file added in a nested folder" present docs://a/b/two
mv "$tree/docs/resources/a/b/two.md" "$tree/docs/resources/a/b/three.md"
expect "a file renamed" present docs://a/b/three
expect "a file renamed" absent docs://a/b/two
rm "$tree/docs/resources/a/b/three.md"
expect "a file removed" absent docs://a/b/three
mv "$tree/docs/resources/a" "$tree/docs/resources/c"
expect "a folder renamed" present docs://c/b/one
mkdir "$tree/docs/resources/d"
printf '# Old\n' >"$tree/docs/resources/d/old.md"
touch -d '2001-01-01' "$tree/docs/resources/d/old.md" "$tree/docs/resources/d"
expect "a folder added whose files are old" present docs://d/old
rm -r "$tree/docs/resources/d"
expect "a folder removed" absent docs://d/old

before=$(stat -c %Y.%i target/release/mcpress)
build
if [ "$(stat -c %Y.%i target/release/mcpress)" != "$before" ] || cargo build --release --verbose 2>&1 | grep -q Dirty; then
    echo "rebuild: it was built again though nothing had changed" >&2
    exit 1
fi
passed=$((passed + 1))

other=$(mktemp -d)
trap 'rm -rf "$tree" "$other"' EXIT
cp -r "$tree/docs" "$other/docs"
mv "$other/docs/resources/c" "$other/docs/resources/other"
MCPRESS_CONTENT=$other
compiled=$(cargo build --release 2>&1 | sed --quiet 's/^ *Compiling \([^ ]*\).*/\1/p')
if [ "$compiled" != mcpress ]; then
    echo "rebuild: another content compiled more than the package itself: ${compiled//$'\n'/ }" >&2
    exit 1
fi
passed=$((passed + 1))
expect "another MCPRESS_CONTENT" present docs://other/b/one

printf 'uri: docs://x\n' >"$other/docs/resources/x.yaml"
if output=$(cargo build --release 2>&1); then
    echo "rebuild: a tree that does not compile was built" >&2
    exit 1
fi
if ! grep -qF 'x.yaml:1:1: no source of content' <<<"$output" || grep -q 'stack backtrace\|panicked' <<<"$output"; then
    printf 'rebuild: a fault of the tree is not shown as it should be:\n%s\n' "$output" >&2
    exit 1
fi
passed=$((passed + 1))
rm "$other/docs/resources/x.yaml"

printf 'a\r\nb\n' >"$other/docs/resources/mixed.txt"
for value in 1 Yes; do
    if MCPRESS_DENY_WARNINGS=$value cargo build --release --quiet 2>/dev/null; then
        echo "rebuild: MCPRESS_DENY_WARNINGS=$value lets a warning pass" >&2
        exit 1
    fi
    passed=$((passed + 1))
done
rm "$other/docs/resources/mixed.txt"
rm -r "$tree"
expect "the tree it was built from is gone" present docs://other/b/one

echo "rebuild: $passed changes of a tree, each seen by the next build"
