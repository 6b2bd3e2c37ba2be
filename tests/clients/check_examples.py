"""Runs the examples of examples.md against a running server, with only the address changed.

usage: check_examples.py --node NODE URL

The Python example prints a dict and the JavaScript one nothing, so each gets one more line that prints its answer as JSON.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ADDRESS = "https://yoursite.com/mcp/my-server"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="node", help="the Node.js program")
    parser.add_argument("url")
    arguments = parser.parse_args()

    programs = {
        "bash": (["bash", "-c"], ""),
        "python": ([sys.executable, "-c"], "import json; print(json.dumps(response.json()))"),
        "javascript": ([arguments.node, "--input-type=module", "--eval"], "console.log(JSON.stringify(data));"),
    }
    document = Path(__file__).with_name("examples.md").read_text()
    examples = dict(re.findall(r"^```(\w+)\n(.*?)^```$", document, re.DOTALL | re.MULTILINE))
    assert examples.keys() == programs.keys(), f"examples.md holds {list(examples)}"

    for language, (command, print_answer) in programs.items():
        assert examples[language].count(ADDRESS) == 1, f"the {language} example has no address"
        source = examples[language].replace(ADDRESS, arguments.url) + print_answer
        done = subprocess.run([*command, source], capture_output=True, timeout=60, text=True)
        if done.returncode != 0:
            sys.exit(f"{language} example: exit code {done.returncode}\n{done.stderr}")
        check(language, json.loads(done.stdout.strip().splitlines()[-1]))
        print(f"{language} example: answered as documented")


def check(language, answer):
    assert answer["jsonrpc"] == "2.0" and answer["id"] == 2 and answer.keys() == {"jsonrpc", "id", "result"}, answer
    [content] = answer["result"]["contents"]
    assert content["uri"] == "docs://api-overview", f"{language}: {content}"
    assert content["mimeType"] == "text/markdown", f"{language}: {content}"
    assert content["text"].strip(), f"{language}: {content}"


if __name__ == "__main__":
    main()
