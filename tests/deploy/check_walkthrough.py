"""Follows docs/gitops.md: runs the commands of its blocks in an empty folder, and compares what they print.

A line with `$ ` in front is a command, also in a comment, and the lines below it are its output, where `…` stands for
anything. A server goes on until the next one starts. Usage: check_walkthrough.py PROGRAM
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/gitops.md"


def main():
    program = Path(sys.argv[1]).resolve()
    steps = list(commands(PAGE.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mcpress").symlink_to(ROOT)
        tools = Path(folder) / "bin"
        tools.mkdir()
        (tools / "mcpress").symlink_to(program)
        walk = Walk(Path(folder), tools)
        try:
            for command, expected in steps:
                walk.take(command, expected)
        finally:
            walk.stop_server()
    print(f"deploy: {len(steps)} commands of {PAGE.name} run, and print what it says")


def commands(page):
    """Each command with the lines that it is said to print."""
    for block in re.findall(r"^```console\n(.*?)^```$|^<!--[^\n]*\n(\$ .*?)^-->$", page, re.MULTILINE | re.DOTALL):
        for step in re.split(r"^\$ ", "".join(block), flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            yield command, expected.strip("\n")


class Walk:
    def __init__(self, folder, tools):
        self.folder, self.server = folder, None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        author = {f"GIT_{role}_{key}": "someone@example.com" for role in ["AUTHOR", "COMMITTER"] for key in ["NAME", "EMAIL"]}
        own = {"PATH": f"{tools}:{os.environ['PATH']}", "MCPRESS_LISTEN": f"127.0.0.1:{self.port}"}
        self.env = os.environ | author | own

    def take(self, command, expected):
        command, expected = (text.replace("8080", str(self.port)) for text in (command, expected))
        if re.fullmatch(r"\S*mcpress( dev)?", command):
            printed = self.start_server(command)
        else:
            script = f"set -o pipefail; {command}\nstatus=$?; pwd >{self.folder}/cwd; exit $status"
            done = subprocess.run(
                ["bash", "-c", script], cwd=self.folder_now(), env=self.env, stdout=subprocess.PIPE, text=True, timeout=900
            )
            assert done.returncode == 0, f"`{command}` failed: {done.stdout}"
            printed = done.stdout.strip("\n")
        pattern = ".*".join(map(re.escape, expected.split("…")))
        assert re.fullmatch(pattern, printed, re.DOTALL), f"`{command}` printed\n{printed}\ninstead of\n{expected}"

    def start_server(self, command):
        self.stop_server()
        self.server = subprocess.Popen(
            command.split(), cwd=self.folder_now(), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self.server.stdout.readline().strip()

    def stop_server(self):
        if self.server:
            self.server.terminate()
            assert self.server.wait(timeout=20) == 0

    def folder_now(self):
        cwd = self.folder / "cwd"
        return cwd.read_text().strip() if cwd.exists() else self.folder


if __name__ == "__main__":
    main()
