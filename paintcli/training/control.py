"""The control task: no browser, no judge, a tiny random policy, a minute on a CPU.

It proves that the trainer moves a policy before anyone pays for a GPU. The policy writes digits; the reward is the
share of its 24 places that hold a seven, so ending early costs as much as writing something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from paintcli.rollouts import Rollout
from paintcli.training.recipe import Recipe
from paintcli.training.task import Group, Sample
from paintcli.training.turns import Look

WANTED = "7"
PROMPT = "digits"
VOCABULARY = ("<pad>", "<end>", PROMPT, *"0123456789")


def reward(reply: str, places: int) -> float:
    """Share of `places` that hold a seven, 0–1."""
    return reply.split().count(WANTED) / places


def policy(recipe: Recipe) -> tuple[Any, Any]:
    """(model, tokenizer): a random two-layer Qwen3 of 0.1 million parameters and its thirteen words.

    Weights are drawn with standard deviation 0.2: with the usual 0.02 the logits hardly differ and nothing is learned.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed

    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(VOCABULARY)}, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<end>", unk_token="<pad>", padding_side="left"
    )
    config = Qwen3Config(
        vocab_size=len(VOCABULARY), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, initializer_range=0.2, tie_word_embeddings=False, eos_token_id=1,
        pad_token_id=0, bos_token_id=None, max_position_embeddings=512,
    )  # fmt: skip
    set_seed(recipe.seed)
    return Qwen3ForCausalLM(config).float(), tokenizer


class Control:
    """The control task as a `Task`. `prompt` is a plain string: the tiny tokenizer has no chat template."""

    prompt = PROMPT
    labels: Mapping[str, str] = MappingProxyType({})

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    async def assess(self, samples: Sequence[Sample], step: int) -> Group:
        places = self.recipe.max_completion
        return Group(
            [
                (
                    Rollout(
                        run="", step=step, position_in_group=i, reward=reward(s.text, places), code=s.text,
                        code_chars=len(s.text), subject=PROMPT, seed=self.recipe.group_seed(step),
                        reference_seed=self.recipe.group_seed(step),
                    ),
                    None,
                )
                for i, s in enumerate(samples)
            ]
        )  # fmt: skip

    async def look(self, samples: Sequence[Sample], step: int) -> list[Look | None]:
        raise NotImplementedError("the control task has one turn; Recipe.check sees to it")
