"""The recipe: published values as data, where a value comes from, and what is refused."""

import tomllib

import pytest

pytest.importorskip("torch")

from paintcli.errors import UsageError
from paintcli.training import recipe as recipes


def test_the_published_recipe():
    recipe = recipes.compose("judge-led")
    published = {
        "model": "Qwen/Qwen3.5-35B-A3B", "rank": 16, "alpha": 32, "dropout": 0.0, "targets": "all-linear",
        "precision": "bf16", "gradient_checkpointing": True, "learning_rate": 5e-5, "schedule": "constant_with_warmup",
        "warmup_steps": 5, "scale_rewards": "none", "generations": 8, "micro_batch": 1, "accumulation": 8,
        "max_completion": 8192, "top_p": 0.95, "top_k": 20, "temperature": 1.0, "beta": 0.0, "loss_type": "dapo",
        "references": 4, "thinking": False, "steps": 200,
    }  # fmt: skip
    assert {name: getattr(recipe, name) for name in published} == published
    assert recipe.weights().weights == {"gate": 0.05, "length": 0.05, "judge": 0.6, "hpsv3": 0.3, "pigment": 0.0}
    assert recipes.compose("hps-led").steps == 110
    assert recipes.compose("hps-only").steps == 60


def test_later_layers_win_and_text_is_read_as_the_field_is_typed():
    recipe = recipes.compose("hps-only", None, {"learning_rate": 1e-5, "steps": 10}, {"learning_rate": "2e-5"})
    assert (recipe.learning_rate, recipe.steps) == (2e-5, 10)
    given = recipes.assignments(["experts=true", "rank=4", "subject=two roses, in=rain"])
    recipe = recipes.compose("hps-only", None, given)
    assert (recipe.experts, recipe.rank, recipe.subject) == (True, 4, "two roses, in=rain")


def test_stand_ins_change_only_what_nobody_named():
    assert recipes.compose("judge-led", None, {"stand_ins": True}).judge == "taste"
    named = recipes.compose("judge-led", None, {"stand_ins": True, "judge": "vlm:somewhere"})
    assert (named.judge, named.scorer) == ("vlm:somewhere", "taste")


@pytest.mark.parametrize("role", ["judge", "scorer"])
def test_a_stand_in_under_a_published_mix_is_refused(role):
    recipe = recipes.compose("judge-led", None, {role: "taste"})
    with pytest.raises(UsageError, match=f"taste only stands in for it: name another --{role}, or say --stand-ins"):
        recipe.refuse_stand_ins()
    recipes.compose("judge-led", None, {role: "taste", "stand_ins": True}).refuse_stand_ins()
    recipes.compose("gate=0.1,judge=0.9", None, {role: "taste"}).refuse_stand_ins()


def test_a_term_that_weighs_nothing_needs_no_permission():
    recipes.compose("hps-only", None, {"judge": "taste"}).refuse_stand_ins()


def test_pigment_makes_room_for_itself():
    weights = recipes.compose("judge-led", None, {"pigment": 0.2}).weights().weights
    assert weights == pytest.approx({"gate": 0.04, "length": 0.04, "judge": 0.48, "hpsv3": 0.24, "pigment": 0.2})
    assert sum(weights.values()) == pytest.approx(1)
    assert recipes.compose("judge-led").weights().weights["pigment"] == 0


def test_a_recipe_survives_its_file(tmp_path):
    recipe = recipes.compose("judge-led", None, {"subject": 'a "white" rose\\', "learning_rate": 1e-6, "pool": "p"})
    (tmp_path / "recipe.toml").write_text(recipe.toml(versions={"p5.brush": "2.2.2"}))
    assert recipes.Recipe.read(tmp_path) == recipe
    assert tomllib.loads((tmp_path / "recipe.toml").read_text())["versions"]["p5.brush"] == "2.2.2"


def test_the_step_is_the_seed():
    recipe = recipes.compose("judge-led")
    assert [recipe.group_seed(s) for s in (0, 1, 199)] == [0, 1, 199]
    other = recipes.compose("judge-led", None, {"seed": 1})
    assert not {other.group_seed(s) for s in range(200)} & {recipe.group_seed(s) for s in range(200)}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"lerning_rate": 1}, "A recipe has no 'lerning_rate'; did you mean 'learning_rate'?"),
        ({"rank": "x"}, "rank must be a whole number, not 'x'."),
        ({"rank": 1.5}, "rank must be a whole number, not 1.5."),
        ({"learning_rate": "nan"}, "learning_rate must be a number, not 'nan'."),
        ({"learning_rate": 0}, "learning_rate must be above 0, not 0.0."),
        ({"experts": "perhaps"}, "experts must be true or false, not 'perhaps'."),
        ({"steps": 0}, "steps must be at least 1, not 0."),
        ({"generations": 1}, "generations must be at least 2: a group of one has nothing to compare itself with."),
        ({"micro_batch": 3}, "micro_batch 3 does not divide generations 8."),
        ({"pigment": 1}, "pigment must be at least 0 and below 1, not 1."),
        ({"top_p": 0}, "top_p must be above 0 and at most 1, not 0."),
        ({"loss_type": "grpo"}, "loss_type is one of dapo, cispo, not 'grpo'."),
        ({"references_schedule": "hard"}, "references_schedule is one of fixed, easy-to-hard, not 'hard'."),
    ],
)
def test_bad_values(values, sentence):
    with pytest.raises(UsageError) as caught:
        recipes.compose("judge-led", None, values)
    assert str(caught.value) == sentence


def test_bad_names():
    with pytest.raises(UsageError, match="There is no mix 'nice'"):
        recipes.compose("nice")
    with pytest.raises(UsageError, match="must sum to 1"):
        recipes.compose("judge=0.5,gate=0.1")
    with pytest.raises(UsageError, match="There is no preset '70b'"):
        recipes.compose("judge-led", "70b")
    with pytest.raises(UsageError, match="--set takes key=value, not 'rank'"):
        recipes.assignments(["rank"])


def test_resuming_takes_the_stored_recipe_and_refuses_another():
    stored = recipes.compose("hps-only")
    longer = recipes.resumed(stored, recipes.again(stored, None, None, {"steps": "90", "workers": "1"}))
    assert (longer.steps, longer.workers) == (90, 1)
    with pytest.raises(UsageError, match=r"was made with mix = 'hps-only', not 'judge-led'"):
        recipes.resumed(stored, recipes.again(stored, "judge-led", None, {}))
    decaying = recipes.compose("hps-only", None, {"schedule": "linear"})
    with pytest.raises(UsageError, match="was made with steps = 60, not 90"):
        recipes.resumed(decaying, recipes.again(decaying, None, None, {"steps": 90}))


def test_flags_then_environment_then_the_project_file_then_the_recipe(paint, tmp_path, monkeypatch):
    import json

    (tmp_path / "paint.toml").write_text(
        'judge = "vlm:a"\nscorer = "vlm:b"\n[train]\nmix = "hps-led"\nrank = 4\nalpha = 8\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAINT_SCORER", "hub:me/scorer")
    ran = paint("train", "--dry-run", "--json", "--set", "alpha=16")
    recipe = json.loads(ran.out)["recipe"]
    assert [recipe[k] for k in ("mix", "rank", "alpha", "judge", "scorer", "renderer", "learning_rate")] == [
        "hps-led", 4, 16, "vlm:a", "hub:me/scorer", "local", 5e-5
    ]  # fmt: skip
