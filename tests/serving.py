"""Our servers, run for a test: an application in a thread of this process, or the command as a person starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import uvicorn

from paintcli.serving.server import LARGEST, address_of, bind


class Running:
    """An application served in a thread; use as a context manager. `address` is http://127.0.0.1:port."""

    def __init__(self, app: Any) -> None:
        self._socket = bind("127.0.0.1", 0)
        self.address = address_of(self._socket)
        config = uvicorn.Config(
            app, ws="wsproto", ws_max_size=LARGEST, lifespan="on", log_config=None, access_log=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> Running:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(120)
        self._socket.close()


class Command:
    """`paint env …` in a process of its own, up when its address is known; use as a context manager."""

    def __init__(self, *arguments: object, port: int = 0, **variables: str) -> None:
        self._arguments = [sys.executable, "-m", "paintcli", "env", *map(str, arguments), "--port", str(port)]
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith(("PAINT_", "WATERCOLOUR_"))}
        self._environment |= variables

    def __enter__(self) -> Command:
        self.process = subprocess.Popen(
            self._arguments, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), f"it did not start: status {self.process.wait(240)}"
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self, kind: int = signal.SIGTERM) -> int:
        """Its exit status, once it has ended."""
        if self.process.poll() is None:
            self.process.send_signal(kind)
        return self.process.wait(240)


def ask(url: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """(status, the answer's JSON) of a GET, or of a POST of JSON (or of bytes as they are)."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {})
    try:
        with urllib.request.urlopen(request, timeout=200) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Until `condition` holds. The limit only says that it never will."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)
