"""Runs every client in each of its version modes against a running server and compares what it got with the files.

usage: check_clients.py --node NODE FOLDER... --urls URL... (the folders of the servers, and where each is served)

A client lists and reads everything, reads the further URIs that it is given, and prints one JSON report:
`{revision, listed: [Resource], templates: [ResourceTemplate], reads: {uri: {contents} or {error}}}`.
"""

import argparse
import base64
import json
import subprocess
import sys
from pathlib import Path

from expected import LIVE, expected

HERE = Path(__file__).parent
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Seconds for all that one client does at one server. Where nothing can be reached, each live entry may take its `timeout`.
PATIENCE = 300

# client → its version modes, each with the revision that it must arrive at
CLIENTS = {
    "typescript_v1.mjs": {"latest": "2025-11-25"},
    "typescript_v2.mjs": {
        "auto": "2026-07-28",
        "2026-07-28": "2026-07-28",
        "legacy": "2025-11-25",
        "2025-06-18": "2025-06-18",
        "2025-03-26": "2025-03-26",
        "2024-11-05": "2024-11-05",
    },
    "python_mcp.py": {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"},
    "python_fastmcp.py": {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"},
}

# server → a URI that its template gives, and what must be in the text
TEMPLATES = {
    "examples": ("examples://greetings/de/Ada", "Guten Tag, Ada!"),
    "conformance": ("test://template/123/data", "123"),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="node", help="the Node.js program")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--urls", nargs="+", required=True)
    arguments = parser.parse_args()
    servers = [(folder, expected(folder), url) for folder, url in zip(arguments.folders, arguments.urls, strict=True)]
    compared = sum(isinstance(content, bytes) for _, files, _ in servers for content in files.values())

    failed = False
    for client, modes in CLIENTS.items():
        faults = []
        for mode, revision in modes.items():
            for folder, files, url in servers:
                found = check(client, mode, revision, folder.name, files, url, arguments.node)
                faults += [f"{client} {mode} at {folder.name}: {fault}" for fault in found]
        print(*faults, sep="\n", end="\n" * bool(faults))
        outcome = f"{len(faults)} faults" if faults else f"{compared} resources equal to their files in each mode"
        print(f"{client} ({', '.join(modes)}) at {len(servers)} servers: {outcome}", flush=True)
        failed |= bool(faults)
    sys.exit(failed)


def check(client, mode, revision, slug, files, url, node):
    """What is wrong with what this client gets from this server."""
    unknown = f"{slug}://no-such-resource"
    template_uri, template_text = TEMPLATES.get(slug, (None, None))
    program = node if client.endswith(".mjs") else sys.executable
    command = [program, HERE / client, url, mode, unknown, *filter(None, [template_uri])]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE)
    if done.returncode != 0:
        return [f"the client ended with exit code {done.returncode}"]
    report = json.loads(done.stdout)

    faults = []
    if report["revision"] != revision:
        faults.append(f"speaks revision {report['revision']}, not {revision}")

    listed = {resource["uri"]: resource for resource in report["listed"]}
    if len(listed) != len(report["listed"]):
        faults.append("the list names a URI twice")
    faults += [f"{uri}: not listed" for uri in files.keys() - listed.keys()]
    faults += [f"{uri}: listed, but there is no file for it" for uri in listed.keys() - files.keys()]
    for uri in files.keys() & listed.keys():
        if files[uri] is LIVE:
            faults += check_live(uri, listed[uri], report["reads"][uri])
        else:
            faults += compare(uri, listed[uri], report["reads"][uri], files[uri])

    error = report["reads"][unknown].get("error", {})
    if error.get("code") != INVALID_PARAMS or f"Resource not found: {unknown}" not in error.get("message", ""):
        faults.append(f"{unknown}: expected error {INVALID_PARAMS}, got {report['reads'][unknown]}")
    if template_uri:
        text = "".join(content.get("text", "") for content in report["reads"][template_uri].get("contents", []))
        if template_text not in text:
            faults.append(f"{template_uri}: expected a text with `{template_text}`, got {report['reads'][template_uri]}")
        if not report["templates"]:
            faults.append("lists no templates")
    return faults


def check_live(uri, resource, read):
    """What is wrong with the answer for a live entry, whose upstream may or may not be reachable from here."""
    if "size" in resource:
        return [f"{uri}: listed with a size, which nobody can know"]
    if "error" not in read:
        uris = [content["uri"] for content in read["contents"]]
        return [] if uris == [uri] else [f"{uri}: expected one content, got {read}"]
    error = read["error"]
    if error["code"] != INTERNAL_ERROR or not error["message"] or not error.get("data", {}).get("requestId"):
        return [f"{uri}: expected contents, or error {INTERNAL_ERROR} with a sentence and a `requestId`, got {read}"]
    return []


def compare(uri, resource, read, file):
    """What is wrong with the answer to one read; `file` is None where only the program knows the text."""
    contents = read.get("contents", [])
    if len(contents) != 1:
        return [f"{uri}: expected one content, got {read}"]
    [content] = contents
    is_text = "text" in content
    got = content["text"].encode() if is_text else base64.b64decode(content["blob"], validate=True)

    faults = []
    if content["uri"] != uri:
        faults.append(f"{uri}: the content has the URI {content['uri']}")
    if content.get("mimeType") != resource.get("mimeType"):
        faults.append(f"{uri}: listed as {resource.get('mimeType')}, read as {content.get('mimeType')}")
    if resource.get("size") != len(got):
        faults.append(f"{uri}: listed with size {resource.get('size')}, has {len(got)} bytes")
    if file is None:
        if not got:
            faults.append(f"{uri}: empty")
        return faults
    if is_text:
        file = file.removeprefix(b"\xef\xbb\xbf")
    elif is_plain_text(file) and resource.get("mimeType", "").startswith("text/"):
        faults.append(f"{uri}: a text is served as `blob`")
    if got != file:
        faults.append(f"{uri}: {len(got)} bytes that differ from the {len(file)} bytes of the file")
    return faults


def is_plain_text(file):
    try:
        return "\0" not in file.decode()
    except UnicodeDecodeError:
        return False


if __name__ == "__main__":
    main()
