#!/usr/bin/env bash
# Checks deploy/: the manifests as kustomize renders them, the pipelines, the systemd unit, and the page that leads to them.
# Usage: check.sh PROGRAM, which is also run as the manifests and the pipelines run it; afterwards target/release has the
# content of the page. Needs Rust, Python, Node.js with npm, curl, jq and systemd; what else it needs comes from PyPI and npm.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

here=tests/deploy
tools=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}/deploy-check")
if [[ ! -e $tools/bin/python ]]; then
    python3 -m venv "$tools"
fi
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check \
    --requirement "$here/requirements.txt" --constraint "$here/constraints.txt"
npm ci --prefix "$here" --ignore-scripts --no-audit --no-fund --loglevel error >/dev/null
export PATH=$tools/bin:$PATH
export NODE=${NODE:-node}
python "$here/check_manifests.py" "$program"
python "$here/check_pipelines.py" "$program"
python "$here/check_walkthrough.py" "$program"

# Only the program's place is another here.
scratch=$(mktemp --directory)
trap 'rm --recursive --force "$scratch"' EXIT
sed "s|^ExecStart=/usr/local/bin/mcpress|ExecStart=$program|" deploy/systemd/mcpress.service >"$scratch/mcpress.service"
# It warns of keys that it does not know, and calls the unit good.
warnings=$(systemd-analyze verify --man=no "$scratch/mcpress.service" 2>&1)
if [[ $warnings ]]; then
    echo "$warnings"
    exit 1
fi
exposure=$(systemd-analyze security --offline=true --threshold=15 --no-pager "$scratch/mcpress.service")
echo "deploy: the unit is valid:${exposure##*→}"
