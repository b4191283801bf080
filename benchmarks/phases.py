"""Where the processor time of a painting goes: one pass that counts it per process, one that profiles the pages.

The profile (Chromium's own sampling one) slows a page by a fifth, so it only says how the page's main thread divides
its time; the milliseconds are those of the pass without it. Waiting for the graphics process is told from working by
what processor time the thread had: on a machine that is busy with something else, being kept from the processor looks
like waiting, and read and encode come out too small. What a phase is:

parse     the harness, p5 and p5.brush are evaluated
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
from typing import Any

import psutil

from paintcli.backends.chromium import ChromiumRenderer
from paintcli.backends.chromium.browser import Page

PAGE = ("parse", "set-up", "polygons", "masks", "blend", "read", "encode")
WAITING = ("toDataURL", "readPixels", "getShaderParameter", "getProgramParameter", "getActiveUniform", "getContext")
"""Calls that wait for the graphics process, asleep, while the profile's clock runs on."""

ENTRIES = {
    "createCanvas": "set-up",
    "resizeCanvas": "set-up",
    "blend": "blend",
    "readPixels": "read",
    "toDataURL": "encode",
    "uploadOf": "masks",
    "window.paint.p5": "parse",
}
MASK_DRAWS = (("layer", "fill"), ("layer", "stroke"), ("erase", "fill"))
"""Functions of p5.brush and, called by them, of mask.js."""

MASK_CALLS = ("beginPath", "moveTo", "lineTo", "arc", "closePath", "drawImage", "clearRect", "alphaOf")
"""Functions of mask.js that have no namesakes in p5.brush."""

WARMING = 4
"""Paintings before anything is counted: each of the two pages that take turns has painted twice."""

SETTLED = 1.0
"""Seconds in which the next page is prepared, after which nothing goes on in the browser."""


def by_phase(profile: dict[str, Any]) -> Counter[str]:
    """Milliseconds of a page's main thread by phase, from a CPU profile of the debugging protocol.

    Those in WAITING are counted apart, as "waiting " and the phase.
    """
    nodes = {node["id"]: node for node in profile["nodes"]}
    # p5.brush's script is known by a function that nobody else has
    brush = {node["callFrame"]["scriptId"] for node in nodes.values() if node["callFrame"]["functionName"] == "erase"}
    phase: dict[int, str] = {}

    def enter(node: dict[str, Any], above: dict[str, Any], inherited: str) -> None:
        frame = node["callFrame"]
        name, script = frame["functionName"], frame["scriptId"]
        caller = above["callFrame"]
        if name in ENTRIES:
            inherited = ENTRIES[name]
        elif frame["url"].startswith("wasm:") or (caller["functionName"], name) in MASK_DRAWS or name in MASK_CALLS:
            inherited = "masks"
        elif frame["url"] == "sketch.js" and name != "setup":
            inherited = "polygons"
        elif script in brush and name in ("show", "circle") and inherited == "set-up":
            inherited = "polygons"  # a sketch that paints in setup
        elif caller["functionName"] == "(root)" and not name and frame["columnNumber"] <= 0:
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
            spent[f"waiting {last}" if name in WAITING else last] += delta
            spent[last] += compiling
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


def _main_thread(pid: int) -> float:
    return float(sum(t.user_time + t.system_time for t in psutil.Process(pid).threads() if t.id == pid))


async def _profile(page: Page, spent: Counter[str]) -> None:
    """Add to `spent` what the page does from now on; a new document begins a new profile, so each is taken before."""
    turn = page.turn

    async def turned(expression: str) -> Any:
        spent.update(by_phase((await page.send("Profiler.stop"))["profile"]))
        await page.send("Profiler.start")
        return await turn(expression)

    page.turn = turned  # type: ignore[method-assign]
    await page.send("Profiler.enable")
    await page.send("Profiler.setSamplingInterval", {"interval": 200})
    await page.send("Profiler.start")


def _pass(source: str, seed: int, renders: int, profiled: bool) -> tuple[Counter[str], Counter[str]]:
    """Paint `renders` times on a warm browser: CPU seconds by process, and milliseconds of the pages by phase."""
    spent: Counter[str] = Counter()
    with ChromiumRenderer(workers=1, deadline=300) as renderer:
        for _ in range(WARMING):
            renderer.render_sync(source, seed)
        time.sleep(SETTLED)
        browser = renderer._studio._browser
        assert browser is not None
        pages = list(browser._pages.values())

        def used() -> dict[str, float]:
            return {
                "whole": family_cpu(browser.process.pid),
                "gl": _cpu(browser.gl_process()),
                "python": _cpu(psutil.Process()),
                "page": sum(page.cpu_seconds() for page in pages),
                "main thread": sum(_main_thread(page.pid) for page in pages if page.pid),
            }

        if profiled:
            for page in pages:
                renderer._submit(_profile(page, spent)).result()
        before = used()
        for _ in range(renders):
            renderer.render_sync(source, seed)
        time.sleep(SETTLED)
        seconds = Counter({name: value - before[name] for name, value in used().items()})
        if profiled:
            for page in pages:
                spent.update(by_phase(renderer._submit(page.send("Profiler.stop")).result()["profile"]))
    return seconds, spent


def phases(source: str, seed: int, renders: int) -> dict[str, float]:
    """CPU milliseconds of one painting by phase; they sum up to "total", the preparation of its page included."""
    plain, _ = _pass(source, seed, renders, profiled=False)
    profiled, spent = _pass(source, seed, renders, profiled=True)
    # The main thread was asleep for as long as the profile ran on without processor time.
    asleep = max(0.0, sum(spent.values()) - 1000 * profiled["main thread"])
    waiting = sum(spent[f"waiting {name}"] for name in PAGE)
    worked = 1 - min(1.0, asleep / waiting) if waiting else 0.0
    for name in PAGE:
        spent[name] += worked * spent.pop(f"waiting {name}", 0.0)
    share = plain["main thread"] / sum(spent.values())
    seconds = {name: spent[name] * share for name in PAGE}
    seconds["gl"] = plain["gl"]
    seconds["browser"] = plain["whole"] - plain["gl"] - plain["page"]
    seconds["python"] = plain["python"]
    seconds["other"] = plain["page"] - plain["main thread"]
    seconds["total"] = sum(seconds.values())
    return {name: round(1000 * value / renders, 1) for name, value in seconds.items()}
