"""Builds the image around a binary that `deploy/build.sh` made, and runs it where nothing else is.

usage: check.py BINARY

The image is the last stage of the Containerfile, made by buildah; the stages before it need a registry, and are replaced
by the binary. Must be root. Where a container gives neither namespaces nor mounts, what needs them is left out, and said.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = {"VERSION": "1.2.3", "REVISION": "0" * 40}
passed = 0


def main():
    binary = Path(sys.argv[1]).resolve()
    check_that_it_is_static(binary)
    with tempfile.TemporaryDirectory() as scratch:
        # The user of the image must get through.
        os.chmod(scratch, 0o755)
        root, content_hash = Path(scratch, "root"), printed_hash(binary)
        if buildah_works(scratch):
            check_image(binary, root, content_hash, Path(scratch))
        else:
            print("image: not built, since buildah cannot work here", flush=True)
            root.mkdir()
            shutil.copy(binary, root)
        apart = ["unshare", "--net", "--mount"]
        if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            print("image: run without a network namespace and a read-only root, which need more privileges", flush=True)
            apart = []
        alone = Path(__file__).with_name("alone.py")
        arguments = [root, content_hash, *(["apart"] if apart else [])]
        if subprocess.run([*apart, sys.executable, alone, *arguments]).returncode != 0:
            sys.exit(1)
    print(f"image: {passed} properties of the binary and its image hold")


def check_that_it_is_static(binary):
    headers = output("readelf", "--program-headers", "--dynamic", binary)
    check("INTERP" not in headers, "the binary needs a loader")
    check("NEEDED" not in headers, "the binary needs a library")
    strings = binary.read_bytes()
    for folder in [ROOT, Path.home(), Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))]:
        check(f"{folder}/".encode() not in strings, f"the binary names `{folder}`")


def printed_hash(binary):
    """The hash that the tree has by `mcpress check`, which must be that of the binary."""
    line = output(binary, "check", ROOT / "content").splitlines()[-1]
    content_hash = line.removeprefix("content ")
    check(len(content_hash) == 64, f"`mcpress check` printed `{line}`")
    check(f"(content {content_hash})\n" in output(binary, "--version"), "`--version` has another hash than `check`")
    return content_hash


def buildah_works(scratch):
    try:
        return subprocess.run([*buildah(scratch), "from", "scratch"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def buildah(scratch):
    """With a store of its own, that goes with the scratch folder."""
    return ["buildah", "--storage-driver", "vfs", "--root", f"{scratch}/store", "--runroot", f"{scratch}/run"]


def check_image(binary, root, content_hash, scratch):
    context = scratch / "build"
    context.mkdir()
    shutil.copy(binary, context / "mcpress")
    build = [*buildah(scratch), "build", "--quiet", "--isolation", "chroot", "--timestamp", "0"]
    build += ["--build-context", f"build={context}", "--file", "Containerfile"]
    for name, value in {**ARGUMENTS, "CONTENT_HASH": content_hash}.items():
        build += ["--build-arg", f"{name}={value}"]
    first, second = (output(*build, "--no-cache", ROOT).strip() for _ in range(2))
    check(first == second, "the same binary gave two images")

    inspected = json.loads(output(*buildah(scratch), "inspect", "--type", "image", first))
    config = inspected["OCIv1"]["config"]
    check(config["User"] == "65534:65534", f"it runs as `{config['User']}`")
    check(config["Entrypoint"] == ["/mcpress"] and not config.get("Cmd"), f"it starts {config['Entrypoint']}")
    check(config["ExposedPorts"] == {"8080/tcp": {}}, f"it exposes {config['ExposedPorts']}")
    check("MCPRESS_LISTEN=0.0.0.0:8080" in config["Env"], f"its environment is {config['Env']}")
    labels = config["Labels"]
    check(labels["mcpress.content-hash"] == content_hash, "the label has another hash than the binary")
    check(labels["org.opencontainers.image.version"] == ARGUMENTS["VERSION"], f"its labels are {labels}")
    check(labels["org.opencontainers.image.revision"] == ARGUMENTS["REVISION"], f"its labels are {labels}")

    output(*build, "--output", f"type=local,dest={root}", ROOT)
    # The folder itself is not of the image.
    root.chmod(0o755)
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    check(files == ["mcpress"], f"the image holds {files}")
    check((root / "mcpress").read_bytes() == binary.read_bytes(), "the image holds another binary")


def output(*command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"image: `{' '.join(map(str, command))}` failed with {done.returncode}")
    return done.stdout


def check(holds, fault):
    global passed
    if not holds:
        sys.exit(f"image: {fault}")
    passed += 1


main()
