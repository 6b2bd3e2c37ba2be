#!/usr/bin/env bash
# Checks with curl what no MCP client shows: methods, HTTP/2, spellings of the address, foreign hosts and origins, probes.
# usage: check_http.sh http://127.0.0.1:PORT/mcp/docs
set -euo pipefail

url=$1
site=${url%/mcp/*}
slug=${url##*/}
json='content-type: application/json'
read_overview='{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"docs://api-overview"}}'
faults=0
checks=0

# expect WHAT EXPECTED CURL_ARGUMENT...: EXPECTED is a pattern for `STATUS HTTP/VERSION ALLOW`.
expect() {
    local got
    : >"$body"
    got=$(curl --silent --show-error --max-time 10 --output "$body" --write-out '%{http_code} HTTP/%{http_version} %header{allow}' "${@:3}") || true
    # shellcheck disable=SC2053 # a pattern
    [[ $got == $2 ]] || fault "$1: expected $2, got $got"
    checks=$((checks + 1))
}

# body_has WHAT TEXT, body_is WHAT FILE: about the body of the answer just checked.
body_has() {
    grep --quiet --fixed-strings "$2" "$body" || fault "$1: the body does not have $2"
    checks=$((checks + 1))
}
body_is() {
    cmp --silent "$body" "$2" || fault "$1: the body differs"
    checks=$((checks + 1))
}

fault() {
    printf '%s: %s\n' "$1" "$(head --bytes 500 "$body")"
    faults=$((faults + 1))
}

scratch=$(mktemp --directory)
trap 'rm -r "$scratch"' EXIT
body=$scratch/body
reference=$scratch/reference

expect 'a read' '200 HTTP/1.1 *' "$url" --header "$json" --data "$read_overview"
body_has 'a read' '"uri":"docs://api-overview"'
cp "$body" "$reference"

expect 'HTTP/2 with prior knowledge' '200 HTTP/2 *' --http2-prior-knowledge "$url" --header "$json" --data "$read_overview"
body_is 'HTTP/2 with prior knowledge' "$reference"
expect 'a trailing slash' '200 *' "$url/" --header "$json" --data "$read_overview"
body_is 'a trailing slash' "$reference"
expect 'a chunked request' '200 *' "$url" --header "$json" --header 'transfer-encoding: chunked' --data "$read_overview"
body_is 'a chunked request' "$reference"
expect 'a charset in content-type' '200 *' "$url" --header "$json; charset=utf-8" --data "$read_overview"
expect 'no accept header' '200 *' "$url" --header "$json" --header 'accept:' --data "$read_overview"
expect 'an invented session id' '200 *' "$url" --header "$json" --header 'mcp-session-id: s' --data "$read_overview"

for method in GET DELETE PUT; do
    expect "$method" '405 *POST*' --request "$method" "$url"
    expect "$method over HTTP/2" '405 HTTP/2 *POST*' --http2-prior-knowledge --request "$method" "$url"
done
expect 'an unknown server' '404 *' "$site/mcp/no-such-server" --header "$json" --data "$read_overview"
expect 'the server in capitals' '404 *' "$site/mcp/${slug^^}" --header "$json" --data "$read_overview"
expect 'a notification' '202 *' "$url" --header "$json" --data '{"jsonrpc":"2.0","method":"notifications/initialized"}'
expect 'broken JSON' '400 *' "$url" --header "$json" --data '{"jsonrpc":'
head --bytes 5MiB /dev/zero | tr '\0' ' ' >"$scratch/large"
expect 'a body that is too large' '413 *' "$url" --header "$json" --header 'expect:' --data-binary "@$scratch/large"

expect 'a foreign host' '403 *' "$url" --header "$json" --header 'host: evil.example.com' --data "$read_overview"
for origin in https://evil.example.com null; do
    expect "the origin $origin" '403 *' "$url" --header "$json" --header "origin: $origin" --data "$read_overview"
done
expect 'its own origin' '200 *' "$url" --header "$json" --header "origin: $site" --data "$read_overview"

for path in /healthz /readyz; do
    expect "GET $path" '200 *' "$site$path" --header 'host: any.example.com'
    expect "HEAD $path" '200 *' --head "$site$path" --header 'host: any.example.com'
done
expect 'GET /version' '200 *' "$site/version"
expect 'GET /' '200 *' "$site/"
body_has 'GET /' "/mcp/$slug"

echo "curl: $((checks - faults)) of $checks checks pass"
((faults == 0))
