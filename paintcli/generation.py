"""Filling a pool: generators write sketches, the renderer paints them, a critic says what to change; three rounds.

A pool folder is enough to go on from: `generation.jsonl` in it holds every reply and critique, each written and synced
before anything else happens with it, so that a kill at any moment repeats no call whose answer had come. What a
candidate is called and which seed it gets follow from what was asked, not from when it was answered: however often
it was interrupted, the pool ends up with the same pictures, sketches and rows; only the order of the rows is that of
their arrival.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from PIL import Image, ImageOps

from paintcli import critique, sketch
from paintcli.attempt import Attempt, attempt
from paintcli.backends.protocols import Critic, EmptyReply, Generator, Message, Renderer, Reply, Scorer
from paintcli.domains import Domain
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.files import append_json_line, mend, write_atomic
from paintcli.painting import Painting, flatten
from paintcli.pool import COLUMNS, locked
from paintcli.rollouts import rows
from paintcli.sketch import Sketch

if TYPE_CHECKING:
    from paintcli.photos import Photo

PUBLISHED = (
    "hub:zai-org/GLM-5.2",
    "hub:moonshotai/Kimi-K3",
    "hub:Qwen/Qwen3-Coder-Next",
    "hub:Qwen/Qwen3.5-122B-A10B",
)
"""The four families that wrote the published pool."""

JOURNAL = "generation.jsonl"
ROUNDS = 3
"""As published."""
TRIAL = 3
"""A generator's first sketches, all of which have to pass the gate before it may write more."""
OUTAGES = 3
"""Failures in a row, of a generator, the critic or the renderer, after which this run asks it no more."""
RETRY = 2.0
"""Seconds between two attempts to write to a full disk."""

NOTHING = "nothing"
"""What a critic answers when it would change nothing."""


# -- the plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One painting to be made: who writes it, what it shows, after which photo. `index` counts from 1."""

    generator: str
    subject: str
    photo: Photo | None
    index: int
    messages: tuple[Message, ...]
    """The first request."""
    stem: str
    """What its files are called; the last part is a digest of everything above and the seed."""
    seed: int


def plan(
    domain: Domain, generators: Sequence[str], count: int, photos: Sequence[Photo] = (), seed: int = 0
) -> list[Job]:
    """`count` jobs for each generator. Subjects and photos take turns. Raises PaintError for a photo that is none."""
    described = [critique.photo_in_words(small(photo)) for photo in photos]
    jobs = []
    for generator in dict.fromkeys(generators):
        for i in range(count):
            subject = domain.subjects[i % len(domain.subjects)]
            messages, photo = domain.messages(subject), None
            if photos:
                photo, colours = photos[i % len(photos)], described[i % len(photos)]
                messages[-1]["content"] += f" Paint it after a photograph whose colours are {colours}."
            asked = json.dumps([generator, messages, photo and [photo.name, photo.url], i, seed])
            digest = hashlib.sha256(asked.encode()).hexdigest()
            stem = f"{slug(model_name(generator))}-{slug(subject)}-{i + 1:02d}-{digest[:6]}"
            jobs.append(Job(generator, subject, photo, i + 1, tuple(messages), stem, int(digest[:7], 16)))
    return jobs


PHOTO = 768
"""Pixels on the longer side of a photograph that a critic is shown."""


def small(photo: Photo) -> Painting:
    """A photograph upright and small enough to be sent. Raises PaintError when it is none."""
    buffer = io.BytesIO()
    try:
        with Image.open(photo.path) as image:
            image.draft("RGB", (2 * PHOTO, 2 * PHOTO))
            upright = ImageOps.exif_transpose(image)
            upright.thumbnail((PHOTO, PHOTO))
            Image.fromarray(flatten(upright)).save(buffer, "PNG")
    except Exception as error:  # Pillow raises many types for bad files
        raise PaintError(f"The photo {photo.path} cannot be read ({str(error).rstrip('.')}).") from error
    return Painting(png=buffer.getvalue())


def model_name(spec: str) -> str:
    """The model of a generator's spec, as the column `generator_model` names it: "hub:zai-org/GLM-5.2" → "GLM-5.2"."""
    kind, _, what = spec.partition(":")
    if kind == "hub" and what.startswith("http"):
        address, _, named = what.partition("#")
        what = named or address.rstrip("/")
    elif kind == "hub":
        what = what.partition(":")[0]  # without the provider behind it
    return Path(what).name.removesuffix(".gguf")


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]


# -- what was paid for ---------------------------------------------------------------------------------------------

Kind = Literal["reply", "critique", "painted"]


class Journal:
    """`generation.jsonl` of a pool: one line for every reply, critique and painting, found by job, round and kind.

    One process at a time may hold it. Opening mends a line torn by a kill. Raises UsageError when another one has it.
    """

    def __init__(self, pool: Path, stack: ExitStack) -> None:
        import fcntl

        self.path = pool / JOURNAL
        handle = stack.enter_context(self.path.open("ab"))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another `paint pool generate` is filling {pool}.") from None
        mend(self.path)
        self.lines = {(row["job"], row["round"], row["kind"]): row for row in rows(self.path)}

    def get(self, job: Job, number: int, kind: Kind) -> dict[str, Any] | None:
        return self.lines.get((job.stem, number, kind))

    def add(self, job: Job, number: int, kind: Kind, **values: Any) -> None:
        """Write one line. Raises PaintError when it cannot be; it is then not remembered either."""
        row = {"job": job.stem, "round": number, "kind": kind, "by": model_name(job.generator), **values}
        append_json_line(self.path, row)
        self.lines[job.stem, number, kind] = row


@dataclass
class Spend:
    """Tokens and dollars of all replies of a model in a pool, those of earlier runs too. `unpriced` have no cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Replies whose tokens nobody counted."""
    cost: float = 0.0
    unpriced: int = 0


Prices = Mapping[str, tuple[float, float]]
"""Model name → US dollars for a million tokens (read, written)."""


def spent(journal: Journal, prices: Prices) -> dict[str, Spend]:
    """What a pool's replies and critiques took, by model. A cost the server told goes before one worked out."""
    found: dict[str, Spend] = {}
    for (_, _, kind), row in journal.lines.items():
        if kind == "painted" or "seconds" not in row:  # a critique of ours costs nothing
            continue
        model = found.setdefault(row["by"], Spend())
        model.calls += 1
        tokens = row["tokens_in"], row["tokens_out"]
        if None in tokens:
            model.uncounted += 1
        else:
            model.tokens_in += tokens[0]
            model.tokens_out += tokens[1]
        if row["cost"] is not None:
            model.cost += row["cost"]
        elif row["by"] in prices and None not in tokens:
            read, written = prices[row["by"]]
            model.cost += (tokens[0] * read + tokens[1] * written) / 1e6
        else:
            model.unpriced += 1
    return found


# -- the pipeline --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Something a person may want to know. `row` is the pool's new row where `kind` is "candidate"."""

    kind: Literal["candidate", "unpainted", "dropped", "outage", "note"]
    text: str
    row: dict[str, Any] | None = None


@dataclass(frozen=True)
class Team:
    """Who does what. Without a `critic` only what can be measured is criticised; `scorer` fills `hpsv3_mu`."""

    generators: Mapping[str, Generator]
    renderer: Renderer
    critic: Critic | None = None
    scorer: Scorer | None = None
    critic_name: str = ""


@dataclass
class Tally:
    """How far a plan is, one count for each sketch of a round, earlier runs included."""

    painted: Counter[str] = field(default_factory=Counter)
    """By generator: those on paper, the refused among them."""
    refused: Counter[str] = field(default_factory=Counter)
    unpainted: Counter[str] = field(default_factory=Counter)
    """Replies that left nothing to look at: none, one without a sketch, a blank canvas."""


class _Unfinished(Exception):
    """This job cannot go on in this run."""


class Generation:
    """One run that fills `pool`, or goes on filling it. `run` does it; `stop` ends it after the calls under way.

    At most `concurrent` jobs of each generator are under way, each in one of writing, painting and criticising, so
    that these overlap. `told` is called with every Event, on the event loop's thread.
    """

    def __init__(
        self,
        pool: Path,
        domain: Domain,
        jobs: Sequence[Job],
        team: Team,
        *,
        seed: int = 0,
        rounds: int = ROUNDS,
        trial: int = TRIAL,
        concurrent: int = 4,
        timeout_is_ours: bool = False,
        told: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.pool, self.domain, self.jobs, self.team = pool, domain, jobs, team
        self.seed, self.rounds, self.trial, self.concurrent = seed, rounds, trial, concurrent
        self.timeout_is_ours, self.told = timeout_is_ours, told
        self.dropped: dict[str, str] = {}
        """Generator → why it writes no more in this run."""
        self.unreliable: set[str] = set()
        """Those of the dropped whose first sketches were not valid; the others could not be asked."""
        self.stopped = ""
        """Why no new call is made any more."""
        self.journal: Journal
        self.done: set[str] = set()
        """Stems of the jobs that are finished: after the last round, or where nothing was to be changed."""
        self._there: set[str] = set()
        self._attempts: dict[tuple[str, int], Attempt] = {}
        self._outages: Counter[str] = Counter()
        self._writing = asyncio.Lock()

    def stop(self, why: str) -> None:
        """Make no new call; what is under way is waited for, painted and kept."""
        self.stopped = self.stopped or why

    async def run(self) -> None:
        """Do what the journal does not hold yet. Raises PaintError when the pool's folder cannot be written."""
        with ExitStack() as stack:
            self.pool.mkdir(parents=True, exist_ok=True)
            self.journal = Journal(self.pool, stack)
            for half in (*self.pool.glob("images/.*.tmp"), *self.pool.glob("sources/.*.tmp")):
                half.unlink()  # written when a kill came
            with locked(self.pool):
                mend(self.pool / "metadata.jsonl")
                self._there = {str(row.get("file_name")) for row in rows(self.pool / "metadata.jsonl")}
            by_generator: dict[str, list[Job]] = {}
            for job in self.jobs:
                by_generator.setdefault(job.generator, []).append(job)
            await _together(self._generator(spec, jobs) for spec, jobs in by_generator.items())

    @property
    def unfinished(self) -> int:
        """Jobs that an outage or a stop cut short, those of a generator that could not be asked included."""
        return sum(job.stem not in self.done and job.generator not in self.unreliable for job in self.jobs)

    def tally(self) -> Tally:
        found = Tally()
        for job in self.jobs:
            for number in range(1, self.rounds + 1):
                reply, painted = self.journal.get(job, number, "reply"), self.journal.get(job, number, "painted")
                if painted and painted["file_name"]:
                    found.painted[job.generator] += 1
                    found.refused[job.generator] += bool(painted["gate_errors"])
                elif painted or (reply and reply["empty"]):
                    found.unpainted[job.generator] += 1
        return found

    async def _generator(self, spec: str, jobs: list[Job]) -> None:
        """The first few sketches, and when all of them are valid, everything."""
        trial = jobs[: self.trial]
        await self._all(trial, rounds=1)
        if spec in self.dropped or self.stopped:
            return
        faults = [why for job in trial if (why := self._fault(job)) is not None]
        if "" in faults:
            self._drop(spec, "its first sketches could not all be looked at")
        elif faults:
            self.unreliable.add(spec)
            self._drop(spec, f"{len(faults)} of its first {len(trial)} sketches were not valid, one: {faults[0]}")
        else:
            await self._all(jobs, self.rounds)

    async def _all(self, jobs: list[Job], rounds: int) -> None:
        waiting = iter(jobs)

        async def work() -> None:
            for job in waiting:  # shared by all the workers
                if self.stopped or job.generator in self.dropped:
                    return
                try:
                    await self._job(job, rounds)
                except _Unfinished:
                    continue
                if rounds == self.rounds:
                    self.done.add(job.stem)

        await _together(work() for _ in range(min(self.concurrent, len(jobs))))

    def _fault(self, job: Job) -> str | None:
        """Why the first sketch of a job is not valid; None for one that is, "" where nobody could find out."""
        reply, painted = self.journal.get(job, 1, "reply"), self.journal.get(job, 1, "painted")
        if reply and reply["empty"]:
            return str(reply["empty"])
        if painted is None:
            return ""
        return str(painted["gate_errors"][0]) if painted["gate_errors"] else None

    def _drop(self, spec: str, why: str) -> None:
        if spec not in self.dropped:
            self.dropped[spec] = why
            self.told(Event("dropped", f"{spec} writes no more: {why.rstrip('.')}."))

    async def _job(self, job: Job, rounds: int) -> None:
        """Round after round, until the last or until there is nothing to change."""
        messages = list(job.messages)
        for number in range(1, rounds + 1):
            written = await self._written(job, number, messages)
            if written is None:
                return
            await self._painted(job, number, written)
            if number == self.rounds:
                self._attempts.pop((job.stem, number), None)
            if number == rounds:
                return
            change = await self._criticised(job, number, written)
            if not change:
                return
            messages = [*job.messages, {"role": "assistant", "content": shown(written)}, again(change)]

    async def _written(self, job: Job, number: int, messages: list[Message]) -> Sketch | None:
        """The sketch of a round, from the journal or from its generator; None for an empty reply."""
        known = self.journal.get(job, number, "reply")
        if known is None:
            empty, began = "", time.monotonic()
            try:
                reply = await self._asked(
                    job.generator, lambda: self.team.generators[job.generator].write(messages, job.seed + number)
                )
            except EmptyReply as nothing:
                reply, empty = nothing.reply, str(nothing)
            await self._kept(
                lambda: self.journal.add(job, number, "reply", reply=str(reply), empty=empty, **_usage(reply, began))
            )
            known = self.journal.get(job, number, "reply")
            assert known is not None
            if empty:
                self.told(Event("unpainted", f"{job.stem}, round {number}: {empty}"))
        if known["empty"]:
            return None
        return sketch.extract(known["reply"], f"{job.stem}-r{number}")

    async def _painted(self, job: Job, number: int, written: Sketch) -> None:
        """See to it that a round's painting is in the pool, with its sketch and its row."""
        if self.journal.get(job, number, "painted"):
            return
        seen = await self._attempt(job, number, written)
        painting, errors = seen.painting, critique.violations_in_words(seen.verdict.violations)
        name = f"images/{written.name}.png"
        if painting is None or painting.png is None or painting.coverage < self.domain.paint_floor:
            name = ""
            first = errors[0] if errors else "nothing to look at"
            self.told(Event("unpainted", f"{job.stem}, round {number}: {first}"))
        elif name not in self._there:
            row = await self._row(job, number, written, painting, errors)
            picture = painting.png
            await self._kept(lambda: write_atomic(self.pool / name, picture))
            await self._kept(lambda: write_atomic(self.pool / row["source_file"], written.source.encode()))
            await self._kept(lambda: self._append(row))
            self._there.add(name)
            self.told(Event("candidate", f"{name}{': ' + errors[0] if errors else ''}", row))
        coverage = round(painting.coverage, 4) if painting else 0.0
        await self._kept(
            lambda: self.journal.add(job, number, "painted", file_name=name, coverage=coverage, gate_errors=errors)
        )

    async def _attempt(self, job: Job, number: int, written: Sketch) -> Attempt:
        """A sketch painted and gated, a refused one too: a picture tells the critic and the rater more than a line."""
        known = self._attempts.get((job.stem, number))
        if known:
            return known
        seen = await attempt(
            written, self.team.renderer, self.domain, self.seed, anyway=True, timeout_is_ours=self.timeout_is_ours
        )
        if seen.unavailable:
            self._outage("The renderer", seen.unavailable)
        self._outages["The renderer"] = 0
        self._attempts[job.stem, number] = seen
        return seen

    async def _row(
        self, job: Job, number: int, written: Sketch, painting: Painting, errors: list[str]
    ) -> dict[str, Any]:
        """The row of a new candidate, in the published columns; `tier` is None: not rated yet."""
        mu = None
        if self.team.scorer and not errors:
            try:
                mu = (await self.team.scorer.score([painting], self.domain.hpsv3_prompt))[0]
            except Unavailable as outage:
                self.told(Event("outage", f"{written.name} has no score: {outage}"))
        photo = job.photo
        values = (
            f"images/{written.name}.png", f"sources/{written.name}.js", None, job.subject, model_name(job.generator),
            number, mu, round(painting.coverage, 4), errors, photo and photo.name, photo and (photo.licence or None),
            photo and (photo.attribution or None), photo and (photo.url or None),
        )  # fmt: skip
        return {**dict(zip(COLUMNS, values, strict=True)), "seed": self.seed}

    def _append(self, row: dict[str, Any]) -> None:
        with locked(self.pool):
            append_json_line(self.pool / "metadata.jsonl", row)

    async def _criticised(self, job: Job, number: int, written: Sketch) -> str:
        """What to change, in words; "" for nothing. A critic is asked only about what can be seen."""
        if known := self.journal.get(job, number, "critique"):
            return str(known["change"])
        seen = await self._attempt(job, number, written)
        self._attempts.pop((job.stem, number))
        said = critique.remarks(seen, self.domain)
        usage: dict[str, Any] = {}
        critic, painting = self.team.critic, seen.painting
        if critic and painting and painting.png and painting.coverage >= self.domain.paint_floor:
            photo = small(job.photo) if job.photo else None
            brief = self._brief(job, said)
            began = time.monotonic()
            try:
                reply = await self._asked("The critic", lambda: critic.critique(painting, photo, brief))
                if reply.strip().strip(".").lower() != NOTHING:
                    said = [*said, reply.strip()]
            except EmptyReply as nothing:
                reply = nothing.reply
                self.told(Event("note", f"{written.name} was not criticised: {nothing}"))
            usage = _usage(reply, began) | {"by": self.team.critic_name}
        change = "\n".join(f"- {one}" for one in said)
        await self._kept(lambda: self.journal.add(job, number, "critique", change=change, **usage))
        return change

    def _brief(self, job: Job, said: list[str]) -> str:
        wanted = [
            f"This painting was made by a p5.brush sketch that was asked for: {job.subject}.",
            f"What counts: {self.domain.criteria}" if self.domain.criteria else "",
            "The photograph shows how such a thing grows, turns and takes the light." if job.photo else "",
            "Measured: " + " ".join(said) if said else "",
            "Tell the sketch's author what to change, the most important first, at most five short points, each "
            "something to do: where on the sheet, which colour, larger or smaller, how many. No praise. If nothing "
            f"should change, answer only: {NOTHING}",
        ]
        return "\n".join(line for line in wanted if line)

    async def _asked(self, who: str, ask: Callable[[], Any]) -> Reply:
        """One call that is paid for. Raises _Unfinished where there is no answer, EmptyReply for an empty one."""
        if self.stopped or who in self.dropped:
            raise _Unfinished
        try:
            reply: Reply = await ask()
        except EmptyReply:
            self._outages[who] = 0
            raise
        except Unavailable as outage:
            self._outage(who, str(outage))
        except PaintError as error:  # every call would be refused: no right, no such model
            if who in self.team.generators:
                self._drop(who, str(error))
            else:
                self.stop(f"{who} cannot be asked: {error}")
            raise _Unfinished from None
        self._outages[who] = 0
        return reply

    def _outage(self, who: str, why: str) -> NoReturn:
        """Count a failure that was nobody's fault, and end the job."""
        self._outages[who] += 1
        self.told(Event("outage", f"{who}: {why}"))
        if self._outages[who] >= OUTAGES:
            if who in self.team.generators:
                self._drop(who, f"it failed {OUTAGES} times in a row, lastly: {why}")
            else:
                self.stop(f"{who} failed {OUTAGES} times in a row, lastly: {why}")
        raise _Unfinished

    async def _kept(self, write: Callable[[], None]) -> None:
        """Write, and while the disk is full say so and try again: what was paid for is not thrown away."""
        async with self._writing:
            full = False
            while True:
                try:
                    write()
                    break
                except PaintError as error:
                    cause = error.__cause__
                    if not (isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)):
                        raise
                    if not full:
                        self.told(Event("outage", f"{error} What is unsaved is kept in memory and tried again."))
                    full = True
                    await asyncio.sleep(RETRY)
            if full:
                self.told(Event("note", "There is room on the disk again; everything is saved."))


async def _together(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run them side by side; when one fails the others are ended before its error goes on."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _usage(reply: Reply, began: float) -> dict[str, Any]:
    return {
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": reply.cost,
        "seconds": round(time.monotonic() - began, 2),
    }


MOST_SHOWN = 4000
"""Characters of a reply without a sketch that its author is shown again."""


def shown(written: Sketch) -> str:
    """A reply as its author sees it again: the sketch alone, without what was thought and said around it."""
    return f"```javascript\n{written.source}\n```" if written.source else written.reply[:MOST_SHOWN]


def again(change: str) -> Message:
    return {
        "role": "user",
        "content": f"Your sketch was painted and looked at. Change this:\n{change}\n"
        "Keep what is good. Write the whole sketch again.",
    }
