"""Reads every resource with real clients that take compressed answers, and compares with what is sent uncompressed.

usage: check_codings.py --node NODE URL...

curl, zlib, gzip, zstandard, requests, httpx and Node.js decode. At least one answer to each must have been compressed.
"""

import argparse
import gzip
import http.client
import json
import subprocess
import sys
import tempfile
import urllib.parse
import zlib
from pathlib import Path

import httpx2
import requests
import zstandard

NODE = """
const [url, ...messages] = JSON.parse(require("node:fs").readFileSync(0));
(async () => {
  const answers = [];
  for (const body of messages) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    answers.push([response.headers.get("content-encoding"), await response.text()]);
  }
  process.stdout.write(JSON.stringify(answers));
})();
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="node", help="the Node.js program")
    parser.add_argument("urls", nargs="+")
    arguments = parser.parse_args()
    read = 0
    compressed = {}
    for url in arguments.urls:
        messages = all_messages(url)
        plain = [post(url, message, "identity")[1] for message in messages]
        for name, ask in clients(arguments.node).items():
            for message, expected, (coding, got) in zip(messages, plain, ask(url, messages), strict=True):
                if got != expected:
                    sys.exit(f"{name}: {message} at {url}: other bytes in {coding}")
                compressed[name] = compressed.get(name, 0) + (coding in ("gzip", "zstd"))
        read += len(messages)
    missing = [name for name, count in compressed.items() if not count]
    if missing:
        sys.exit(f"nothing was compressed for {', '.join(missing)}")
    counts = ", ".join(f"{name} {count}" for name, count in compressed.items())
    print(f"codings: {read} answers are the same to every decoder; compressed: {counts}")


def clients(node):
    return {
        "curl": ask_curl,
        "zlib": lambda url, messages: [unzipped(*post(url, message, "gzip"), zlib_member) for message in messages],
        "gzip": lambda url, messages: [unzipped(*post(url, message, "gzip"), gzip.decompress) for message in messages],
        "zstandard": lambda url, messages: [unzipped(*post(url, message, "zstd"), zstd_frame) for message in messages],
        "requests": ask_requests,
        "httpx": ask_httpx,
        "node": lambda url, messages: ask_node(node, url, messages),
    }


def all_messages(url):
    """The lists, and a read of each resource that is compiled in."""
    lists = [message("resources/list"), message("resources/templates/list")]
    items = json.loads(post(url, lists[0], "identity")[1])["result"]["resources"]
    # A size is known of what is compiled in only; what is fetched may differ from one read to the next.
    return lists + [message("resources/read", uri=item["uri"]) for item in items if "size" in item]


def message(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def post(url, message, coding):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    headers = {"content-type": "application/json", "accept-encoding": coding}
    connection.request("POST", parts.path, message, headers)
    response = connection.getresponse()
    return response.getheader("content-encoding"), response.read()


def unzipped(coding, body, decode):
    return coding, decode(body) if coding else body


def zlib_member(body):
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    decoded = decoder.decompress(body)
    assert decoder.eof and not decoder.unused_data, "one member and nothing behind it"
    return decoded


def zstd_frame(body):
    decoder = zstandard.ZstdDecompressor().decompressobj()
    decoded = decoder.decompress(body)
    assert decoder.eof and not decoder.unused_data, "one frame and nothing behind it"
    return decoded


def ask_requests(url, messages):
    for message in messages:
        response = requests.post(url, data=message, headers={"content-type": "application/json"}, timeout=30)
        yield response.headers.get("content-encoding"), response.content


def ask_httpx(url, messages):
    with httpx2.Client(timeout=30) as client:
        for message in messages:
            response = client.post(url, content=message, headers={"content-type": "application/json"})
            yield response.headers.get("content-encoding"), response.content


def ask_curl(url, messages):
    for message in messages:
        with tempfile.TemporaryDirectory() as scratch:
            body, head = Path(scratch, "body"), Path(scratch, "head")
            command = ["curl", "--silent", "--show-error", "--fail", "--compressed", "--max-time", "30"]
            command += ["--output", body, "--dump-header", head, "--header", "content-type: application/json"]
            subprocess.run([*command, "--data-binary", message, url], check=True)
            lines = head.read_text().lower().splitlines()
            coding = [line.split(": ")[1] for line in lines if line.startswith("content-encoding: ")]
            yield (coding or [None])[0], body.read_bytes()


def ask_node(node, url, messages):
    asked = json.dumps([url, *messages])
    done = subprocess.run([node, "--eval", NODE], input=asked, capture_output=True, text=True, check=True, timeout=120)
    return [(coding, text.encode()) for coding, text in json.loads(done.stdout)]


if __name__ == "__main__":
    main()
