"""A sitting on a local page: the same keys and the same views as in the terminal, for terminals without pictures.

Open to this machine alone: it listens on 127.0.0.1, every address begins with a secret that only the person who
started it is told, and a request that came under another host name (a page elsewhere that points its name here) or
from another site's page is refused. A picture's address says nothing of its file.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from paintcli.errors import PaintError, UsageError
from paintcli.painting import Painting
from paintcli.pool import fair_order
from paintcli.sitting import Shown, Sitting

FILES = {
    "": ("page.html", "text/html"),
    "page.js": ("page.js", "text/javascript"),
    "page.css": ("page.css", "text/css"),
}
POLICY = (
    "default-src 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
)
THUMB = 320
"""Pixels of a painting on the contact sheet."""

LARGEST = 4096
"""Bytes of a key press at most."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that was closed before its pictures came is nothing to tell the terminal of."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class PageServer:
    """Serves one sitting until it is over. `address` is the page's, with its secret. A context manager."""

    def __init__(self, sitting: Sitting, port: int = 0) -> None:
        """Raises UsageError when the port is taken."""
        self.sitting = sitting
        self.secret = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        self.done = threading.Event()
        self.pictures: dict[str, Path] = {}
        handler = type("Handler", (_Handler,), {"page": self})
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            raise UsageError(f"Port {port} cannot be used ({error.strerror}); choose another with --port.") from error
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/{self.secret}/"

    def __enter__(self) -> PageServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Until the person quits on the page or presses Ctrl-C here; what is not saved yet is tried again meanwhile."""
        try:
            while not self.done.wait(1):
                with self.lock:
                    self.sitting.tick()
        except KeyboardInterrupt:
            pass

    def state(self) -> dict[str, Any]:
        """The view as JSON, each picture with its address instead of its path. To be called under `lock`."""
        view = self.sitting.view()
        state = asdict(view)
        state["pictures"] = [{"id": self._id(shown), "label": shown.label} for shown in view.pictures]
        state["over"] = self.sitting.over
        if self.sitting.over:
            unsaved = self.sitting.journal.unsaved
            state["text"] = "Not everything is saved; the terminal says more." if unsaved else "Everything is saved."
        return state

    def press(self, turn: int, action: str) -> dict[str, Any]:
        """One key, meant for the view of `turn`; one meant for an earlier view changes nothing."""
        with self.lock:
            if turn == self.sitting.turn and action in [key.action for key in self.sitting.view().keys]:
                self.sitting.press(action)
            state = self.state()
        return state

    def _id(self, shown: Shown) -> str:
        name = fair_order(self.secret, str(shown.path))[:24]
        self.pictures[name] = shown.path
        return name


class _Handler(BaseHTTPRequestHandler):
    page: PageServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass  # the terminal is the person's

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name in FILES:
            file, kind = FILES[name]
            self._answer(200, (files("paintcli.backends.sitting_page") / file).read_bytes(), f"{kind}; charset=utf-8")
        elif name == "state":
            with self.page.lock:
                self.page.sitting.tick()
                state = self.page.state()
            self._json(state)
        elif name.startswith(("picture/", "thumb/")):
            self._picture(*name.split("/", 1))
        else:
            self._answer(404)

    def do_POST(self) -> None:
        if self._name() != "key":
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            told = json.loads(self.rfile.read(length)) if length <= LARGEST else None
            turn, action = told["turn"], told["action"]  # type: ignore[index]
        except (ValueError, TypeError, KeyError):
            self.close_connection = True
            self._answer(400)
            return
        state = self.page.press(turn, action)
        self._json(state)
        if state["over"]:
            self.page.done.set()

    def _name(self) -> str | None:
        """What is asked for below the secret; None, answered already, for whoever has no business here."""
        port = self.page.port
        here = (f"127.0.0.1:{port}", f"localhost:{port}")
        origin = self.headers.get("Origin")
        parts = self.path.split("?")[0].split("/", 2)
        secret = parts[1] if len(parts) == 3 else ""
        if self.headers.get("Host") not in here or origin not in (None, *(f"http://{host}" for host in here)):
            self.close_connection = True
            self._answer(403)
        elif not secrets.compare_digest(secret.encode(), self.page.secret.encode()):
            self.close_connection = True
            self._answer(404)
        else:
            return parts[2]
        return None

    def _picture(self, size: str, name: str) -> None:
        import io

        path = self.page.pictures.get(name)
        try:
            painting = Painting.from_file(path) if path else None
        except PaintError:
            painting = None
        if painting is None:
            self._answer(404)
            return
        data = painting.png or b""
        if size == "thumb":
            small, buffer = painting.image, io.BytesIO()
            small.thumbnail((THUMB, THUMB))
            small.save(buffer, "PNG")
            data = buffer.getvalue()
        self._answer(200, data, "image/png")

    def _json(self, value: Any) -> None:
        self._answer(200, json.dumps(value).encode(), "application/json")

    def _answer(self, status: int, body: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": POLICY,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)
