"""Runs the binary of an image as a cluster does: read-only root with nothing in it, a number for a user, no network.

usage: alone.py ROOT CONTENT_HASH [apart]

With `apart` it runs in network and mount namespaces that are its own to change (`check.py` makes them); there a resolver
and a site with a certificate of its own authority stand in for the world.
"""

import http.client
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

USER = "65534:65534"
HOST = "mcp.example.com"
# A public address, since content may fetch from no other unless it says so. Nothing leaves the namespace.
WORLD = "9.9.9.9"
UPSTREAM = "api.upstream.example"
LIVE = "examples://live/wordpress-version"
CHROOT = shutil.which("chroot")
passed = 0


def main():
    root, content_hash, apart = Path(sys.argv[1]), sys.argv[2], "apart" in sys.argv
    if apart:
        run("ip", "link", "set", "lo", "up")
        run("mount", "--bind", root, root)
        run("mount", "-o", "remount,bind,ro", root)
        check_that_nothing_can_be_written(root)
    check_that_it_wants_to_know_its_names(root)
    with Server(root) as server:
        check_static(server, content_hash)
        if apart:
            check_without_network(server)
    if apart:
        with tempfile.TemporaryDirectory() as scratch:
            check_with_an_upstream(root, Path(scratch))
    print(f"image: {passed} properties of the program alone hold")


def check_that_nothing_can_be_written(root):
    try:
        (root / "file").touch()
        check(False, "its root can be written")
    except OSError:
        pass


def check_that_it_wants_to_know_its_names(root):
    done = subprocess.run(command(root), env={"MCPRESS_LISTEN": "0.0.0.0:0"}, capture_output=True, text=True, timeout=30)
    check(done.returncode == 2 and "MCPRESS_ALLOWED_HOSTS" in done.stderr, f"without its names it says {done.stderr}")


def check_static(server, content_hash):
    for path in ["/healthz", "/readyz"]:
        check(server.get(path)[0] == 200, f"{path} is not 200")
    check(json.loads(server.get("/version")[1])["contentHash"] == content_hash, "/version has another hash")
    check("# " in server.read("docs", "docs://api-overview")["result"]["contents"][0]["text"], "a page was not read")


def check_without_network(server):
    started = time.monotonic()
    error = server.read("examples", LIVE).get("error", {})
    check(error.get("code") == -32603, f"without a network a live entry gives {error}")
    check("cannot be reached" in error["message"], f"without a network a live entry says `{error['message']}`")
    check(time.monotonic() - started < 10, "without a network a live entry takes long to fail")
    check(server.get("/readyz")[0] == 200, "a live entry that failed makes it unready")


def check_with_an_upstream(root, scratch):
    run("ip", "address", "add", f"{WORLD}/32", "dev", "lo")
    authority = make_certificates(scratch)
    serve_names("127.0.0.1")
    serve_upstream(scratch)

    # The root is as empty as before: the resolver is asked at 127.0.0.1, and nobody vouches for the certificate.
    with Server(root, EXAMPLES_API=f"https://{UPSTREAM}") as server:
        error = server.read("examples", LIVE).get("error", {})
        check("cannot be reached" in error.get("message", ""), f"an unknown authority gives {error}")
        check("certificate" in server.log(), f"the log does not tell of the certificate: {server.log()}")

    # What a platform mounts, and the file of the authority.
    mounted = scratch / "mounted"
    shutil.copytree(root, mounted)
    (mounted / "etc").mkdir()
    shutil.copy(authority, mounted / "ca.pem")
    serve_names("127.0.0.53")
    (mounted / "etc/resolv.conf").write_text("nameserver 127.0.0.53\n")
    (mounted / "etc/hosts").write_text(f"{WORLD} hosts.upstream.example\n")
    for path in [scratch, mounted, mounted / "etc"]:
        path.chmod(0o755)
    for name in [UPSTREAM, "hosts.upstream.example"]:
        with Server(mounted, EXAMPLES_API=f"https://{name}", MCPRESS_CA_FILE="/ca.pem") as server:
            answer = server.read("examples", LIVE)
            text = answer.get("result", {}).get("contents", [{}])[0].get("text", "")
            check("WordPress 12.3 is current" in text, f"a fetch from {name} gives {answer}, {server.log()}")


def make_certificates(folder):
    """An authority in `ca.pem`, and by it a certificate for the upstream in `site.pem`."""
    openssl = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "2"]
    authority = ["-subj", "/CN=Authority", "-keyout", "ca.key", "-out", "ca.pem"]
    names = f"subjectAltName=DNS:{UPSTREAM},DNS:hosts.upstream.example"
    site = ["-subj", "/CN=Site", "-addext", names, "-addext", "basicConstraints=critical,CA:false"]
    site += ["-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "site.key", "-out", "site.pem"]
    for arguments in [authority, site]:
        subprocess.run([*openssl, *arguments], cwd=folder, check=True, capture_output=True)
    return folder / "ca.pem"


def serve_names(address):
    """Answers for the upstream with an address, and says that other names do not exist."""
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind((address, 53))
    asked = b"".join(bytes([len(label)]) + label.encode() for label in UPSTREAM.split(".")) + b"\0"

    def serve():
        while True:
            query, client = resolver.recvfrom(512)
            end = query.index(b"\0", 12) + 1
            known, wants_ipv4 = query[12:end].lower() == asked, query[end : end + 2] == b"\0\1"
            answers = b""
            if known and wants_ipv4:
                answers = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(WORLD)
            flags = 0x8180 if known else 0x8183
            head = query[:2] + struct.pack("!HHHHH", flags, 1, 1 if answers else 0, 0, 0)
            resolver.sendto(head + query[12 : end + 4] + answers, client)

    threading.Thread(target=serve, daemon=True).start()


def serve_upstream(folder):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = b'{"offers":[{"version":"12.3","php_version":"8.4"}]}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Upstream(HTTPServer):
        def handle_error(self, *_):
            """That a client turns away is expected."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "site.pem", folder / "site.key")
    upstream = Upstream((WORLD, 443), Handler)
    upstream.socket = context.wrap_socket(upstream.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()


def command(root):
    return [CHROOT, f"--userspec={USER}", str(root), "/mcpress"]


class Server:
    """The program, with the variables of the image and no other: no HOME, no PATH."""

    def __init__(self, root, **variables):
        self.root = root
        self.variables = {"MCPRESS_LISTEN": "0.0.0.0:0", "MCPRESS_ALLOWED_HOSTS": HOST, **variables}

    def __enter__(self):
        self.stderr = tempfile.TemporaryFile("w+")
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": self.stderr}
        self.process = subprocess.Popen(command(self.root), env=self.variables, text=True, **streams)
        line = self.process.stdout.readline()
        if not line.startswith("http://0.0.0.0:"):
            self.process.kill()
            sys.exit(f"image: it does not start: {self.log()}")
        self.port = int(line.split("/")[2].split(":")[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(30) == 0, "it does not stop as it should")
        check("panicked" not in self.log(), f"it panicked: {self.log()}")

    def log(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def get(self, path):
        return self.request("GET", path)

    def read(self, slug, uri):
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
        return json.loads(self.request("POST", f"/mcp/{slug}", json.dumps(message))[1])

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, {"Host": HOST, "Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()


def run(*arguments):
    subprocess.run(list(map(str, arguments)), check=True)


def check(holds, fault):
    global passed
    if not holds:
        sys.exit(f"image: {fault}")
    passed += 1


main()
