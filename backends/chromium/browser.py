"""One warm browser over pyppeteer's connection, hardened: no await is ever cancelled, a dead browser says so.

pyppeteer's own launcher and page objects are not used: the launcher blocks the loop and installs signal handlers, and
its pages switch on far more of the protocol than a painting needs. Its `Connection` and `CDPSession` carry every call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from paintcli.backends.chromium.process import BrowserProcess
from paintcli.errors import Unavailable

START_TIMEOUT = 30.0
CALL_TIMEOUT = 15.0
TURN_TIMEOUT = 3.0
OPEN_ATTEMPTS = 3


class BrowserGone(Exception):
    """The browser died, hung or lost its connection: relaunch."""


class PageGone(Exception):
    """The page crashed or was closed under us; `reason` says how."""


class CallTimeout(Exception):
    """No answer in time; the call is still pending and must stay so."""


class Browser:
    """A running Chromium and the connection to it. Lives on one event loop."""

    def __init__(self, process: BrowserProcess, connection: Any, version: str):
        self.process = process
        self.version = version
        self.offline = process.offline
        self._connection = connection
        self._creating = asyncio.Lock()
        self._pages: dict[str, Page] = {}
        self._gl: psutil.Process | None = None
        connection.on("Target.targetCreated", self._target_created)
        connection.on("Target.targetCrashed", self._target_crashed)
        connection.on("Target.targetDestroyed", self._target_destroyed)

    @classmethod
    async def launch(cls, program: Path, gl: str, **options: Any) -> Browser:
        """Start Chromium and connect. Raises Unavailable when it does not come up within 30 s."""
        Connection = _quiet_connection()
        loop = asyncio.get_running_loop()
        process = BrowserProcess(program, gl, **options)
        try:
            until = loop.time() + START_TIMEOUT
            while (endpoint := process.endpoint()) is None:
                if not process.running:
                    raise Unavailable(f"The browser {program} stopped at once ({process.last_words()}).")
                if loop.time() > until:
                    raise Unavailable(f"The browser {program} did not start in {START_TIMEOUT:.0f} s.")
                await asyncio.sleep(0.02)
            connection = Connection(endpoint, loop)
            while not connection._connected:
                if connection._recv_fut.done() or not process.running or loop.time() > until:
                    raise Unavailable(f"The browser {program} did not accept a connection.")
                await asyncio.sleep(0.005)
            version = await _call(connection, "Browser.getVersion", {}, CALL_TIMEOUT)
            browser = cls(process, connection, version["product"].split("/")[-1])
            await browser.send("Target.setDiscoverTargets", {"discover": True})
            return browser
        except BaseException:
            process.kill()
            raise

    @property
    def healthy(self) -> bool:
        """Process alive, connection open, and its receive loop not dead."""
        connection = self._connection
        return self.process.running and connection._connected and not connection._recv_fut.done()

    async def send(self, method: str, params: dict[str, Any] | None = None, timeout: float = CALL_TIMEOUT) -> Any:
        """One call of the browser itself. Raises BrowserGone when there is no answer."""
        if not self.healthy:
            raise BrowserGone(method)
        try:
            return await _call(self._connection, method, params or {}, timeout)
        except BrowserGone:
            raise
        except CallTimeout:
            raise BrowserGone(f"{method} was not answered in {timeout:.0f} s") from None
        except Exception as error:  # pyppeteer's own error when the socket closes under a call
            raise BrowserGone(f"{method}: {error}") from error

    async def open_page(self) -> Page:
        """A new page in a process of its own, which is known."""
        async with self._creating:  # one at a time: the renderer process that appears meanwhile is the page's
            for _ in range(OPEN_ATTEMPTS):
                before = set(self._processes("renderer"))
                # Behind the others in a window that is down on the task bar, every page sees the same (hidden, without
                # focus), and nothing is drawn for a screen: 0.05 s of processor time a painting. What Chromium calls a
                # hidden target is another thing: one that submits a form takes the whole browser down (Chromium 156).
                made = await self.send(
                    "Target.createTarget", {"url": "about:blank", "newWindow": True, "windowState": "minimized"}
                )
                page = Page(self, made["targetId"], await self._attach(made["targetId"]))
                self._pages[page.target] = page
                await page.send("Runtime.enable")  # its answer comes from the process, so it is there by now
                new = set(self._processes("renderer")) - before
                if len(new) == 1:
                    page.pid = new.pop()
                    return page
                await page.close()
        raise BrowserGone("a page's process could not be told from the others")

    async def _attach(self, target: str) -> Any:
        from pyppeteer.connection import CDPSession

        attached = await self.send("Target.attachToTarget", {"targetId": target})
        session = CDPSession(self._connection, "page", attached["sessionId"], asyncio.get_running_loop())
        self._connection._sessions[attached["sessionId"]] = session
        return session

    async def close(self) -> None:
        """Kill the browser with all it started."""
        if self._connection._connected:
            with contextlib.suppress(Exception):  # a socket that is dying already has nothing more to tell
                await self._connection.dispose()
        await asyncio.get_running_loop().run_in_executor(None, self.process.kill)

    @property
    def pages(self) -> int:
        """How many pages are open."""
        return len(self._pages)

    def _processes(self, kind: str) -> dict[int, psutil.Process]:
        """The browser's children of one kind ("renderer", "gpu-process"), by process id."""
        found = {}
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if f"--type={kind}" in child.cmdline():
                        found[child.pid] = child
        return found

    def gl_process(self) -> psutil.Process | None:
        """The process that runs the GL of all pages; None while there is none."""
        if self._gl is None or not self._gl.is_running():
            self._gl = next(iter(self._processes("gpu-process").values()), None)
        return self._gl

    def _target_created(self, event: dict[str, Any]) -> None:
        info = event["targetInfo"]
        opener = self._pages.get(info.get("openerId", ""))
        if opener and info["type"] == "page":
            opener.popups += 1
            # Nobody waits for this answer; pyppeteer keeps the future.
            self._connection.send("Target.closeTarget", {"targetId": info["targetId"]})

    def _target_crashed(self, event: dict[str, Any]) -> None:
        page = self._pages.get(event["targetId"])
        if page:
            page.gone = f"the page crashed ({event.get('status', 'unknown')})"

    def _target_destroyed(self, event: dict[str, Any]) -> None:
        page = self._pages.pop(event["targetId"], None)
        if page and not page.gone:
            page.gone = "the page closed itself"


class Page:
    """One target and the session attached to it; what its document said while it lived."""

    def __init__(self, browser: Browser, target: str, session: Any):
        self.browser = browser
        self.target = target
        self.pid: int | None = None
        self.gone = ""
        self.popups = 0
        self.dialogs = 0
        self.navigations = 0
        self.requests = 0
        self.errors: list[str] = []
        self._turning = False
        self._session = session
        session.on("Runtime.exceptionThrown", self._exception)
        session.on("Runtime.consoleAPICalled", self._console)
        session.on("Runtime.executionContextsCleared", self._cleared)
        session.on("Page.javascriptDialogOpening", self._dialog)
        session.on("Fetch.requestPaused", self._request)

    async def send(self, method: str, params: dict[str, Any] | None = None, timeout: float = CALL_TIMEOUT) -> Any:
        """One call of the page. Raises PageGone, BrowserGone or CallTimeout."""
        self._check()
        try:
            answer = await _call(self._session, method, params or {}, timeout, watch=self._check)
        except (PageGone, BrowserGone, CallTimeout):
            raise
        except Exception as error:
            self._check()
            if "navigated" in str(error) or "context was destroyed" in str(error):
                self.navigations += 1
            raise PageGone(str(error)) from error
        return answer

    async def turn(self, expression: str) -> Any:
        """Leave the document for a new blank one in the same process, and evaluate `expression` in it, by reference."""
        self._turning = True
        answer = await self.send("Page.navigate", {"url": "about:blank"}, TURN_TIMEOUT)
        if "errorText" in answer:
            raise PageGone(f"the page would not leave its document ({answer['errorText']})")
        answer = await self.send("Runtime.evaluate", {"expression": expression}, TURN_TIMEOUT)
        self._turning = False  # what the old document had to say came before that answer
        return answer

    def post(self, method: str, params: dict[str, Any]) -> None:
        """A call whose answer nobody waits for."""
        with contextlib.suppress(Exception):  # the page may be gone by now: then there is nothing to tell it
            future = self._session.send(method, params)
            future.add_done_callback(_retrieve)

    async def close(self) -> None:
        """Close the target through the browser: works while the page's script never returns."""
        if not self.browser.healthy:
            return
        self.browser._pages.pop(self.target, None)
        with contextlib.suppress(BrowserGone, Exception):
            await self.browser.send("Target.closeTarget", {"targetId": self.target}, timeout=5)

    def cpu_seconds(self) -> float:
        """CPU seconds the page's process has used; 0 when its process is gone or not known."""
        if self.pid is None:
            return 0.0
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return times.user + times.system

    def rss(self) -> int:
        """Resident bytes of the page's process; 0 when it is not known."""
        if self.pid is None:
            return 0
        try:
            return psutil.Process(self.pid).memory_info().rss
        except psutil.Error:
            return 0

    def reset(self) -> None:
        """Forget what was said and done while the page was being prepared."""
        self.popups = self.dialogs = self.navigations = self.requests = 0
        self.errors.clear()
        self.gone = ""

    def kill(self, reason: str) -> None:
        """Kill the page's process; the browser and its other pages live on."""
        if self.pid is not None and not self.gone:
            self.gone = reason
            with contextlib.suppress(psutil.Error):
                psutil.Process(self.pid).kill()

    def _check(self) -> None:
        if not self.browser.healthy:
            raise BrowserGone("the browser died")
        if self.gone:
            raise PageGone(self.gone)

    def _exception(self, event: dict[str, Any]) -> None:
        details = event["exceptionDetails"]
        exception = details.get("exception", {})
        text = str(exception.get("description") or exception.get("value") or details.get("text", "error"))
        self._note(text.splitlines()[0] if text else "error", details)

    def _console(self, event: dict[str, Any]) -> None:
        if event["type"] in ("error", "assert"):
            words = [str(a.get("value", a.get("description", ""))).splitlines() for a in event.get("args", [])]
            self._note("console.error: " + " ".join(w[0] for w in words if w), event)

    def _note(self, text: str, where: dict[str, Any]) -> None:
        frames = [{"url": where.get("url"), "lineNumber": where.get("lineNumber")}]
        frames += (where.get("stackTrace") or {}).get("callFrames", [])
        line = next((int(f["lineNumber"] or 0) + 1 for f in frames if f.get("url") == "sketch.js"), None)
        message = text[:500] + (f" (line {line})" if line else "")
        if len(self.errors) < 20 and message not in self.errors:
            self.errors.append(message)

    def _cleared(self, event: Any) -> None:
        if self._turning:
            return
        self.navigations += 1
        self.gone = self.gone or "the sketch navigated away from its page"

    def _dialog(self, event: dict[str, Any]) -> None:
        self.dialogs += 1
        self.post("Page.handleJavaScriptDialog", {"accept": False})

    def _request(self, event: dict[str, Any]) -> None:
        if event.get("resourceType") == "Document":
            self.navigations += 1
        else:
            self.requests += 1
        # "Aborted" makes a navigation a non-event: the document, and the painting on it, stay.
        self.post("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})


def _quiet_connection() -> Any:
    """pyppeteer's Connection, whose unanswered calls do not complain when the socket closes under them."""
    from pyppeteer.connection import Connection

    class QuietConnection(Connection):
        def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
            future = super().send(method, params)
            future.add_done_callback(_retrieve)
            return future

        async def _async_send(self, msg: str, callback_id: int) -> None:
            # The original waits for the socket to open; on one that has closed it would spin for ever.
            if self._connected:
                await super()._async_send(msg, callback_id)

        async def _on_close(self) -> None:
            # The original fails every call it remembers, and stops at the first that was answered already.
            for channel in (self, *self._sessions.values()):
                for key in [key for key, future in channel._callbacks.items() if future.done()]:
                    del channel._callbacks[key]
            await super()._on_close()

    return QuietConnection


def _retrieve(done: asyncio.Future[Any]) -> None:
    """Look at a future's exception, so that asyncio does not report it as never retrieved."""
    if not done.cancelled():
        done.exception()


async def _call(
    channel: Any, method: str, params: dict[str, Any], timeout: float, watch: Callable[[], None] | None = None
) -> Any:
    """Send and wait without ever cancelling: a cancelled future kills pyppeteer's receive loop without a word.

    `watch` is called twice a second and may raise, so that a wait ends when the page or browser does.
    """
    try:
        future = channel.send(method, params)
    except Exception as error:
        if watch:
            watch()
        raise BrowserGone(f"{method}: {error}") from error
    future.add_done_callback(_retrieve)
    loop = asyncio.get_running_loop()
    until = loop.time() + timeout
    while not future.done():
        left = until - loop.time()
        if left <= 0:
            raise CallTimeout(method)
        await asyncio.wait({future}, timeout=min(left, 0.2 if watch else 1.0))
        if not future.done() and watch:
            watch()
    answer = future.result()
    if answer is None:  # pyppeteer's answer on a dead socket
        raise BrowserGone(f"{method}: the connection is closed")
    return answer
