"""The local renderer: one warm browser, a fresh document for each sketch, and a verdict on whose fault a failure is."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import threading
import warnings
from collections.abc import Coroutine
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil

from paintcli.backends.chromium.browser import Browser, BrowserGone, CallTimeout, Page, PageGone
from paintcli.backends.chromium.gl import probe_gl
from paintcli.backends.chromium.libraries import HERE, LIBRARIES, find_chromium, library_sources, mask_source
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.painting import Mark, Painting

FAIR = 0.8
"""Share of the deadline that a page gets in processor time before it is given up, which takes a starved one longer."""

BUSY = 0.5
"""Share of the deadline a page must have spent computing before not being done in time is its own fault."""

PATIENCE = 3
"""How many deadlines a page that is starved of the processor may take until it has had its share."""

RASTERS = {"wasm": "mask2", "skia": "float16"}
"""What rasterises p5.brush's fill masks, ours or the browser's: `PAINT_RASTER`, and its part of the renderer's name."""

PAINTINGS = 100
"""How many paintings a page's process makes before another takes its place, which is 0.3 s of processor time.

Its memory does not grow with them: 225 MiB after the second painting and after the 120th.
"""

ROOM = 4
"""A page's process that was left with more than one n-th of the memory limit is not painted in again."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def _document(shut: bool) -> str:
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' if shut else ""
    return f'<!doctype html><html><head><meta charset="utf-8">{policy}</head><body>'


@lru_cache(maxsize=4)
def _harness(shut: bool, raster: str) -> str:
    harness, blend = ((HERE / "page" / name).read_text("utf-8") for name in ("harness.js", "blend.js"))
    return f"{harness}({mask_source() if raster == 'wasm' else 'null'}, {blend}, {str(shut).lower()})"


@lru_cache(maxsize=4)
def _preload(shut: bool, raster: str) -> str:
    """What every new document of a page begins with: its handle, where `TAKE` finds it. Frames of a sketch's get none.

    It is sent to a page once and compiled by its process once: p5's megabyte, sent for every painting, took 0.09 s.
    """
    p5, brush = library_sources()
    return (
        f"if (top === window) {{ window.paint = {_harness(shut, raster)};"
        f"window.paint.p5 = function () {{ {p5}\nreturn {{ p5 }}; }};"
        f"window.paint.brush = function () {{ {brush}\nreturn {{ t, e }}; }}; }}"
    )


TAKE = "(() => { const { paint } = window; delete window.paint; return paint; })()"


class Crash(Exception):
    """The page (or the GL behind it) died; not yet known whose fault that is."""


class Refused(Exception):
    """Something was asked of a mask that our rasteriser does not serve."""


class ChromiumRenderer:
    """Paints sketches in a local Chromium. Callable from any thread and any event loop; many calls at once are fine.

    `workers` pages paint at the same time (never more than there are cores: beyond that each only waits for another),
    `deadline` is in seconds per painting, `heap_mb` and `memory_mb` bound the page's JavaScript heap and its process in
    MiB. `raster` is "wasm" (ours) or "skia" (the browser's own), by default what `PAINT_RASTER` says, or else ours.
    The browser starts with the first painting and is relaunched when it died. `offline=False` is for the test that
    shows what the network cut keeps away.
    """

    def __init__(
        self,
        workers: int = 2,
        deadline: float = 30.0,
        *,
        chromium: Path | None = None,
        gl: str | None = None,
        raster: str | None = None,
        heap_mb: int = 512,
        memory_mb: int = 1536,
        offline: bool = True,
    ):
        self.workers = max(1, min(workers, os.cpu_count() or 1))
        self.deadline = deadline
        self.program = chromium or find_chromium()
        library_sources()
        self.gl = gl or probe_gl(self.program).name
        self.raster = raster or os.environ.get("PAINT_RASTER") or "wasm"
        if self.raster not in RASTERS:
            raise UsageError(f"PAINT_RASTER is {self.raster!r}; it may be {' or '.join(RASTERS)}.")
        self._studio = _Studio(self, heap_mb=heap_mb, memory_mb=memory_mb, offline=offline)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        self._closed = False

    async def render(self, source: str, seed: int = 0) -> Painting:
        """Paint `source` with `seed` ≥ 0. The sketch's failure is a Painting with `fault`; ours raises Unavailable."""
        return await asyncio.wrap_future(self._submit(self._studio.render(source, seed)))

    def render_sync(self, source: str, seed: int = 0) -> Painting:
        """The same, for callers without an event loop."""
        return self._submit(self._studio.render(source, seed)).result()

    def warm_up(self) -> None:
        """Start the browser and prepare its first pages, so that the first painting does not pay for it."""
        self._submit(self._studio.warm_up()).result()

    def close(self) -> None:
        """Kill the browser and end the thread. Safe to call twice."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._studio.close(), loop).result()
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)

    def __enter__(self) -> ChromiumRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        with self._guard:
            if self._closed:
                coroutine.close()
                raise PaintError("This renderer is closed.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="paint-chromium", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


class _Studio:
    """The asynchronous half, on the renderer's own loop: pyppeteer is never awaited from any other."""

    def __init__(self, owner: ChromiumRenderer, *, heap_mb: int, memory_mb: int, offline: bool):
        self._owner = owner
        self._options = {"heap_mb": heap_mb, "offline": offline}
        self._memory = memory_mb * 1024 * 1024
        self._offline = offline
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()
        self._easels = asyncio.Semaphore(owner.workers)
        self._alone = asyncio.Lock()
        self._prepared: list[asyncio.Task[_Easel]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def render(self, source: str, seed: int) -> Painting:
        try:
            async with self._easels:
                return await self._attempt(source, seed, alone=False)
        except (Crash, BrowserGone) as first:
            # Who was it? Once more, alone in a fresh browser: what happens again is the sketch's own doing.
            async with self._all_easels():
                await self._drop_browser()
                try:
                    painting = await self._attempt(source, seed, alone=True)
                except Crash as again:
                    painting = self._failed(seed, f"{again}, twice, the second time alone")
                except BrowserGone as again:
                    raise Unavailable(f"The browser died twice ({first}; {again}).") from again
                if painting.fault:  # nobody should inherit what this sketch did to the browser
                    await self._drop_browser()
                return painting

    async def warm_up(self) -> None:
        await self._ready_browser()

    async def close(self) -> None:
        await self._drop_browser()
        while rest := asyncio.all_tasks() - {asyncio.current_task()}:  # paintings that nobody waits for any more
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)
        await self._drop_browser()

    # -- one painting ------------------------------------------------------------------------------------------------

    async def _attempt(self, source: str, seed: int, alone: bool, raster: str = "") -> Painting:
        loop = asyncio.get_running_loop()
        easel = await (_Easel.prepare(await self._ready_browser(), raster) if raster else self._take_easel())
        painting = None
        try:
            start = loop.time()
            painting = await easel.paint(source, seed, self._owner.deadline, self._memory, alone)
            return replace(
                painting,
                seconds=loop.time() - start,
                renderer=self._name(easel.browser.version, easel.raster),
                versions=self._versions(easel.browser.version, easel.raster),
            )
        except Refused as refused:
            warnings.warn(
                f"{refused}: this one is painted with the browser's own raster.", RuntimeWarning, stacklevel=2
            )
            return await self._attempt(source, seed, alone, "skia")
        except Crash as crash:
            # A page and its GL die with their browser, a moment before or after it: then it was the browser.
            await asyncio.sleep(0.1)
            if not easel.browser.healthy:
                raise BrowserGone(f"the browser died, and {crash}") from crash
            raise
        finally:
            if painting and easel.serves(painting, self._owner.raster, self._memory):
                self._prepared.append(self._background(self._renewed(easel)))
            else:
                self._background(easel.page.close())

    def _name(self, version: str, raster: str) -> str:
        return f"chromium {version.split('.')[0]} {self._owner.gl} {RASTERS[raster]}"

    def _versions(self, version: str, raster: str) -> dict[str, str]:
        libraries = {library.name: library.version for library in LIBRARIES}
        return {"chromium": version, **libraries, "gl": self._owner.gl, "raster": RASTERS[raster]}

    def _failed(self, seed: int, detail: str) -> Painting:
        version = self._browser.version if self._browser else ""
        return Painting(
            None,
            seed=seed,
            renderer=self._name(version, self._owner.raster),
            fault="render_failed",
            fault_detail=detail,
            versions=self._versions(version, self._owner.raster),
        )

    # -- pages and browsers ------------------------------------------------------------------------------------------

    async def _take_easel(self) -> _Easel:
        """A prepared page, and one more begun when it was the last; a browser that fails here is replaced once."""
        for last in (False, True):
            browser = await self._ready_browser()
            task = self._prepared.pop(0) if self._prepared else None
            try:
                easel = await asyncio.shield(task) if task else await _Easel.prepare(browser, self._owner.raster)
                if easel.browser is not browser or not easel.usable:
                    easel = await _Easel.prepare(browser, self._owner.raster)
                break
            except (BrowserGone, PageGone, CallTimeout) as error:
                await self._drop_browser(browser)
                if last:
                    raise BrowserGone(str(error)) from error
        if not self._prepared and browser.pages <= self._owner.workers:  # one more than there are painters
            self._prepared.append(self._background(_Easel.prepare(browser, self._owner.raster)))
        return easel

    async def _renewed(self, easel: _Easel) -> _Easel:
        """The same page with a new document; another page where that fails."""
        try:
            await easel.renew()
        except (PageGone, CallTimeout):
            await easel.page.close()
            return await _Easel.prepare(easel.browser, easel.raster)
        return easel

    async def _ready_browser(self) -> Browser:
        async with self._launching:
            if self._browser and not self._browser.healthy:
                await self._browser.close()
                self._browser = None
            if self._browser is None:
                self._browser = await Browser.launch(self._owner.program, self._owner.gl, **self._options)
            return self._browser

    async def _drop_browser(self, only: Browser | None = None) -> None:
        async with self._launching:
            if self._browser and (only is None or only is self._browser):
                browser, self._browser, self._prepared = self._browser, None, []
                await browser.close()

    @contextlib.asynccontextmanager
    async def _all_easels(self) -> Any:
        """Wait until nobody else paints and keep it so; one such trial at a time, or two would wait for each other."""
        async with self._alone:
            for _ in range(self._owner.workers):
                await self._easels.acquire()
            try:
                yield
            finally:
                for _ in range(self._owner.workers):
                    self._easels.release()

    def _background(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task


class _Easel:
    """One prepared page: the harness inside, a document left open, p5 loaded and waiting.

    Each painting has a document, a realm and an origin of its own. The page's process goes on to the next one, so that
    V8 need not compile the libraries again, as long as nothing happened in it but painting.
    """

    def __init__(self, browser: Browser, page: Page, raster: str):
        self.browser = browser
        self.page = page
        self.raster = raster
        self._handle = ""
        self._paintings = 0

    @property
    def usable(self) -> bool:
        return self.browser.healthy and not self.page.gone

    @classmethod
    async def prepare(cls, browser: Browser, raster: str) -> _Easel:
        page = await browser.open_page()
        try:
            source = _preload(browser.offline, raster)
            calls = [page.send("Page.enable"), page.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})]
            if browser.offline:
                calls += [
                    page.send("Network.enable"),
                    page.send(
                        "Network.emulateNetworkConditions",
                        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
                    ),
                    page.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
                ]
            await asyncio.gather(*calls)
            easel = cls(browser, page, raster)
            await easel.renew()
            return easel
        except BaseException:
            await page.close()
            raise

    async def renew(self) -> None:
        """Leave the document for a new one, and open it. Raises PageGone, BrowserGone or CallTimeout."""
        self._handle = _demand(await self.page.turn(TAKE))["result"]["objectId"]
        if not await self._tell("open", _document(self.browser.offline)):
            raise PageGone("the sketch before left something in the page's history")
        self.page.reset()
        self._paintings += 1

    def serves(self, painting: Painting, raster: str, memory: int) -> bool:
        """Whether one more sketch can be painted in this page's process. `memory` is a page's limit in bytes."""
        page = self.page
        plain = painting.fault is None and all(name.startswith(("brush.", "p5.")) for name in painting.calls or ())
        room = self._paintings < PAINTINGS and page.rss() < memory / ROOM
        return plain and room and self.usable and self.raster == raster

    async def paint(self, source: str, seed: int, deadline: float, memory: int, alone: bool) -> Painting:
        """Hand over the sketch, wait for its end, read the canvas. Raises Crash, BrowserGone or Unavailable.

        `deadline` is in seconds, `memory` in bytes; `alone` says that nobody else uses this browser's GL.
        """
        clock = asyncio.get_running_loop().time
        begun = clock()
        work = _Work(self.browser, self.page)
        patience = PATIENCE * deadline
        result: dict[str, Any] | None = None
        asking = _started(self._hand_over(source, seed, patience))
        pause = 0.005
        try:
            while result is None:
                await asyncio.wait({asking}, timeout=0.05)
                work.watch(memory)
                if asking.done():
                    result = asking.result()
                    if result is not None:
                        break
                    if clock() > begun + deadline:
                        return self._timed_out(seed, deadline, "it was waiting for something that never came")
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.5, 0.05)
                    asking = _started(self._tell("outcome", timeout=max(begun + patience - clock(), 0.1)))
                elif clock() > begun + deadline and work.had(FAIR * deadline):
                    raise CallTimeout("outcome")
        except CallTimeout:
            return self._blame(seed, deadline, work, alone, clock() - begun)
        except PageGone as error:
            if self.page.navigations:
                return self._failed(seed, "the sketch navigated away from its page")
            raise Crash(str(error)) from error
        if result["refused"]:
            raise Refused(f"The masks' rasteriser does not serve {result['refused']}")
        picture = result["picture"]
        if picture == "context lost":
            raise Crash("the graphics context was lost")
        if not picture.startswith("data:image/png;base64,"):
            return replace(
                self._failed(seed, picture or "the sketch made no canvas"), calls=self._calls(result["calls"])
            )
        return Painting(
            base64.b64decode(picture.partition(",")[2]),
            seed=seed,
            finished=not result["threw"],
            js_errors=tuple(self.page.errors),
            calls=self._calls(result["calls"]),
            marks=tuple(Mark(*mark) for mark in result["marks"]),
        )

    def _blame(self, seed: int, deadline: float, work: _Work, alone: bool, waited: float) -> Painting:
        """The page does not answer. Evidence: whose processor time went by meanwhile?"""
        page, gl = work.page_seconds(), work.gl_seconds()
        if page >= BUSY * deadline:
            return self._timed_out(seed, deadline, f"it was still computing after {page:.1f} s of processor time")
        if page + gl >= BUSY * deadline:
            if not alone:  # the GL may have been busy with somebody else's painting
                raise Crash("the graphics process was busy up to the deadline")
            return self._timed_out(seed, deadline, f"it kept the graphics process busy for {gl:.1f} s")
        raise Unavailable(
            f"The page was not done after {waited:.0f} s, of which it was given {page:.1f} s of processor time."
        )

    def _timed_out(self, seed: int, deadline: float, why: str) -> Painting:
        return Painting(
            None,
            seed=seed,
            js_errors=tuple(self.page.errors),
            fault="render_timeout",
            fault_detail=f"not done after {deadline:g} s: {why}",
        )

    def _failed(self, seed: int, why: str) -> Painting:
        return Painting(
            None,
            seed=seed,
            js_errors=tuple(self.page.errors),
            calls=self._calls({}),
            fault="render_failed",
            fault_detail=why,
        )

    def _calls(self, counted: dict[str, int]) -> dict[str, int]:
        page = self.page
        seen = {"page.dialog": page.dialogs, "page.popup": page.popups}
        seen |= {"page.navigate": page.navigations, "page.request": page.requests}
        return dict(sorted({**counted, **{name: n for name, n in seen.items() if n}}.items()))

    async def _hand_over(self, source: str, seed: int, deadline: float) -> dict[str, Any] | None:
        """Seed, sketch, end of document: sent in one go, answered by the outcome, if it is there already."""
        stops = bool(re.search(r"\bnoLoop\b", source))
        evaluate = {"allowUnsafeEvalBlockedByCSP": False, "silent": False, "returnByValue": False}
        answers = await asyncio.gather(
            self._tell("begin", seed, stops, timeout=deadline),
            self.page.send(
                "Runtime.evaluate", {"expression": f"{source}\n//# sourceURL=sketch.js", **evaluate}, timeout=deadline
            ),
            self._tell("close", timeout=deadline),
            self._tell("outcome", timeout=deadline),
        )
        failure = answers[1].get("exceptionDetails")
        if failure:
            self.page._exception({"exceptionDetails": failure})
        return answers[-1]

    async def _tell(self, method: str, *arguments: Any, timeout: float = 15.0) -> Any:
        answer = await self.page.send(
            "Runtime.callFunctionOn",
            {
                "objectId": self._handle,
                "functionDeclaration": f"function(...args){{return this.{method}(...args)}}",
                "arguments": [{"value": value} for value in arguments],
                "returnByValue": True,
            },
            timeout=timeout,
        )
        return _demand(answer)["result"].get("value")


class _Work:
    """What a page's process and the GL's process use, from the moment this is made."""

    def __init__(self, browser: Browser, page: Page):
        self._browser = browser
        self._page = page
        self._gl = browser.gl_process()
        self._page_start = page.cpu_seconds()
        self._gl_start = _cpu_seconds(self._gl)

    def watch(self, memory: int) -> None:
        """Kill a page or GL process over its limit; raise Crash when the GL died. `memory` in bytes, GL gets twice."""
        if self._page.rss() > memory:
            self._page.kill(f"the page took more than {memory >> 20} MiB of memory")
        if self._gl is None:
            return
        try:
            if self._gl.memory_info().rss > 2 * memory:
                self._gl.kill()
                raise Crash(f"the graphics process took more than {memory >> 19} MiB of memory")
            dead = self._gl.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            dead = True
        if dead:
            raise Crash("the graphics process died")

    def had(self, seconds: float) -> bool:
        """Whether page and GL together were given so much processor time."""
        return self.page_seconds() + self.gl_seconds() >= seconds

    def page_seconds(self) -> float:
        return self._page.cpu_seconds() - self._page_start

    def gl_seconds(self) -> float:
        return _cpu_seconds(self._gl) - self._gl_start


def _cpu_seconds(process: psutil.Process | None) -> float:
    if process is None:
        return 0.0
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system


def _started(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    """A call on its way; its failure is looked at even when nobody waits for it any more."""
    task = asyncio.ensure_future(coroutine)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _demand(answer: dict[str, Any]) -> dict[str, Any]:
    """Our own code in the page must not throw: that is never the sketch's fault."""
    failure = answer.get("exceptionDetails")
    if failure:
        text = failure.get("exception", {}).get("description") or failure.get("text")
        raise PaintError(f"The page's own code failed ({text[:300]}, line {failure.get('lineNumber', 0) + 1}).")
    return answer
