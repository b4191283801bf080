"""Our rendering against the published configuration: same sketches, same seed, same machine, in turns in one run.

    python -m benchmarks.render [SKETCH...] [--repeat 3] [--seed 0] [--throughput 8] [--skip-published]
    python -m benchmarks.render --reference SKETCH...

Prints a table and one JSON line. Wall time is from handing over the sketch to the PNG, on a warm browser; CPU is what
the whole browser used meanwhile, its children and the preparation of the next page included. PSNR (dB) compares our
pixels with the published configuration's, over all pixels and over those that either painted; pigment is the mean
Euclidean distance from the paper, in levels. The phases (benchmarks/phases.py) are CPU milliseconds of one painting,
counted in passes of their own, so that the profiler does not slow what is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.phases import family_cpu, phases
from paintcli.backends.chromium import ChromiumRenderer, find_chromium
from paintcli.backends.chromium.browser import Browser
from paintcli.backends.chromium.libraries import library_sources
from paintcli.painting import PAINT_DISTANCE, Painting, paper_colour

SKETCHES = Path(__file__).parent.parent / "tests" / "data" / "sketches"
SEEDED = """(() => { let s = (0x9E3779B9 + %d) | 0; Math.random = function () {
  s = s + 0x6D2B79F5 | 0; let t = Math.imul(s ^ s >>> 15, 1 | s); t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
  return ((t ^ t >>> 14) >>> 0) / 4294967296; }; })()"""


@dataclass
class Run:
    painting: Painting
    wall: float
    cpu: float


class Published:
    """The published configuration: SwiftShader, accelerated 2D canvas, plain page, nothing of ours but the seed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._browser = self._loop.run_until_complete(Browser.launch(find_chromium(), "swiftshader"))

    def paint(self, source: str, seed: int) -> Run:
        return self._loop.run_until_complete(self._paint(source, seed))

    async def _paint(self, source: str, seed: int) -> Run:
        page = await self._browser.open_page()
        cpu, start = family_cpu(self._browser.process.pid), time.perf_counter()

        async def run(code: str) -> Any:
            answer = await page.send("Runtime.evaluate", {"expression": code, "returnByValue": True}, timeout=600)
            return answer["result"].get("value")

        await run("document.open(); document.write('<!doctype html><body>');" + SEEDED % seed)
        for library in library_sources():
            await run(library)
        await run(source)
        await run("document.close()")
        while not await run("!!(p5.instance && p5.instance.frameCount > 0 && !p5.instance._loop)"):
            await asyncio.sleep(0.02)
        url = await run("p5.instance.canvas.toDataURL('image/png')")
        wall = time.perf_counter() - start
        used = family_cpu(self._browser.process.pid) - cpu
        await page.close()
        return Run(Painting(base64.b64decode(url.partition(",")[2]), seed=seed), wall, used)

    def close(self) -> None:
        self._loop.run_until_complete(self._browser.close())
        self._loop.close()


def store_references(sketches: list[Path], seed: int) -> None:
    """Paint each sketch in the published configuration and store the pixels, losslessly, as NAME.gpu-raster.png."""
    published = Published()
    for path in sketches:
        run = published.paint(path.read_text("utf-8"), seed)
        stored = path.with_suffix(".gpu-raster.png")
        run.painting.image.save(stored, optimize=True)
        print(
            f"{stored}  {run.wall:.1f} s  coverage {run.painting.coverage:.4f}  {stored.stat().st_size} bytes",
            flush=True,
        )
    published.close()


def paint(renderer: ChromiumRenderer, source: str, seed: int) -> Run:
    browser = renderer._studio._browser
    assert browser is not None
    cpu, start = family_cpu(browser.process.pid), time.perf_counter()
    painting = renderer.render_sync(source, seed)
    wall = time.perf_counter() - start
    return Run(painting, wall, family_cpu(browser.process.pid) - cpu)


def pigment(painting: Painting) -> float:
    distance = painting.rgb.astype(np.float64) - paper_colour(painting.rgb)
    return float(np.sqrt((distance**2).sum(axis=-1)).mean())


def psnr(ours: Painting, theirs: Painting, painted_only: bool) -> float:
    first, second = ours.rgb.astype(np.float64), theirs.rgb.astype(np.float64)
    squares = ((first - second) ** 2).mean(axis=-1)
    if painted_only:
        far = [((p.rgb - paper_colour(p.rgb)) ** 2).sum(axis=-1) > PAINT_DISTANCE**2 for p in (ours, theirs)]
        squares = squares[far[0] | far[1]]
    return float(10 * np.log10(255**2 / squares.mean()))


def throughput(source: str, renders: int) -> dict[str, float]:
    """Seconds that so many paintings take with 1, 2 and 4 workers: the best of three.

    They are asked for in turns, so that the machine's moods fall on all alike.
    """
    counts = (1, 2, 4)
    seconds: dict[int, list[float]] = {n: [] for n in counts}
    renderers = {n: ChromiumRenderer(workers=n) for n in counts}
    try:
        for renderer in renderers.values():
            renderer.render_sync(source)
        for _ in range(3):
            for n, renderer in renderers.items():
                with ThreadPoolExecutor(n) as pool:
                    start = time.perf_counter()
                    list(pool.map(lambda seed, r=renderer: r.render_sync(source, seed), range(renders)))
                    seconds[n].append(time.perf_counter() - start)
    finally:
        for renderer in renderers.values():
            renderer.close()
    return {str(n): min(taken) for n, taken in seconds.items()}


def print_phases(rows: list[dict[str, Any]]) -> None:
    """The phases of every sketch, a sketch a column."""
    print(f"\n{'CPU ms':10}", *(f"{row['sketch']:>10}" for row in rows))
    for name in rows[0]["phases"]:
        print(f"{name:10}", *(f"{row['phases'][name]:10.0f}" for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sketches", nargs="*", type=Path, default=sorted(SKETCHES.glob("*.js")))
    parser.add_argument("--repeat", type=int, default=3, help="renders of ours per sketch; the published one runs once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--throughput", type=int, default=8, help="renders per worker count; 0 leaves it out")
    parser.add_argument("--skip-published", action="store_true", help="ours only: seconds and CPU, no comparison")
    parser.add_argument(
        "--reference", action="store_true", help="only store the published pictures beside the sketches"
    )
    options = parser.parse_args()
    if options.reference:
        store_references(options.sketches, options.seed)
        return
    rows = []
    published = None if options.skip_published else Published()
    with ChromiumRenderer(workers=1, deadline=300) as renderer:
        renderer.render_sync(options.sketches[0].read_text("utf-8"))
        name = ""
        for path in options.sketches:
            source = path.read_text("utf-8")
            ours = [paint(renderer, source, options.seed) for _ in range(options.repeat)]
            name = ours[0].painting.renderer
            row: dict[str, Any] = {
                "sketch": path.stem,
                "wall": round(statistics.median(r.wall for r in ours), 3),
                "cpu": round(statistics.median(r.cpu for r in ours), 3),
                "coverage": round(ours[0].painting.coverage, 4),
                "pigment": round(pigment(ours[0].painting), 3),
            }
            if published:
                theirs = published.paint(source, options.seed)
                row |= {
                    "published_wall": round(theirs.wall, 3),
                    "published_cpu": round(theirs.cpu, 3),
                    "ratio": round(theirs.wall / row["wall"], 1),
                    "cpu_ratio": round(theirs.cpu / row["cpu"], 1),
                    "psnr": round(psnr(ours[0].painting, theirs.painting, False), 2),
                    "psnr_painted": round(psnr(ours[0].painting, theirs.painting, True), 2),
                    "published_coverage": round(theirs.painting.coverage, 4),
                    "published_pigment": round(pigment(theirs.painting), 3),
                }
            rows.append(row)
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if published:
        published.close()
    for row, path in zip(rows, options.sketches, strict=True):
        row["phases"] = phases(path.read_text("utf-8"), options.seed, max(options.repeat, 3))
    print_phases(rows)
    result: dict[str, Any] = {"benchmark": "render", "renderer": name, "cores": os.cpu_count(), "rows": rows}
    if options.throughput:
        seconds = throughput(options.sketches[0].read_text("utf-8"), options.throughput)
        result["paintings_per_second"] = {n: round(options.throughput / taken, 3) for n, taken in seconds.items()}
        print("paintings a second by workers:", result["paintings_per_second"])
        if published:
            one, several = rows[0]["published_wall"], seconds["2"]
            result["two_workers"] = {
                "paintings": options.throughput,
                "wall": round(several, 3),
                "published_one": one,
                "ratio": round(one / several, 1),
            }
            print(f"{options.throughput} paintings with 2 workers: {several:.2f} s; one of the published: {one:.1f} s")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
