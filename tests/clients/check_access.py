"""Reads from a server that asks for a bearer token, with the clients of the SDKs: with the token, without, and with a wrong one.

usage: check_access.py --node NODE PROGRAM
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TEXT = "only for some"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="node", help="the Node.js program")
    parser.add_argument("program")
    arguments = parser.parse_args()
    clients = {
        "TypeScript SDK 1": [arguments.node, HERE / "bearer.mjs", "v1"],
        "TypeScript SDK 2": [arguments.node, HERE / "bearer.mjs", "v2"],
        "Python SDK": [sys.executable, HERE / "bearer_mcp.py"],
    }
    token, digest = run([arguments.program, "token"]).split()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        (tree / "team/resources").mkdir(parents=True)
        (tree / "team/server.yaml").write_text("auth: { bearer: { tokens_env: TEAM_TOKENS } }\n")
        (tree / "team/resources/a.txt").write_text(TEXT)
        command = [arguments.program, "dev", tree, "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TEAM_TOKENS": digest})
        try:
            url = server.stdout.readline().strip()
            faults = [fault for name, client in clients.items() for fault in check(name, client, url, token)]
        finally:
            server.terminate()
            server.wait()
    print(*faults, sep="\n", end="\n" * bool(faults))
    print(f"bearer tokens ({', '.join(clients)}): {f'{len(faults)} faults' if faults else 'read with the token, fail without'}")
    sys.exit(bool(faults))


def check(name, client, url, token):
    """What is wrong with what this client says."""
    faults = []
    for given, expected in [([token], f"read {TEXT}"), ([], "failed"), ([token[1:]], "failed")]:
        said = run([*client, url, "team://a.txt", *given]).strip()
        if not said.startswith(expected) or len(said) == len("failed"):
            faults.append(f"{name}: expected `{expected} …`, got `{said}`")
        if os.environ.get("VERBOSE"):
            print(name, said)
    return faults


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


if __name__ == "__main__":
    main()
