"""What a training group costs outside the policy: painting and gates for eight sketches, the judge stated apart.

    python benchmarks/environment.py [--workers 2] [--rounds 3]

The published steps spent 10.5–14.4 minutes of 15–18 there. The eight are the examples (2,000–7,000 characters), two
of them twice with other seeds. Every round paints with another seed; the browser is warm, as it is from a run's second
group on.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path

from paintcli import domains
from paintcli.attempt import attempt
from paintcli.backends.specs import make_renderer
from paintcli.sketch import extract

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.js"))


async def measure(workers: int, rounds: int) -> dict[str, object]:
    domain = domains.load()
    sources = [path.read_text("utf-8") for path in (EXAMPLES * 2)[:8]]
    with make_renderer("local", workers=workers) as renderer:
        await renderer.render(sources[0], 0)
        seconds, passed = [], 0
        for number in range(rounds):
            started = time.perf_counter()
            jobs = [attempt(extract(s), renderer, domain, 100 * number + i // 6) for i, s in enumerate(sources)]
            results = await asyncio.gather(*jobs)
            seconds.append(round(time.perf_counter() - started, 2))
            passed += sum(bool(r.passed) for r in results)
        paintings = [r.painting for r in results if r.painting]
    return {
        "workers": workers,
        "sketches": len(sources),
        "characters": [len(s) for s in sources],
        "passed": f"{passed} of {rounds * len(sources)}",
        "paint_and_gate_seconds": seconds,
        "published_seconds": [630, 864],
        "judge_seconds": await judge(paintings),
        "renderer": paintings[0].renderer,
    }


async def judge(paintings: list) -> float | None:
    """The embedded judge on the group, four references each in both orders; None where no pool is there."""
    from paintcli import pool
    from paintcli.backends.taste import Taste
    from paintcli.errors import PaintError
    from paintcli.judging import judge as compare

    try:
        rated = pool.resolve(None)
    except PaintError:
        return None
    taste, references = Taste(rated), rated.draw(seed=0).references
    started = time.perf_counter()
    for painting in paintings:
        await compare(painting, references, taste)
    return round(time.perf_counter() - started, 2)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    print(json.dumps(asyncio.run(measure(asked.workers, asked.rounds)), indent=1))
