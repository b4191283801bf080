"""A server on this machine that speaks JSON over HTTP and misbehaves as told: what the Hub's clients are tried on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Any
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Reply:
    """One answer. `body` is JSON unless bytes; `delay` in seconds comes before it; `cut` closes halfway through it.

    `status` 0 closes the connection without an answer; `drip` sends one byte every that many seconds.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    drip: float = 0.0


class Loopback:
    """`answer(request, number)` is called for each request, `number` counting from 0; use as a context manager.

    `requests` keeps all of them, `most` is the largest number under way at once.
    """

    def __init__(self, answer: Callable[[Request, int], Reply]) -> None:
        self.requests: list[Request] = []
        self.most = 0
        self._under_way = 0
        self._guard = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(
                    self.path,
                    {name.lower(): value for name, value in self.headers.items()},
                    json.loads(raw) if raw else None,
                )
                with outer._guard:
                    number = len(outer.requests)
                    outer.requests.append(request)
                    outer._under_way += 1
                    outer.most = max(outer.most, outer._under_way)
                try:
                    self.send(answer(request, number))
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client lost patience, as it should
                finally:
                    with outer._guard:
                        outer._under_way -= 1

            do_GET = do_HEAD = do_POST

            def send(self, reply: Reply) -> None:
                time.sleep(reply.delay)
                self.close_connection = True
                if reply.status == 0:
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if reply.drip:
                    for byte in body:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(reply.drip)
                else:
                    self.wfile.write(body[: len(body) // 2] if reply.cut else body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Loopback:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def chat(content: str | None, **message: Any) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "system_fingerprint": "f",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
