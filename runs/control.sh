#!/usr/bin/env bash
# A tiny random model, no browser, no judge: does the trainer move at all? About a minute on a CPU.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"

paint train --mix control -o runs/control
paint analyze runs/control
