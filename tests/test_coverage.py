"""Which layers an adapter reaches, counted on the real architectures without their weights."""

from dataclasses import replace

import pytest

pytest.importorskip("peft")

from paintcli.backends import policy
from paintcli.errors import PaintError, UsageError
from paintcli.training import control, models, recipe
from paintcli.training.coverage import coverage, with_adapter

PUBLISHED = recipe.compose("judge-led")
SEVEN = ",".join(recipe.SEVEN)


def reach(**values):
    chosen = replace(PUBLISHED, **values)
    return coverage(with_adapter(models.skeleton(models.configuration(chosen.model), chosen.multimodal), chosen))


def test_the_seven_names_miss_thirty_token_mixers_and_stop_the_run():
    found = reach(targets=SEVEN)
    assert found.trainable == 8_355_840
    assert found.parts["full attention"] == (10, 10) and found.parts["linear attention"] == (0, 30)
    assert found.parts["shared experts"] == (40, 40)
    assert found.mixers == (10, 40)
    with pytest.raises(UsageError, match="on the token mixers of 10 of 40 layers only"):
        found.check(PUBLISHED.minimum_coverage)
    found.check(0.25)


def test_all_linear_reaches_every_layer_and_no_vision():
    found = reach()
    assert found.trainable == 22_477_440
    assert found.mixers == (40, 40)
    found.check(1.0)
    multimodal = reach(multimodal=True)
    assert multimodal.trainable == 22_477_440 and multimodal.parts["vision"] == (0, 27)


def test_the_multimodal_class_as_published_adapts_the_vision_tower_too():
    found = reach(multimodal=True, vision=True)
    assert found.trainable == 30_455_936 and found.parts["vision"] == (27, 27)


def test_routed_experts_only_when_asked():
    assert reach().parts["routed experts"] == (0, 40)
    found = reach(experts=True)
    assert found.parts["routed experts"] == (40, 40)
    assert found.trainable - 22_477_440 == 922_746_880


def test_the_small_preset_is_reached_whole():
    chosen = recipe.compose("judge-led", "4b")
    found = coverage(with_adapter(models.skeleton(models.configuration(chosen.model)), chosen))
    assert found.parts == {"full attention": (36, 36), "MLP": (36, 36)}


def test_targets_that_are_nowhere(tmp_path):
    with pytest.raises(UsageError, match="The adapter targets 'query' are not in the model"):
        reach(targets="query")


@pytest.fixture
def saved(tmp_path):
    chosen = recipe.compose("control")
    model, _ = control.policy(chosen)
    adapted = with_adapter(model, chosen)
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(0, 0.5)
    adapted.save_pretrained(tmp_path / "adapter")
    return adapted, chosen, tmp_path / "adapter"


def test_a_saved_adapter_comes_back_whole(saved):
    import torch

    adapted, chosen, folder = saved
    again = policy.with_saved_adapter(control.policy(chosen)[0], folder)
    ids = torch.arange(3, 11)[None]
    assert torch.equal(adapted.eval()(ids).logits, again.eval()(ids).logits)


def test_an_adapter_that_would_be_dropped_silently_is_an_error(saved):
    """As the published adapter is on the text class: its layers lie under another name there."""
    from safetensors.torch import load_file, save_file

    _, chosen, folder = saved
    path = folder / policy.ADAPTER_FILE
    tensors = {k.replace("model.layers.", "model.language_model.layers."): v for k, v in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(PaintError, match=r"Of the 28 tensors .* 28 found no place in this model and 28 places stayed"):
        policy.with_saved_adapter(control.policy(chosen)[0], folder)
    assert policy.was_multimodal(list(tensors))


def test_a_damaged_and_an_absent_adapter(saved, tmp_path):
    _, chosen, folder = saved
    with pytest.raises(UsageError, match=r"holds no adapter: there is no adapter_model.safetensors"):
        policy.adapter_names(tmp_path)
    path = folder / policy.ADAPTER_FILE
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(PaintError, match="is damaged"):
        policy.with_saved_adapter(control.policy(chosen)[0], folder)


def test_routed_experts_learn_and_come_back(tmp_path):
    """Their adapters sit on fused tensors, not on modules: gradients reach them, and none is lost on disk."""
    import torch
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

    def tiny():
        torch.manual_seed(3)
        return Qwen3MoeForCausalLM(
            Qwen3MoeConfig(
                vocab_size=50, hidden_size=32, intermediate_size=64, moe_intermediate_size=16, num_hidden_layers=2,
                num_attention_heads=2, num_key_value_heads=1, head_dim=16, num_experts=4, num_experts_per_tok=2,
                initializer_range=0.2,
            )
        )  # fmt: skip

    chosen = replace(PUBLISHED, experts=True, rank=4)
    adapted = with_adapter(tiny(), chosen)
    assert coverage(adapted).parts["routed experts"] == (2, 2)
    ids = torch.arange(40)[None]
    optimiser = torch.optim.SGD([p for p in adapted.parameters() if p.requires_grad], lr=5.0)
    for _ in range(3):
        optimiser.zero_grad()
        adapted(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
    moved = [n for n, p in adapted.named_parameters() if "experts" in n and "lora_B" in n and p.abs().max() > 0]
    assert len(moved) == 4  # two fused tensors in each of two layers
    adapted.save_pretrained(tmp_path / "adapter")
    again = policy.with_saved_adapter(tiny(), tmp_path / "adapter")
    assert torch.allclose(adapted.eval()(ids).logits, again.eval()(ids).logits, atol=1e-6)
