"""Our renderer, gate and reward as an environment: an episode is a subject, a seed and references, then a reply.

Nothing here knows of sockets: `openenv.py` serves it.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from paintcli import gate
from paintcli.errors import Unavailable, UsageError
from paintcli.painting import Painting
from paintcli.pool import Pool, Reference, shares_of
from paintcli.reward import PRESETS, STAND_IN, TERMS, Assessor, Evaluation, Mix, combine, length_term
from paintcli.serving.pulse import Pulse
from paintcli.sketch import Sketch, extract

VARIABLES = {"GATE": "gate", "LENGTH": "length", "JUDGE": "judge", "QUALITY": "hpsv3"}
"""The published variables WATERCOLOUR_<name>_WEIGHT and the terms of ours that they weigh."""

OPTIONS = ("subject", "seed", "references", "return_image", "paint_only", "episode_id")
"""What `reset` understands; `paint_only` is ours: the painting whole, whatever the gate says, and nobody judges it."""

MOST_REFERENCES = 64
LONGEST_SUBJECT = 500


def published_mix(environment: Mapping[str, str]) -> Mix | None:
    """The mix that the published variables ask for, None when none is set; those not set keep judge-led's weights.

    Raises UsageError in one sentence for an unknown variable, for what is no weight and for a sum that is not 1.
    """
    prefix, suffix = "WATERCOLOUR_", "_WEIGHT"
    asked = {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith(prefix) and name.endswith(suffix) and value.strip()
    }
    if not asked:
        return None
    weights: dict[str, Any] = dict(PRESETS["judge-led"])
    for name, value in asked.items():
        term = VARIABLES.get(name.removeprefix(prefix).removesuffix(suffix))
        if term is None:
            known = ", ".join(f"{prefix}{one}{suffix}" for one in VARIABLES)
            raise UsageError(f"There is no weight {name}; there are {known}.")
        weights[term] = value.strip()
    try:
        return Mix.parse(",".join(f"{term}={weight}" for term, weight in weights.items()))
    except UsageError as error:
        raise UsageError(f"{', '.join(asked)}: {error}") from None


def mix_of(flag: str | None) -> Mix:
    """The flag's mix, else the published variables', else judge-led."""
    return Mix.parse(flag) if flag else published_mix(os.environ) or Mix.parse("judge-led")


@dataclass(frozen=True)
class Episode:
    """What `reset` chose. `notes` are sentences about what was odd: a thin draw, an option nobody knows."""

    id: str
    subject: str
    seed: int
    references: tuple[Reference, ...]
    return_image: bool = False
    paint_only: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """An observation by its published field names, the reward (None: nobody knows), and whether the episode is over."""

    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False


@dataclass
class Easel:
    """The environment: one assessor for all sessions. `seed`, `references`: what `reset` takes where nobody says.

    `limit`: seconds a step may take in all, queueing included; then it is nobody's fault (reward None).
    `pulses`: the backends' signs of life, by role.
    """

    assessor: Assessor
    pool: Pool | None
    seed: int = 0
    references: int = 4
    limit: float = 540.0
    pulses: Mapping[str, Pulse] = field(default_factory=dict)
    steps: int = 0

    @property
    def weights(self) -> dict[str, float]:
        """What weighs how much; a stand-in's weight bears its own name."""
        mine = {"hpsv3": STAND_IN} if self.assessor.stand_in else {}
        return {mine.get(term, term): weight for term, weight in self.assessor.mix.weights.items() if weight}

    def begin(self, options: Mapping[str, Any]) -> Episode:
        """The episode that `reset` asks for. Raises UsageError in one sentence for a value that cannot be."""
        domain = self.assessor.domain
        seed = _whole("seed", options.get("seed"), self.seed, 0, 2**32 - 1)
        wanted = _whole("references", options.get("references"), self.references, 1, MOST_REFERENCES)
        subject = _text("subject", options.get("subject")) or domain.subject
        notes = [f"reset does not know {name!r}" for name in options if name not in OPTIONS]
        drawn: tuple[Reference, ...] = ()
        paint_only = _flag("paint_only", options.get("paint_only"))
        if self.pool is not None and self.assessor.asks("judge") and not paint_only:
            draw = self.pool.draw(shares_of(wanted), seed)
            drawn, notes = draw.references, [*notes, *draw.warnings]
        return Episode(
            id=_text("episode_id", options.get("episode_id")) or uuid4().hex,
            subject=subject,
            seed=seed,
            references=drawn,
            return_image=_flag("return_image", options.get("return_image")),
            paint_only=paint_only,
            notes=tuple(notes),
        )

    def opening(self, episode: Episode) -> Answer:
        """The observation of `reset`: the request as a model is to read it."""
        messages = {m["role"]: m["content"] for m in self.assessor.domain.messages(episode.subject)}
        told = {"seed": episode.seed, "weights": self.weights, "notes": list(episode.notes)}
        return Answer(
            {
                "prompt": messages["user"],
                "system_prompt": messages.get("system", ""),
                "task_id": episode.id,
                "subject": episode.subject,
                "judge_weight": self.assessor.mix.weights["judge"],
                "breakdown": told,
            }
        )

    async def step(self, episode: Episode, reply: str) -> Answer:
        """Gate, paint, judge and score one reply. Raises PaintError where a backend refuses us altogether."""
        self.steps += 1
        sketch = await asyncio.to_thread(_read, reply, self.assessor)  # seconds for the longest, and others wait
        if episode.paint_only:
            return await self._paint(episode, sketch)
        try:
            async with asyncio.timeout(self.limit):
                found = await self.assessor.evaluate(sketch, episode.references, episode.seed, episode.id)
        except TimeoutError:
            mix, late = self.assessor.mix, f"no answer within {self.limit:g} s"
            reasons = {term: late for term in TERMS if term == "gate" or (term != "length" and mix.wants(term))}
            known = {"length": length_term(sketch.source)}
            reward = combine(mix, known, reasons, stand_in=self.assessor.stand_in)
            found = Evaluation(episode.id, reward, sketch)
        return Answer(self._verdict(episode, found), found.reward.value, done=True)

    async def _paint(self, episode: Episode, sketch: Sketch) -> Answer:
        """Only the painting, packed whole under "painting": no gate, no judge, no reward."""
        renderer = self.assessor.renderer
        assert renderer is not None
        painting: Painting | None = None
        outage = ""
        try:
            async with asyncio.timeout(self.limit):
                painting = await renderer.render(sketch.source, episode.seed)
        except Unavailable as error:
            outage = str(error)
        except TimeoutError:
            outage = f"no painting within {self.limit:g} s"
        observation = {
            **self.opening(episode).observation,
            "render_unavailable": painting is None,
            "painting": painting.pack() if painting else None,
            "unavailable": outage,
        }
        return Answer(observation, done=True)

    def _verdict(self, episode: Episode, found: Evaluation) -> dict[str, Any]:
        """The published fields, flat; everything of ours in `breakdown`, which starts as `paint score --json` does."""
        reward, painting = found.reward, found.painting
        terms = reward.terms
        breakdown = reward.to_json(found.name) | {
            "seed": episode.seed,
            "references": [{"name": r.name, "tier": r.tier} for r in episode.references],
            "notes": list(episode.notes),
            "seconds": {phase: round(seconds, 3) for phase, seconds in found.seconds.items()},
            "mu": found.mu,
        }
        if found.judgement:
            breakdown["comparisons"] = [c.to_json() for c in found.judgement.comparisons]
            breakdown["dropped"] = list(found.judgement.dropped)
        if painting is not None:
            breakdown |= {"renderer": painting.renderer, "versions": dict(painting.versions), "calls": painting.calls}
        shown = painting if painting is not None and painting.png is not None else None
        observation = {
            "task_id": episode.id,
            "subject": episode.subject,
            "gate_passed": terms["gate"] == 1,
            "violations": list(dict.fromkeys(v.code for v in reward.violations)),
            "js_errors": list(painting.js_errors) if painting else [],
            "render_unavailable": terms["gate"] is None,
            "finished": bool(painting and painting.finished),
            "judged": terms["judge"] is not None,
            "judge_score": terms["judge"] or 0.0,
            "judge_weight": self.assessor.mix.weights["judge"],
            "quality_scored": terms["hpsv3"] is not None,
            "quality_score": terms["hpsv3"] or 0.0,
            "length_score": terms["length"] or 0.0,
            "paint_fraction": round(shown.coverage, 6) if shown else 0.0,
            "feedback": _feedback(found),
            "breakdown": breakdown,
        }
        if shown is not None and shown.png is not None and episode.return_image:
            observation["image_png_base64"] = base64.b64encode(shown.png).decode("ascii")
        return observation

    async def health(self) -> dict[str, Any]:
        """{"status", "steps", "weights", "backends": {role: Pulse.look()}}.

        "unhealthy" without a renderer, "degraded" while a judge or scorer that weighs is down, else "healthy".
        """
        roles = list(self.pulses)
        seen = dict(zip(roles, await asyncio.gather(*(self.pulses[role].look() for role in roles)), strict=True))
        down = {role for role, told in seen.items() if told["state"] == "down"}
        status = "unhealthy" if "renderer" in down else "degraded" if down else "healthy"
        return {"status": status, "steps": self.steps, "weights": self.weights, "backends": seen}


def watched(assessor: Assessor, places: int, scorer_at: str | None = None) -> tuple[Assessor, dict[str, Pulse]]:
    """The assessor with every backend watched, and their pulses by role. `places`: paintings under way at once.

    `scorer_at`: the Space or address of a scorer that is somewhere else, knocked at when nobody asked it lately.
    """
    from paintcli.serving.pulse import WatchedComparer, WatchedRenderer, WatchedScorer

    assert assessor.renderer is not None
    labels, pulses = assessor.labels, {}
    renderer = WatchedRenderer(assessor.renderer, labels["renderer"], places)
    pulses["renderer"] = renderer.pulse
    assessor = replace(assessor, renderer=renderer)
    if assessor.comparer is not None:
        comparer = WatchedComparer(assessor.comparer, labels["judge"])
        pulses["judge"] = comparer.pulse
        assessor = replace(assessor, comparer=comparer)
    if assessor.scorer is not None:
        probe = None
        if scorer_at is not None:
            from paintcli.backends.hub.health import knock

            where = scorer_at

            async def probe() -> None:
                await knock(where)

        scorer = WatchedScorer(assessor.scorer, labels["hpsv3"], probe)
        pulses["scorer"] = scorer.pulse
        assessor = replace(assessor, scorer=scorer)
    return assessor, pulses


def _read(reply: str, assessor: Assessor) -> Sketch:
    """The sketch with its syntax read: the parts of it are kept, so the gate that follows takes no time."""
    sketch = extract(reply)
    gate.check(sketch, assessor.domain)
    return sketch


def _feedback(found: Evaluation) -> str:
    """The score in a few words."""
    reward = found.reward
    if reward.violations:
        return "refused: " + ", ".join(dict.fromkeys(v.code for v in reward.violations))
    if reward.value is None:
        return "no reward: " + "; ".join(reward.unavailable)
    points = ", ".join(f"{t} {v:.2f}" for t, v, weight, _ in reward.explain() if weight and v is not None)
    return f"painted, reward {reward.value:.3f} ({points})"


def _whole(name: str, value: Any, default: int, lowest: int, highest: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise UsageError(f"{name} is a whole number from {lowest} to {highest}, not {value!r:.40}.")
    return value


def _flag(name: str, value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise UsageError(f"{name} is true or false, not {value!r:.40}.")


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_SUBJECT:
        raise UsageError(f"{name} is a text of at most {LONGEST_SUBJECT} characters, not {value!r:.40}.")
    return value.strip()
