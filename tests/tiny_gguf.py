"""The tiny Qwen3-VL of tiny_vlm.py as the two GGUF files that llama.cpp wants: the language model and its eyes."""

import json
from pathlib import Path
from typing import Any

LAYER = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "mlp.down_proj": "ffn_down",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "self_attn.k_norm": "attn_k_norm",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_proj": "attn_k", "self_attn.q_proj": "attn_q",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
}  # fmt: skip
BLOCK = {
    "attn.proj": "attn_out", "attn.qkv": "attn_qkv", "mlp.linear_fc1": "ffn_up", "mlp.linear_fc2": "ffn_down",
    "norm1": "ln1", "norm2": "ln2",
}  # fmt: skip
MERGER = {"linear_fc1": "mm.0", "linear_fc2": "mm.2", "norm": "v.post_ln"}
DEEPSTACK = {"linear_fc1": "fc1", "linear_fc2": "fc2", "norm": "norm"}


def language_name(name: str) -> str | None:
    """What llama.cpp calls a tensor of the language model; None for the eyes' tensors."""
    if name.startswith("model.visual."):
        return None
    stem, _, kind = name.rpartition(".")
    whole = {
        "lm_head": "output", "model.language_model.embed_tokens": "token_embd",
        "model.language_model.norm": "output_norm",
    }  # fmt: skip
    if stem in whole:
        return f"{whole[stem]}.{kind}"
    number, _, part = stem.removeprefix("model.language_model.layers.").partition(".")
    return f"blk.{number}.{LAYER[part]}.{kind}"


def vision_name(name: str, deepstack: list[int]) -> str:
    """What llama.cpp calls a tensor of the vision tower; `deepstack` are the layers its side branches leave from."""
    stem, _, kind = name.removeprefix("model.visual.").rpartition(".")
    area, _, rest = stem.partition(".")
    if area == "pos_embed":
        return f"v.position_embd.{kind}"
    if area == "patch_embed":
        return f"v.patch_embd.{kind}"
    if area == "merger":
        return f"{MERGER[rest]}.{kind}"
    number, _, part = rest.partition(".")
    if area == "blocks":
        return f"v.blk.{number}.{BLOCK[part]}.{kind}"
    return f"v.deepstack.{deepstack[int(number)]}.{DEEPSTACK[part]}.{kind}"


def write_language(folder: Path, path: Path, weights: dict[str, Any], config: dict[str, Any]) -> None:
    import gguf
    from transformers import AutoTokenizer

    text = config["text_config"]
    writer = gguf.GGUFWriter(path, "qwen3vl")
    writer.add_block_count(text["num_hidden_layers"])
    writer.add_context_length(4096)
    writer.add_embedding_length(text["hidden_size"])
    writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_head_count(text["num_attention_heads"])
    writer.add_head_count_kv(text["num_key_value_heads"])
    writer.add_key_length(text["head_dim"])
    writer.add_value_length(text["head_dim"])
    writer.add_layer_norm_rms_eps(text["rms_norm_eps"])
    writer.add_rope_freq_base(text["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_sections([*text["rope_parameters"]["mrope_section"], 0])
    writer.add_num_deepstack_layers(len(config["vision_config"]["deepstack_visual_indexes"]))

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    special = {token["content"] for token in model["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([word for word, _ in words])
    writer.add_token_types([gguf.TokenType.CONTROL if w in special else gguf.TokenType.NORMAL for w, _ in words])
    writer.add_token_merges([" ".join(pair) for pair in model["model"]["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(False)
    writer.add_chat_template(tokenizer.chat_template)
    for name, weight in weights.items():
        if theirs := language_name(name):
            writer.add_tensor(theirs, weight.float().numpy())
    _write(writer)


def write_vision(folder: Path, path: Path, weights: dict[str, Any], config: dict[str, Any]) -> None:
    import gguf

    vision = config["vision_config"]
    pictures = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type(gguf.GGUFType.MMPROJ)
    writer.add_clip_has_vision_encoder(True)
    writer.add_clip_projector_type(gguf.VisionProjectorType.QWEN3VL)
    writer.add_vision_projection_dim(vision["out_hidden_size"])
    writer.add_vision_image_size(int(vision["num_position_embeddings"] ** 0.5) * vision["patch_size"])
    writer.add_vision_patch_size(vision["patch_size"])
    writer.add_vision_embedding_length(vision["hidden_size"])
    writer.add_vision_feed_forward_length(vision["intermediate_size"])
    writer.add_vision_block_count(vision["depth"])
    writer.add_vision_head_count(vision["num_heads"])
    writer.add_vision_image_mean(pictures["image_mean"])
    writer.add_vision_image_std(pictures["image_std"])
    writer.add_vision_use_gelu(True)
    writer.add_vision_spatial_merge_size(vision["spatial_merge_size"])
    writer.add_vision_attention_layernorm_eps(1e-6)
    deepstack = vision["deepstack_visual_indexes"]
    writer.add_vision_is_deepstack_layers([layer in deepstack for layer in range(vision["depth"])])
    for name, weight in weights.items():
        if not name.startswith("model.visual."):
            continue
        theirs, values = vision_name(name, deepstack), weight.float().numpy()
        if theirs == "v.patch_embd.weight":  # one convolution over two frames becomes two, summed
            writer.add_tensor(theirs, values[:, :, 0].copy())
            writer.add_tensor(theirs + ".1", values[:, :, 1].copy())
        else:
            writer.add_tensor(theirs, values)
    _write(writer)


def _write(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def save_gguf(folder: Path) -> tuple[Path, Path]:
    """Write model.gguf and mmproj.gguf beside the weights in `folder`; returns both paths."""
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    model, eyes = folder / "model.gguf", folder / "mmproj.gguf"
    write_language(folder, model, weights, config)
    write_vision(folder, eyes, weights, config)
    return model, eyes
