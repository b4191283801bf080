"""A socket taken before anything slow begins, and uvicorn on it: what both servers of ours share."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from fastapi import Request
from fastapi.responses import JSONResponse

from paintcli.errors import PaintError, UsageError
from paintcli.files import reason

LARGEST = 16 * 2**20
"""Bytes of one message or body; OpenEnv's own limit."""

GRACE = 10
"""Seconds that a request under way is given when the server is told to stop."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises UsageError in one sentence (in use, not ours, no right).

    A dead peer is noticed within two minutes: its machine answers the kernel's probes even while the program is busy.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise UsageError(f"{host!r} is not the name of a machine.") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a restart need not wait for old connections
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # what is accepted inherits these
        for option, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
            if hasattr(socket, option):  # macOS names the first one differently and keeps its two hours
                listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        match error.errno:
            case errno.EADDRINUSE:
                raise UsageError(f"{host}:{port} is in use; choose another --port, or 0 for a free one.") from None
            case errno.EACCES:
                raise UsageError(f"Port {port} needs root; choose a --port from 1024 on.") from None
            case errno.EADDRNOTAVAIL:
                raise UsageError(f"{host} is not an address of this machine.") from None
        raise PaintError(f"{host}:{port} cannot be listened on: {reason(error)}.") from error
    return listening


def address_of(listening: socket.socket) -> str:
    """The http address of a socket as a client on this machine writes it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """uvicorn's, which stops at SIGINT and SIGTERM and then returns: it would raise the signal again, and a process
    ended by that never closes its browser."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {kind: signal.signal(kind, self.handle_exit) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)


def serve(app: Any, listening: socket.socket) -> None:
    """Serve `app` until SIGINT or SIGTERM; open connections are closed with code 1012 ("restart").

    wsproto, because pyppeteer holds `websockets` at a version that uvicorn has given up. Pings keep proxies from
    closing a silent connection; they are given ten minutes to come back, for a client's loop may stand still while its
    model writes.
    """
    config = uvicorn.Config(
        app, ws="wsproto", ws_max_size=LARGEST, ws_ping_interval=20, ws_ping_timeout=600, lifespan="on",
        log_config=None, access_log=False, timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    Server(config).run(sockets=[listening])


class TooLarge(Exception):
    """The body of a request is larger than LARGEST."""


async def body_of(request: Request) -> bytes:
    """The whole body, in a buffer of this request's own. Raises TooLarge; no more than LARGEST is ever kept.

    The rest of a larger one is read and forgotten, up to four times as much: a client that is still sending would not
    hear why it is refused.
    """
    body, size = bytearray(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= LARGEST:
            body += chunk
        elif size > 4 * LARGEST:
            break
    if size > LARGEST:
        raise TooLarge
    return bytes(body)


def refusal(status: int, sentence: str, **headers: str) -> JSONResponse:
    """An error as JSON: {"error": sentence}."""
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)
