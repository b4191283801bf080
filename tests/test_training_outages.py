"""What nobody could judge weighs nothing: not in the baseline, not in the gradient, not in the loss's denominator."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from datasets import Dataset  # noqa: E402
from transformers import TrainerCallback  # noqa: E402
from trl import GRPOTrainer  # noqa: E402

from paintcli.training import control, coverage, recipe, run, trainer  # noqa: E402
from paintcli.training.task import Group  # noqa: E402

LENGTHS = [3, 9, 20, 5, 14, 7, 11, 2]
REPLIES = [[3 + (i * 7 + j * 3) % 10 for j in range(n)] for i, n in enumerate(LENGTHS)]
REWARDS = [0.1, 0.9, 0.4, 0.0, 0.7, 1.0, 0.2, 0.5]
LOST = {2, 5}


class Gradients(TrainerCallback):
    """Keeps the gradients each step hands to the optimiser."""

    def __init__(self):
        self.steps = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **_):
        named = model.named_parameters()
        self.steps.append({n: None if p.grad is None else p.grad.clone() for n, p in named if p.requires_grad})


def written(base, replies):
    """`base` with the sampling replaced by known replies; everything after it is the real trainer."""

    class Written(base):
        def _generate_single_turn(self, prompt_ids, *_):
            return [list(r) for r in replies], None

    return Written


def one_step(tmp_path, replies, rewards, base=trainer.PaintTrainer):
    chosen = recipe.compose("control", None, {"generations": len(replies), "micro_batch": 1, "steps": 1})
    model, tokenizer = control.policy(chosen)
    gradients = Gradients()
    options = {
        "model": coverage.with_adapter(model, chosen),
        "args": trainer.arguments(chosen, tmp_path, "cpu"),
        "train_dataset": Dataset.from_list([{"prompt": control.PROMPT}]),
        "processing_class": tokenizer,
        "callbacks": [gradients],
    }
    if base is trainer.PaintTrainer:
        made = written(base, replies)(assess=lambda samples, step, seconds: rewards, **options)
    else:
        made = written(base, replies)(reward_funcs=[lambda completions, **_: rewards], **options)
    torch.manual_seed(0)
    made.train()
    advantages = {}
    for batch in made._buffered_inputs:
        for ids, advantage in zip(batch["completion_ids"].tolist(), batch["advantages"].tolist(), strict=True):
            advantages[tuple(i for i in ids if i)] = advantage
    return advantages, gradients.steps[0]


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    kept = [i for i in range(8) if i not in LOST]
    return one_step(tmp_path_factory.mktemp("without"), [REPLIES[i] for i in kept], [REWARDS[i] for i in kept])


def far_apart(ours, theirs):
    largest = max(float(g.abs().max()) for g in theirs.values())
    return max(float((ours[n] - g).abs().max()) for n, g in theirs.items()) / largest


def test_a_group_with_outages_is_the_group_without_them(tmp_path, without):
    rewards = [None if i in LOST else r for i, r in enumerate(REWARDS)]
    advantages, gradients = one_step(tmp_path, REPLIES, rewards)
    expected_advantages, expected = without
    assert len(expected_advantages) == 6
    for reply, advantage in expected_advantages.items():
        assert advantages[reply] == pytest.approx(advantage, abs=1e-7)
    assert far_apart(gradients, expected) < 1e-5


def test_trl_alone_lets_lost_rollouts_weigh_in_the_denominator(tmp_path, without):
    """So that the test above is known to be able to fail: 31 of 71 tokens are lost, and TRL still divides by 71."""
    rewards = [None if i in LOST else r for i, r in enumerate(REWARDS)]
    _, gradients = one_step(tmp_path, REPLIES, rewards, GRPOTrainer)
    assert far_apart(gradients, without[1]) > 0.1


class Flaky(control.Control):
    """The control task, with a judge that is down in one step and half down in another."""

    async def assess(self, samples, step):
        group = await super().assess(samples, step)
        for position, (rollout, _) in enumerate(group.rows):
            if step == 2 or (step == 1 and position % 2):
                rollout.reward, rollout.unavailable = None, ["judge: the judge is down"]
        return Group(group.rows)


class Watch(TrainerCallback):
    """Keeps weights and optimiser moments after every step."""

    def __init__(self):
        self.after = []

    def on_step_end(self, args, state, control, model=None, optimizer=None, **_):
        weights = [p.detach().clone() for p in model.parameters() if p.requires_grad]
        moments = [v.clone() for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
        self.after.append((weights, moments))


def test_a_group_nobody_could_judge_changes_nothing_and_is_reported(tmp_path):
    chosen = recipe.compose("control", None, {"steps": 4, "micro_batch": 1})
    folder = tmp_path / "run"
    chosen, _, _ = run.open_run(chosen, folder, resume=False)
    watch, events = Watch(), []

    def policy():
        model, tokenizer = control.policy(chosen)
        return coverage.with_adapter(model, chosen), tokenizer

    outcome = run.train(chosen, folder, Flaky(chosen), policy, told=events.append, callbacks=[watch])
    assert (outcome.rollouts, outcome.excluded, outcome.idle) == (32, 12, 1)

    def same(a, b):
        return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))

    before, idle, after = watch.after[1:4]
    assert before[1], "the optimiser has momentum by now, so doing nothing is not a matter of course"
    assert same(before[0], idle[0]) and same(before[1], idle[1])
    assert not same(idle[0], after[0])
    notes = [e.text for e in events if e.kind == "note"]
    assert notes == [
        "Step 1: 4 of 8 rollouts could not be judged, 4 go on: judge: the judge is down",
        "Step 2: 8 of 8 rollouts could not be judged, nothing changes: judge: the judge is down",
    ]
    curve = [e.curve for e in events if e.kind == "step"]
    assert curve[2]["reward"] is None and curve[2]["reward_std"] is None
    assert curve[1]["reward"] is not None and curve[1]["entropy"] > 0.5  # a masked row adds no entropy of 0
