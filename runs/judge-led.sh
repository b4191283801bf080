#!/usr/bin/env bash
# The judge leads: paint as the rater likes it. Planned for 200 steps, stopped at 110 as published.
# One H200, or the Hub: `runs/judge-led.sh --where hub`.
# Needs the weights of Qwen3.5-35B-A3B and HPSv3, and a token for the judge,
# all from the Hub. `runs/judge-led.sh --dry-run` plans it and loads nothing. Stopped, it goes on when started again.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
run=runs/judge-led

settings=(--mix judge-led --steps 110 --pool hub:HuggingEnvs/watercolour-reference-pool@50da8bb183aa472bdf6538852b652778f539a2af)
[ -f $run/recipe.toml ] && settings+=(--resume)
paint train -o $run "${settings[@]}" "$@"
case " $* " in *" --dry-run "* | *" --where hub "*) exit ;; esac

paint sample $run -n 16
paint exam $run
paint analyze $run --html $run/report.html
paint gallery $run -o $run/gallery
