"""Runs the official conformance suite's requirements of one revision against a running server.

usage: check_conformance.py --node NODE REVISION URL

The suite compares what it finds with conformance-REVISION.yml; this program counts, and shows everything when they differ.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SUITE = HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="node", help="the Node.js program, version 22 or newer")
    parser.add_argument("revision")
    parser.add_argument("url")
    arguments = parser.parse_args()
    requirements = ["--requirements", arguments.revision]

    with tempfile.TemporaryDirectory() as results:
        gate = HERE / f"conformance-{arguments.revision}.yml"
        command = ["server", "--url", arguments.url, *requirements, "--expected-failures", gate, "--output-dir", results]
        exit_code, output = run(arguments.node, *command)
        if exit_code != 0:
            print(output)
            print_checks(Path(results), re.findall(r"^  ✗ ([^\s:]+)(?::\S+)?$", output, re.MULTILINE))
            sys.exit(exit_code)

    _, listing = run(arguments.node, "list", "--server", *requirements)
    scored = listing.partition("Server scenarios")[2].partition("\n\n")[0].count("\n  - ")
    expected = {entry.partition(":")[0] for entry in re.findall(r"^  ~ (\S+)$", output, re.MULTILINE)}
    assert scored > len(expected) > 0, f"cannot read the output of the suite:\n{output}\n{listing}"
    passed = scored - len(expected)
    print(f"conformance {arguments.revision}: {passed} of {scored} scored scenarios pass, {len(expected)} expected failures")


def run(node, *arguments):
    done = subprocess.run([node, SUITE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def print_checks(results, scenarios):
    """The reasons, which the suite itself writes to files only."""
    for path in sorted(results.glob("*/checks.json")):
        if any(path.parent.name.startswith(f"server-{scenario}-2") for scenario in scenarios):
            for check in json.loads(path.read_text()):
                if check["status"] in ("FAILURE", "WARNING"):
                    print(f"{check['status']} {check['id']}: {check.get('errorMessage', check['description'])}")


if __name__ == "__main__":
    main()
