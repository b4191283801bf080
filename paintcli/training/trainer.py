"""TRL's GRPOTrainer with what it lacks: None weighs nothing, resuming is exact, states are whole, turns have eyes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from accelerate.utils import gather_object
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from paintcli.errors import UsageError
from paintcli.training import state
from paintcli.training.processes import by_first, is_first, number
from paintcli.training.recipe import Recipe
from paintcli.training.task import Sample
from paintcli.training.turns import Dialogue, Eyes, Look, converse

EYES = ("pixel_values", "image_grid_thw", "mm_token_type_ids", "num_images")


def buffer(process: int) -> str:
    """The file of a saved state that holds what a process had written and not yet trained on."""
    return f"generation-{process}.pt" if process else "generation.pt"


class PaintTrainer(GRPOTrainer):
    """GRPO over one group a step. `assess(samples, step, seconds_generate) -> list[float | None]` is the only reward.

    With `turns` above 1, `look(samples, step) -> list[Look | None]` shows each sample its own painting and it replies
    again; every reply is trained on, what was shown is masked, and only the last reply is rewarded.

    A rollout whose reward is None leaves the group: TRL already takes it out of the baseline and zeroes its
    advantage; here its tokens also leave the denominator of the loss and it costs no forward pass. A group of nothing
    but None changes no weight and no optimiser moment (zero gradients would still let Adam's momentum act).

    With several processes each writes its share of the group, and the first alone assesses the whole of it.
    """

    def __init__(
        self,
        assess: Callable[[list[Sample], int, float], list[float | None]],
        look: Callable[[list[Sample], int], list[Look | None]] | None = None,
        turns: int = 1,
        eyes: Eyes | None = None,
        **options: Any,
    ) -> None:
        self.assess, self.look, self.turns, self.eyes = assess, look, turns, eyes
        self._dialogues: list[Dialogue] = []
        self.seconds_generate = 0.0
        super().__init__(reward_funcs=[self._reward], **options)
        self.remove_callback(PrinterCallback)

    def _generate(self, prompts: list[Any]) -> Any:
        started = time.perf_counter()
        written = super()._generate(prompts)
        if self.turns > 1:
            written = self._take_turns(written)
        self.seconds_generate = time.perf_counter() - started
        return written

    def _take_turns(self, written: Any) -> Any:
        prompt_ids, completion_ids, _, completions, logprobs, extra, images, tool_images = written
        self._dialogues = [
            Dialogue.begin(prompt, reply, str(text[-1]["content"]), self.eos_token_ids)
            for prompt, reply, text in zip(prompt_ids, completion_ids, completions, strict=True)
        ]
        converse(
            self._dialogues,
            self.turns,
            self._look,
            lambda prompts, fields: self._generate_single_turn(prompts, None, fields, len(prompts))[0],
            self._tokenizer,
            self.eos_token_ids,
            self.eyes,
            bool(self.chat_template_kwargs.get("enable_thinking")),
        )
        own = [d.own for d in self._dialogues]
        lengths = [sum(mine) for mine in own]
        self._metrics["train"]["completions/mean_length"][-1] = sum(lengths) / len(lengths)
        self._metrics["train"]["completions/clipped_ratio"][-1] = sum(not d.ended for d in self._dialogues) / len(own)
        completions = [[{"role": "assistant", "content": d.text}] for d in self._dialogues]
        return prompt_ids, [d.ids for d in self._dialogues], own, completions, logprobs, extra, images, tool_images

    def _look(self, dialogues: Sequence[Dialogue]) -> list[Look | None]:
        assert self.look is not None
        samples = [Sample(d.text, sum(d.own), "stop" if d.ended else "length") for d in dialogues]
        return self.look(samples, self.state.global_step)

    def _finish(self, ids: list[int]) -> Literal["stop", "length"]:
        return "stop" if ids and ids[-1] in self.eos_token_ids else "length"

    def _reward(self, completions: list[Any], completion_ids: list[list[int]], **_: Any) -> list[float | None]:
        samples = [
            Sample(
                text if isinstance(text, str) else str(text[-1]["content"]),
                len(ids),
                self._finish(ids),
            )
            for text, ids in zip(completions, completion_ids, strict=True)
        ]
        group = gather_object(samples)  # in the processes' order, as TRL gathers the rewards
        rewards = by_first(lambda: self.assess(group, self.state.global_step, self.seconds_generate))
        first = self.accelerator.process_index * len(samples)
        return rewards[first : first + len(samples)]

    def _calculate_rewards(self, *args: Any, **options: Any) -> torch.Tensor:
        rewards: torch.Tensor = super()._calculate_rewards(*args, **options)
        self._unscored = torch.isnan(rewards).all(dim=1)
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch: dict[str, Any] = super()._generate_and_score_completions(inputs)
        rows = len(batch["completion_ids"])
        first = self.accelerator.process_index * rows
        gone = self._unscored[first : first + rows].to(batch["completion_mask"].device)
        batch["completion_mask"] = batch["completion_mask"] * (~gone).unsqueeze(1)
        mask = batch["completion_mask"] * batch["tool_mask"] if "tool_mask" in batch else batch["completion_mask"]
        batch["num_items_in_batch"] = self.accelerator.gather(mask.sum()).sum()
        pictures = [picture for dialogue in self._dialogues for picture in dialogue.pictures]
        if self.eyes and pictures:
            both = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
            for name, value in self.eyes.fields(pictures, both.tolist()).items():
                batch[name] = torch.as_tensor(value, device=both.device)
            batch["num_images"] = [len(dialogue.pictures) for dialogue in self._dialogues]
        return batch

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        nothing_anywhere = bool(inputs["num_items_in_batch"] == 0)
        nothing_here = self.accelerator.num_processes == 1 and not inputs["completion_mask"].any()
        if nothing_anywhere or nothing_here:
            # not connected to any weight: their gradients stay None and the optimiser passes them over
            return torch.zeros((), device=inputs["completion_mask"].device, requires_grad=True)
        if not sum(inputs.get("num_images") or [0]):  # nobody in this micro-batch was shown a picture
            inputs = {k: v for k, v in inputs.items() if k not in EYES}
        loss: torch.Tensor = super()._compute_loss(model, inputs)
        return loss

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Cards are written when a run is published, not at every saved state."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        folder = Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
        # a buffer of replies that is not used up goes along, else they would be written, and paid for, again
        unfinished = self._step % (self.args.steps_per_generation * self.num_iterations) != 0
        kept = {"step": self._step, "replies": self._buffered_inputs if unfinished else None, "processes": number()}
        torch.save(kept, folder / buffer(self.accelerator.process_index))
        self.accelerator.wait_for_everyone()
        if is_first():
            state.seal(folder)

    def train(self, resume_from_checkpoint: Any = None, **options: Any) -> Any:
        if resume_from_checkpoint:
            saved = Path(resume_from_checkpoint)
            before = torch.load(saved / buffer(0), map_location="cpu", weights_only=True).get("processes", 1)
            if before != number():
                raise UsageError(f"This run trained in {before} processes: resume it in as many, not in {number()}.")
            mine = saved / buffer(self.accelerator.process_index)
            kept = torch.load(mine, map_location=self.args.device, weights_only=True)
            self._step, self._buffered_inputs = kept["step"], kept["replies"]
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **options)


def arguments(recipe: Recipe, folder: Path, device: str, report_to: str = "none") -> GRPOConfig:
    """TRL's configuration for a recipe. `device` is cuda, mps or cpu."""
    return GRPOConfig(
        output_dir=str(folder / state.FOLDER),
        max_steps=recipe.steps,
        num_generations=recipe.generations,
        per_device_train_batch_size=recipe.micro_batch,
        gradient_accumulation_steps=recipe.accumulation // number(),
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup_steps,
        scale_rewards=recipe.scale_rewards,
        loss_type=recipe.loss_type,
        beta=recipe.beta,
        gradient_checkpointing=recipe.gradient_checkpointing,
        bf16=recipe.precision != "fp32" and device == "cuda",
        max_completion_length=recipe.max_completion,
        temperature=recipe.temperature,
        top_p=recipe.top_p,
        top_k=recipe.top_k,
        chat_template_kwargs={"enable_thinking": recipe.thinking},
        shuffle_dataset=False,
        seed=recipe.seed,
        data_seed=recipe.seed,
        save_strategy="steps",
        save_steps=recipe.save_every,
        save_total_limit=state.KEPT,
        logging_steps=1,
        logging_first_step=True,
        report_to=report_to,
        log_completions=False,
        disable_tqdm=True,
        use_cpu=device == "cpu",
        dataloader_pin_memory=device == "cuda",
    )


class Curve(TrainerCallback):
    """Hands every step's numbers on, under the published names. `told(step, row)`; steps count from 0."""

    def __init__(self, told: Callable[[int, dict[str, Any]], None]) -> None:
        self.told = told

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and "completions/mean_length" in logs:  # the last log of a run is its summary, not a step
            row = {name: logs.get(name) for name in LOGGED} | {"clipped_ratio": logs.get("completions/clipped_ratio")}
            self.told(state.global_step - 1, row)


class BeforeStep(TrainerCallback):
    """Calls `due(steps done)` before each step, when the state of the one before is saved: a kill loses neither."""

    def __init__(self, due: Callable[[int], None]) -> None:
        self.due = due

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.due(state.global_step)


LOGGED = (
    "reward_std", "frac_reward_zero_std", "entropy", "loss", "grad_norm", "learning_rate", "step_time",
    "completions/mean_length",
)  # fmt: skip
