"""A language model of 0.7 million parameters that has learned a few compact sketches by heart, saved like a real one.

Sampled at temperature 1 it writes them with slips: most replies pass the gate, some do not, rewards differ.
"""

import random
from pathlib import Path

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PROMPT = [{"role": "user", "content": "Paint a flower."}]
DOMAIN = """title = "Flower"
subject = "a flower"
hpsv3_prompt = "a flower"
[prompt]
request = "Paint {subject}."
[gate]
methods = ["noStroke", "fill", "fillBleed", "circle", "scaleBrushes", "noFill", "beginShape", "vertex", "endShape"]
enforce_allowlist = true
paint_floor = 0.005
[targets]
pigment = 0.35
"""


def sketches(count: int = 8) -> list[str]:
    chance = random.Random(3)
    found = []
    for _ in range(count):
        x, size = chance.choice([200, 300, 400]), chance.choice([60, 90, 120, 150])
        hue = chance.choice(["#d04030", "#3050c0", "#e8a060"])
        found.append(
            "function setup() { createCanvas(600, 600, WEBGL); noLoop(); }\n"
            f'function draw() {{ background(255); translate(-300, -300); brush.noStroke(); brush.fill("{hue}", 200); '
            f"brush.circle({x}, 300, {size}); }}"
        )
    return found


def reply(sketch: str) -> str:
    return f"```javascript\n{sketch}\n```"


def save(folder: Path, steps: int = 120) -> Path:
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    torch.set_num_threads(1)  # so small a model loses more to waiting for a second core than it gains
    learned = sketches()
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    raw.train_from_iterator(
        [reply(s) for s in learned], trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    )
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    raw.add_special_tokens([AddedToken(t, normalized=False) for t in special])
    words = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|endoftext|>", eos_token="<|im_end|>", chat_template=CHAT_TEMPLATE
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(words), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=32, tie_word_embeddings=True, eos_token_id=words.eos_token_id,
            pad_token_id=words.pad_token_id, bos_token_id=None,
        )
    )  # fmt: skip
    asked = words.apply_chat_template(PROMPT, add_generation_prompt=True)["input_ids"]
    rows = [asked + words(reply(s))["input_ids"] + [words.eos_token_id] for s in learned]
    longest = max(map(len, rows))
    ids = torch.tensor([r + [words.pad_token_id] * (longest - len(r)) for r in rows])
    labels = ids.masked_fill(ids == words.pad_token_id, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        loss = model(input_ids=ids, attention_mask=(ids != words.pad_token_id).long(), labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
