"""A server on this machine that speaks JSON over HTTP and misbehaves as told: what the Hub's clients are tried on."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


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


class Serving:
    """An HTTP server on a free port of this machine, at `address`, for as long as it is a context manager."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = self.Server(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Loopback(Serving):
    """`answer(request, number)` is called for each request, `number` counting from 0; use as a context manager.

    `requests` keeps all of them, `most` is the largest number under way at once.
    """

    def __init__(self, answer: Callable[[Request, int], Reply]) -> None:
        self.requests: list[Request] = []
        self.most = 0
        self._under_way = 0
        self._guard = threading.Lock()
        self._over = threading.Event()  # nobody sleeps on when the test is over
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                if len(raw) < length:  # whoever asked was killed, or lost patience, before the question was sent
                    self.close_connection = True
                    return
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
                self.close_connection = True
                if outer._over.wait(reply.delay) or reply.status == 0:
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
                        if outer._over.wait(reply.drip):
                            return
                else:
                    self.wfile.write(body[: len(body) // 2] if reply.cut else body)

            def log_message(self, *_: Any) -> None:
                pass

        super().__init__(Handler)

    def __exit__(self, *error: object) -> None:
        self._over.set()
        super().__exit__(*error)


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


class Scribe:
    """Models that write sketches over chat completion, as the model's name says, to be given to `Loopback`.

    What a reply says depends on nothing but the model and the request's seed. "good" writes valid sketches; "mixed" too
    in its first three flowers, later also refused ones, blank ones, prose and nothing; "wild" nothing valid; "thinker"
    only thinks; "denied" has no right; "broken" fails for ever. Whoever is asked for the first time about a flower may
    answer 503, stall for `stall` seconds or hang up: the second time it answers. `delay` seconds pass before an answer.
    """

    def __init__(self, delay: float = 0.0, stall: float = 0.0, steady: int = 0) -> None:
        self.delay, self.stall, self.steady = delay, stall, steady
        self.asked: Counter[tuple[str, int]] = Counter()
        self.answered: Counter[tuple[str, int]] = Counter()
        self._guard = threading.Lock()

    def __call__(self, request: Request, number: int) -> Reply:
        model, seed = request.body["model"], request.body["seed"]
        with self._guard:
            self.asked[model, seed] += 1
            first = self.asked[model, seed] == 1
        if model == "denied":
            return Reply({"error": "no right"}, status=403)
        if model == "broken" or (first and seed % 7 == 1):
            return Reply({"error": "busy"}, status=503, headers={"Retry-After": "0"})
        if first and self.stall and seed % 7 == 2:
            return Reply({}, delay=self.stall)
        if first and seed % 7 == 3:
            return Reply(status=0)
        with self._guard:
            self.answered[model, seed] += 1
        return Reply(self.body(model, seed, len(request.body["messages"])), delay=self.delay)

    def body(self, model: str, seed: int, messages: int) -> dict[str, Any]:
        quality = {"good": 0, "wild": 1 + seed % 4, "thinker": 5}.get(model, 0 if messages <= 2 else seed % 6)
        body = chat(fenced(seed, quality) if quality < 5 else "", **({"reasoning": "hm"} if quality == 5 else {}))
        body["usage"] = {"prompt_tokens": 100 + messages, "completion_tokens": seed % 50, "total_tokens": 0}
        return body


def fenced(seed: int, quality: int = 0) -> str:
    """A small sketch in a reply: valid (0), with text on it (1), blank (2), of an unknown method (3), or prose (4)."""
    extra = {1: 'text("rose", 9, 9);', 3: "brush.glaze();"}.get(quality, "")
    paint = "" if quality == 2 else f"brush.circle({60 + seed % 80}, 100, {30 + seed % 40});"
    sketch = (
        "function setup() { createCanvas(200, 200, WEBGL); noLoop(); }\n"
        "function draw() { background(255); translate(-100, -100); brush.noStroke(); "
        f'brush.fill("#{seed % 16:x}2{seed // 16 % 8:x}", 200); {extra} {paint} }}'
    )
    return "I would rather not." if quality == 4 else f"A flower:\n```javascript\n{sketch}\n```"
