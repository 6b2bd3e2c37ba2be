"""Builds a tree of 10,000 resources (30 MB) and serves it beside one of ten.

The build must stay below 30 s and 2 GB, the list must come in one page, and a read must cost what it costs in a tree of
ten. In a tree of 1,000 (3 MB) that `dev` serves, what is saved must be read within a second. Needs cargo and nothing else; the build of the dependencies is not counted.
"""

import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
PROGRAM = TARGET / "release/mcpress"
SENTENCE = "A page of a large manual says \"this\" and `that`, which is written in many sentences of one kind.\n"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        large, medium, small = Path(scratch, "large"), Path(scratch, "medium"), Path(scratch, "small")
        write_tree(large, 10_000)
        write_tree(medium, 1_000)
        write_tree(small, 10)
        build(small)
        seconds, megabytes = build(large)
        compiled = Path(scratch, "mcpress")
        compiled.write_bytes(PROGRAM.read_bytes())
        compiled.chmod(0o755)
        with Server([compiled]) as of_large, Server([compiled, "dev", small]) as of_small:
            listed = of_large.call("resources/list")["result"]
            check(len(listed["resources"]) == 10_000 and "nextCursor" not in listed, "the list is not one page")
            ratio = compare(of_large, of_small)
        with Server([compiled, "dev", medium]) as of_medium:
            reload = statistics.median(save_and_read(of_medium, medium, number) for number in range(9))
        check(seconds < 30, f"the build took {seconds:.1f} s")
        check(megabytes < 2000, f"the build took {megabytes:.0f} MB")
        check(ratio < 1.5, f"a read costs {ratio:.2f} times what it costs in a tree of ten")
        check(reload < 1, f"what was saved was read after {reload:.2f} s")
        print(
            f"scale: 10,000 resources build in {seconds:.1f} s and {megabytes:.0f} MB, list in one page, "
            f"and a read costs {ratio:.2f} of one in a tree of ten; "
            f"in a tree of 1,000, what is saved is read {reload:.2f} s later"
        )


def write_tree(root, count):
    for number in range(count):
        page = root / f"docs/resources/part-{number % 100}/page-{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"---\ntitle: Page {number}\n---\n\n# Page {number}\n\n" + SENTENCE * 30)
    (root / "docs/server.yaml").write_text("title: Large\n")


def build(tree):
    """Seconds, and the largest process in megabytes."""
    start = time.monotonic()
    environment = {**os.environ, "MCPRESS_CONTENT": str(tree)}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, env=environment, check=True)
    return time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def compare(of_large, of_small):
    """How much more of a processor a read takes at the one. Time would say more of what else the machine does."""
    before = of_large.cpu(), of_small.cpu()
    for _ in range(20):
        of_large.reads(200)
        of_small.reads(200)
    return (of_large.cpu() - before[0]) / (of_small.cpu() - before[1])


def save_and_read(server, tree, number):
    """Seconds from saving a page until a read gives it."""
    start = time.monotonic()
    text = f"Saved {number} times.\n"
    (tree / "docs/resources/part-7/page-7.md").write_text(text)
    while server.call("resources/read", uri="docs://part-7/page-7")["result"]["contents"][0]["text"] != text:
        check(time.monotonic() - start < 30, "what was saved is not read")
    return time.monotonic() - start


class Server:
    def __init__(self, command):
        self.command = [*map(str, command), "--listen", "127.0.0.1:0"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        host = self.process.stdout.readline().split("/")[2]
        self.connection = http.client.HTTPConnection(host, timeout=30)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.connection.request("POST", "/mcp/docs", body, {"Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())

    def cpu(self):
        """Ticks of a processor so far, its own and the system's for it."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13]))

    def reads(self, count):
        for number in range(count):
            answer = self.call("resources/read", uri=f"docs://part-{number % 10}/page-{number % 10}")
            check(f"# Page {number % 10}\n" in answer["result"]["contents"][0]["text"], "a read gave another page")


def check(holds, fault):
    if not holds:
        sys.exit(f"scale: {fault}")


main()
