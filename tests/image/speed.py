"""Compares how many reads the static binary answers with what a dynamic one does, whose allocator and libc are the system's.

usage: speed.py STATIC DYNAMIC

Rounds alternate, so that what else the machine does meets both. Needs wrk.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 3
READ = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"docs://reference/http"}}'
"""


def main():
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch, "read.lua")
        script.write_text(READ)
        programs = [start(path) for path in sys.argv[1:3]]
        try:
            rounds = [[reads(address, script) for _, address in programs] for _ in range(ROUNDS)]
        finally:
            for process, _ in programs:
                process.terminate()
                process.wait(30)
    static, dynamic = (statistics.median(column) for column in zip(*rounds))
    if static * 2 < dynamic:
        sys.exit(f"speed: the static binary answers {static:,.0f} reads a second, a dynamic one {dynamic:,.0f}")
    print(f"speed: the static binary answers {static / dynamic:.2f} times the reads of a dynamic one")


def start(path):
    process = subprocess.Popen([path, "--listen", "127.0.0.1:0", "--log-level", "warn"], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def reads(address, script):
    url = f"{address.rpartition('/')[0]}/docs"
    command = ["wrk", "--threads", "2", "--connections", "64", "--duration", "2s", "--script", script, url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"speed: reads failed:\n{text}")
    return float(re.search(r"Requests/sec:\s*([\d.]+)", text)[1])


main()
