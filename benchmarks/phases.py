"""Where the processor time of a painting goes: one pass that counts it per process, one that profiles the pages.

The profile (Chromium's own sampling one) slows a page by a fifth, so it only says how the page's main thread divides
its time; the milliseconds are those of the pass without it. Waiting for the graphics process is told from working by the
processor time that the thread had; on a machine that is busy with something else, being kept from the processor looks
like waiting, and read and encode come out too small. What a phase is:

parse     p5 and p5.brush are evaluated
set-up    page, document, canvas and graphics context, up to the sketch's first stroke
polygons  the sketch itself and p5.brush's geometry
masks     the fill masks: the rasteriser, and copying what it made
blend     handing masks and paint to the graphics library
read      pixels back into the page
encode    toDataURL: the picture as PNG and base64
gl, browser, python   the graphics process, the browser's other processes, and this one (the protocol)
other     the page's other threads: compilers, garbage collectors, compositor
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from paintcli.backends.chromium import ChromiumRenderer
from paintcli.backends.chromium.browser import Browser, Page

PAGE = ("parse", "set-up", "polygons", "masks", "blend", "read", "encode")
WAITING = ("read", "encode")
"""What waits for the graphics process, asleep, while the profile's clock runs on."""

ENTRIES = {
    "createCanvas": "set-up",
    "resizeCanvas": "set-up",
    "blend": "blend",
    "readPixels": "read",
    "toDataURL": "encode",
    "uploadOf": "masks",
}
MASK_CALLERS = ("layer", "erase", "getShaderMask")
"""p5.brush's functions that draw on a mask or take it from there; whatever they call outside p5.brush is rasteriser."""

SETTLED = 1.0
"""Seconds in which the next page is prepared, after which nothing goes on in the browser."""


@dataclass
class Seen:
    """What was counted of the pages that have been closed: CPU seconds, and milliseconds by phase."""

    profiled: bool
    page: float = 0.0
    main_thread: float = 0.0
    phases: Counter[str] = field(default_factory=Counter)


@contextmanager
def _watched(seen: Seen) -> Iterator[None]:
    """Every page opened meanwhile is added to `seen` when it is closed."""
    open_page, close = Browser.open_page, Page.close

    async def opened(browser: Browser) -> Page:
        page = await open_page(browser)
        if seen.profiled:
            await page.send("Profiler.enable")
            await page.send("Profiler.setSamplingInterval", {"interval": 200})
            await page.send("Profiler.start")
        return page

    async def closed(page: Page) -> None:
        seen.page += page.cpu_seconds()
        seen.main_thread += sum(
            t.user_time + t.system_time for t in psutil.Process(page.pid).threads() if t.id == page.pid
        )
        if seen.profiled:
            seen.phases += by_phase((await page.send("Profiler.stop"))["profile"])
        await close(page)

    Browser.open_page, Page.close = opened, closed  # type: ignore[method-assign]
    try:
        yield
    finally:
        Browser.open_page, Page.close = open_page, close  # type: ignore[method-assign]


def by_phase(profile: dict[str, Any]) -> Counter[str]:
    """Milliseconds of a page's main thread by phase, from a CPU profile of the debugging protocol."""
    nodes = {node["id"]: node for node in profile["nodes"]}
    brush = next(n["callFrame"]["scriptId"] for n in nodes.values() if n["callFrame"]["functionName"] == "erase")
    phase: dict[int, str] = {}

    def enter(node: dict[str, Any], above: dict[str, Any], inherited: str) -> None:
        frame = node["callFrame"]
        name, script = frame["functionName"], frame["scriptId"]
        caller = above["callFrame"]
        if name in ENTRIES:
            inherited = ENTRIES[name]
        elif inherited in ("polygons", "blend") and caller["functionName"] in MASK_CALLERS and script != brush:
            inherited = "blend" if "texSubImage2D" in name else "masks"
        elif frame["url"] == "sketch.js" and name != "setup":
            inherited = "polygons"
        elif script == brush and name in ("show", "circle") and inherited == "set-up":
            inherited = "polygons"  # a sketch that paints in setup
        elif caller["functionName"] == "(root)" and not name and (frame["lineNumber"], frame["columnNumber"]) == (0, 0):
            inherited = "parse"
        phase[node["id"]] = inherited
        for child in node.get("children", ()):
            enter(nodes[child], node, inherited)

    root = profile["nodes"][0]
    for child in root.get("children", ()):
        enter(nodes[child], root, "set-up")
    # Garbage is collected for whom ran before; native work without a script is mostly compiling for whom runs next.
    spent: Counter[str] = Counter()
    compiling, last = 0, "set-up"
    for sample, delta in zip(profile["samples"], profile["timeDeltas"], strict=True):
        name = nodes[sample]["callFrame"]["functionName"]
        if name == "(program)":
            compiling += delta
        elif name == "(garbage collector)":
            spent[last] += delta
        elif name not in ("(idle)", "(root)"):
            last = phase[sample]
            spent[last] += delta + compiling
            compiling = 0
    spent[last] += compiling
    return Counter({name: microseconds / 1000 for name, microseconds in spent.items()})


def family_cpu(pid: int) -> float:
    """CPU seconds of a process and all its living descendants."""
    total = 0.0
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _cpu(process: psutil.Process | None) -> float:
    if process is None:
        return 0.0
    times = process.cpu_times()
    return float(times.user + times.system)


def _pass(source: str, seed: int, renders: int, profiled: bool) -> tuple[Seen, dict[str, float]]:
    """Paint `renders` times on a warm browser: the pages, and the CPU seconds of all other processes."""
    seen = Seen(profiled)
    with _watched(seen), ChromiumRenderer(workers=1, deadline=300) as renderer:

        def counted() -> dict[str, float]:
            browser = renderer._studio._browser
            assert browser is not None
            whole = family_cpu(browser.process.pid)
            return {"whole": whole, "gl": _cpu(browser.gl_process()), "python": _cpu(psutil.Process())}

        renderer.render_sync(source, seed)
        time.sleep(SETTLED)
        seen.page, seen.main_thread, seen.phases = 0.0, 0.0, Counter()
        before = counted()
        for _ in range(renders):
            renderer.render_sync(source, seed)
        time.sleep(SETTLED)
        return seen, {name: value - before[name] for name, value in counted().items()}


def phases(source: str, seed: int, renders: int) -> dict[str, float]:
    """CPU milliseconds of one painting by phase; they sum up to "total", the preparation of its page included."""
    plain, used = _pass(source, seed, renders, profiled=False)
    profiled, _ = _pass(source, seed, renders, profiled=True)
    spent = profiled.phases
    # The main thread was asleep for as long as the profile ran on without processor time.
    asleep = max(0.0, sum(spent.values()) - 1000 * profiled.main_thread)
    waiting = sum(spent[name] for name in WAITING)
    for name in WAITING:
        spent[name] *= 1 - min(1.0, asleep / waiting) if waiting else 0
    share = 1000 * plain.main_thread / sum(spent.values()) / renders
    result = {name: spent[name] * share for name in PAGE}
    result["gl"] = 1000 * used["gl"] / renders
    result["browser"] = 1000 * (used["whole"] - used["gl"] - plain.page) / renders
    result["python"] = 1000 * used["python"] / renders
    result["other"] = 1000 * (plain.page - plain.main_thread) / renders
    result["total"] = sum(result.values())
    return {name: round(milliseconds, 1) for name, milliseconds in result.items()}
