"""A Qwen3-VL with random weights and a few hundred words, saved as a folder that transformers loads like a real one."""

from pathlib import Path

SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
    "<|video_pad|>",
]  # fmt: skip
CHAT_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string %}{{- message.content }}
{%- else %}
{%- for part in message.content %}
{%- if part.type == 'image' %}{{- '<|vision_start|><|image_pad|><|vision_end|>' }}
{%- else %}{{- part.text }}{%- endif %}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def tokenizer():
    """Byte-level BPE without merges but for the words the judge's question is full of."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    raw.train_from_iterator(["Picture painting A B which one is painted better the judge answers"] * 2, trainer)
    raw.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|endoftext|>", eos_token="<|im_end|>", chat_template=CHAT_TEMPLATE
    )


def save_qwen3_vl(folder: Path, experts: bool = False) -> Path:
    """`experts`: the mixture-of-experts form, whose experts are fused tensors."""
    import torch
    from transformers import (
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLMoeConfig,
        Qwen3VLMoeForConditionalGeneration,
    )
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    words = tokenizer()
    ids = {token: words.convert_tokens_to_ids(token) for token in SPECIAL}
    text = {
        "vocab_size": len(words), "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "initializer_range": 0.3,
        "rope_parameters": {
            "rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2], "mrope_interleaved": True
        },
    }  # fmt: skip
    if experts:
        text |= {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
    vision = {
        "depth": 2, "hidden_size": 64, "intermediate_size": 96, "num_heads": 4, "patch_size": 16,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 64, "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0, 1], "initializer_range": 0.3,
    }  # fmt: skip
    config_class, model_class = (
        (Qwen3VLMoeConfig, Qwen3VLMoeForConditionalGeneration)
        if experts
        else (Qwen3VLConfig, Qwen3VLForConditionalGeneration)
    )
    config = config_class(
        text_config=text, vision_config=vision,
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(11)
    model_class(config).save_pretrained(folder)
    words.save_pretrained(folder)
    images = Qwen2VLImageProcessorPil(
        patch_size=16, size={"shortest_edge": 64 * 64, "longest_edge": 128 * 128},
        image_mean=[0.5, 0.5, 0.5], image_std=[0.5, 0.5, 0.5],
    )  # fmt: skip
    images.save_pretrained(folder)
    return folder


def save_llava(folder: Path) -> Path:
    """A LLaVA: a family whose own processor is used as it is."""
    import torch
    from transformers import LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    words = tokenizer()
    words.add_special_tokens({"additional_special_tokens": ["<image>"]}, replace_extra_special_tokens=False)
    template = CHAT_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", "<image>")
    config = LlavaConfig(
        text_config={
            "model_type": "llama", "vocab_size": len(words), "hidden_size": 64, "intermediate_size": 64,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3,
        },
        vision_config={
            "model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 56, "patch_size": 14, "initializer_range": 0.3,
        },
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    torch.manual_seed(5)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    images = CLIPImageProcessorPil(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})
    LlavaProcessor(
        images, words, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=template,
    ).save_pretrained(folder)  # fmt: skip
    return folder
