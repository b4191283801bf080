"""Warm start: supervised fine-tuning of the run's own adapter on sketches of a pool or a run, before the first step."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paintcli import pool as pools
from paintcli.errors import UsageError
from paintcli.rollouts import PAINTED, rows
from paintcli.training import state
from paintcli.training.recipe import FILE, Recipe

FOLDER = "warm-start"
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
CONDITION = re.compile(r"(\w+)\s*(>=|<=|>|<|=)\s*([^,]+)")


@dataclass(frozen=True)
class Source:
    """Where the sketches come from: a folder and conditions on its columns, e.g. `runs/a:reward>0.75`."""

    path: Path
    conditions: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Source:
        """ "PATH" or "PATH:column>value,column=value". Raises UsageError in one sentence."""
        path, _, condition = text.partition(":")
        found = []
        for part in filter(None, (p.strip() for p in condition.split(","))):
            match = CONDITION.fullmatch(part)
            if not match:
                raise UsageError(f"A warm start is PATH or PATH:column>value, and {part!r} is no condition.")
            found.append((match[1], match[2], match[3].strip()))
        if not Path(path).is_dir():
            raise UsageError(f"The warm start {path} is no folder.")
        return cls(Path(path), tuple(found))

    def sketches(self) -> list[str]:
        """The sources that meet every condition, each once. Raises UsageError when none does."""
        kept = dict.fromkeys(code for row, code in self._rows() if code.strip() and all(self._meets(row)))
        if not kept:
            wanted = " and ".join("".join(c) for c in self.conditions) or "with a sketch"
            raise UsageError(f"{self.path} has no painting {wanted} to start from.")
        return list(kept)

    def _rows(self) -> list[tuple[dict[str, Any], str]]:
        if (self.path / FILE).is_file():
            return [(row, str(row["code"])) for row in rows(self.path / PAINTED)]
        pool = pools.Pool.load(self.path)
        refused = pools.REFUSED_TIER
        reserved = {e.name for e in pool.reserved}
        # an exam's references must not be learned by heart
        kept = [e for e in pool.entries if e.tier != refused and e.name not in reserved]
        return [({**e.row, "tier": e.tier}, e.code or "") for e in kept]

    def _meets(self, row: dict[str, Any]) -> list[bool]:
        results = []
        for column, sign, value in self.conditions:
            if column not in row:
                raise UsageError(f"{self.path} has no column {column!r} to select by.")
            there = row[column]
            if isinstance(there, int | float) and not isinstance(there, bool):
                try:
                    results.append(COMPARE[sign](there, float(value)))
                except ValueError:
                    raise UsageError(f"{column} is a number, and {value!r} is none.") from None
            else:
                results.append(there is not None and COMPARE[sign](str(there), value))
        return results


def examples(sketches: list[str], prompt: Any, thinking: bool = False) -> list[dict[str, Any]]:
    """Prompt and completion rows: the run's own prompt, answered with the sketch as a reply would hold it."""
    return [
        {
            "prompt": prompt,
            "completion": [{"role": "assistant", "content": f"```javascript\n{s.strip()}\n```"}],
            "chat_template_kwargs": {"enable_thinking": thinking},
        }
        for s in sketches
    ]


def warm_start(recipe: Recipe, folder: Path, model: Any, tokenizer: Any, prompt: Any, device: str) -> dict[str, float]:
    """Fine-tune the adapter of `model` in place and keep it in `folder`/warm-start. Loss only on the completion.

    Nothing is cut: TRL's default of 1,024 tokens would end most sketches in the middle. Returns "sketches", "tokens"
    (of the longest example) and "loss" of the last epoch.
    """
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import SFTConfig, SFTTrainer

    sketches = Source.parse(recipe.warm_start).sketches()
    rows_ = examples(sketches, prompt, recipe.thinking)
    batch = min(4, len(rows_))
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir=str(folder / FOLDER),
            num_train_epochs=recipe.warm_start_epochs,
            learning_rate=recipe.warm_start_learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=min(5, len(rows_)),
            per_device_train_batch_size=1,
            gradient_accumulation_steps=batch,
            max_length=None,
            completion_only_loss=True,
            packing=False,
            gradient_checkpointing=recipe.gradient_checkpointing,
            bf16=recipe.precision != "fp32" and device == "cuda",
            use_cpu=device == "cpu",
            dataloader_pin_memory=device == "cuda",
            save_strategy="no",
            logging_steps=1,
            report_to="none",
            disable_tqdm=True,
            seed=recipe.seed,
        ),
        train_dataset=Dataset.from_list(rows_),
        processing_class=tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    last = max(1, round(len(losses) / max(1.0, recipe.warm_start_epochs)))
    model.save_pretrained(str(folder / FOLDER))
    state.seal(folder / FOLDER)
    longest = max(len(row["input_ids"]) for row in trainer.train_dataset)
    return {"sketches": len(sketches), "tokens": longest, "loss": sum(losses[-last:]) / len(losses[-last:])}
