"""TRL's GRPOTrainer with what it lacks: None weighs nothing, resuming is exact, states are whole, turns have eyes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast

import torch
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from paintcli.training import state, turns
from paintcli.training.recipe import Recipe
from paintcli.training.task import Sample

BUFFER = "generation.pt"
EYES = ("pixel_values", "image_grid_thw", "mm_token_type_ids", "num_images")


class PaintTrainer(GRPOTrainer):
    """GRPO over one group a step. `assess(samples, step, seconds_generate) -> list[float | None]` is the only reward.

    With `turns` above 1, `look(samples, step) -> list[Look | None]` shows each sample its own painting and it replies
    again; every reply is trained on, what was shown is masked, and only the last reply is rewarded.

    A rollout whose reward is None leaves the group: TRL already takes it out of the baseline and zeroes its
    advantage; here its tokens also leave the denominator of the loss and it costs no forward pass. A group of nothing
    but None changes no weight and no optimiser moment (zero gradients would still let Adam's momentum act).
    """

    def __init__(
        self,
        assess: Callable[[list[Sample], int, float], list[float | None]],
        look: Callable[[list[Sample], int], list[turns.Look | None]] | None = None,
        turns: int = 1,
        **options: Any,
    ) -> None:
        self.assess, self.look, self.turns = assess, look, turns
        self._pictures: list[list[dict[str, torch.Tensor]]] = []
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
        """Let every sample look at its painting and reply again, `turns` − 1 times. Cut-off replies get no other."""
        prompt_ids, completion_ids, _, completions, logprobs, extra, images, tool_images = written
        ids = [list(c) for c in completion_ids]
        own = [[1] * len(c) for c in ids]  # 1: the policy wrote it, 0: it was shown
        self._pictures = [[] for _ in ids]
        thinking = bool(self.chat_template_kwargs.get("enable_thinking"))
        for _ in range(1, self.turns):
            samples = [
                Sample(str(text[-1]["content"]), sum(mine), self._finish(c))
                for text, mine, c in zip(completions, own, ids, strict=True)
            ]
            assert self.look is not None
            seen = self.look(samples, self.state.global_step)
            going = [i for i, s in enumerate(samples) if s.finish == "stop" and seen[i] is not None]
            for i in going:
                shown, tensors = turns.encode(self.processing_class, cast(turns.Look, seen[i]), thinking, ids[i][-1])
                ids[i] += shown
                own[i] += [0] * len(shown)
                if tensors:
                    self._pictures[i].append(tensors)
            if not going:
                break
            asked = [prompt_ids[i] + ids[i] for i in going]
            replies, _ = self._generate_single_turn(asked, None, self._eyes(going, asked), len(going))
            for i, reply in zip(going, replies, strict=True):
                ids[i] += reply
                own[i] += [1] * len(reply)
                text = self._tokenizer.decode(reply, skip_special_tokens=True)
                completions[i] = [{"role": "assistant", "content": text}]
        lengths = [sum(mine) for mine in own]
        self._metrics["train"]["completions/mean_length"][-1] = sum(lengths) / len(lengths)
        cut = [self._finish(c) == "length" for c in ids]
        self._metrics["train"]["completions/clipped_ratio"][-1] = sum(cut) / len(cut)
        return prompt_ids, ids, own, completions, logprobs, extra, images, tool_images

    def _eyes(self, rows: list[int], ids: list[list[int]]) -> dict[str, Any]:
        """The pictures of these rows as the model's keyword arguments; empty when there is none."""
        seen = [tensors for i in rows for tensors in self._pictures[i]]
        if not seen:
            return {}
        fields: dict[str, Any] = {name: torch.cat([t[name] for t in seen]) for name in seen[0]}
        fields["mm_token_type_ids"] = [[int(token == self._image_pad_token_id) for token in row] for row in ids]
        return fields

    def _finish(self, ids: list[int]) -> Literal["stop", "length"]:
        return "stop" if ids and ids[-1] in self.eos_token_ids else "length"

    async def _reward(self, completions: list[Any], completion_ids: list[list[int]], **_: Any) -> list[float | None]:
        samples = [
            Sample(
                text if isinstance(text, str) else str(text[-1]["content"]),
                len(ids),
                self._finish(ids),
            )
            for text, ids in zip(completions, completion_ids, strict=True)
        ]
        # in a thread: assessing has an event loop of its own, which must not be TRL's
        return await asyncio.to_thread(self.assess, samples, self.state.global_step, self.seconds_generate)

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
        if any(self._pictures):
            both = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
            for name, value in self._eyes(list(range(rows)), both.tolist()).items():
                batch[name] = torch.as_tensor(value, device=both.device)
            batch["num_images"] = [len(seen) for seen in self._pictures]
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
        torch.save({"step": self._step, "replies": self._buffered_inputs if unfinished else None}, folder / BUFFER)
        state.seal(folder)

    def train(self, resume_from_checkpoint: Any = None, **options: Any) -> Any:
        if resume_from_checkpoint:
            kept = torch.load(Path(resume_from_checkpoint) / BUFFER, map_location=self.args.device, weights_only=True)
            self._step, self._buffered_inputs = kept["step"], kept["replies"]
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **options)


def arguments(recipe: Recipe, folder: Path, device: str, report_to: str = "none") -> GRPOConfig:
    """TRL's configuration for a recipe. `device` is cuda, mps or cpu."""
    return GRPOConfig(
        output_dir=str(folder / state.FOLDER),
        max_steps=recipe.steps,
        num_generations=recipe.generations,
        per_device_train_batch_size=recipe.micro_batch,
        gradient_accumulation_steps=recipe.accumulation,
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


LOGGED = (
    "reward_std", "frac_reward_zero_std", "entropy", "loss", "grad_norm", "learning_rate", "step_time",
    "completions/mean_length",
)  # fmt: skip
