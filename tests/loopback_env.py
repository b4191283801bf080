"""An OpenEnv environment on this machine that answers as the published one does, and misbehaves as told."""

import asyncio
import base64
import json
from contextlib import contextmanager

import websockets

from paintcli.backends.loop import Loop

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


class Server:
    """A published-like environment: one observation a reply, at most `places` sessions, faults on demand.

    `observe(response, options)`, awaited, gives the fields that are other than in OBSERVED.
    """

    def __init__(self, places=8, faults=(), observe=None):
        self.places, self.faults, self.observe = places, list(faults), observe
        self.now = self.most = self.episodes = 0
        self.resets, self.options = [], {}

    async def __call__(self, socket):
        if self.now >= self.places:
            await socket.send(json.dumps({"type": "error", "data": {"code": "CAPACITY_REACHED", "message": "full"}}))
            return
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            async for message in socket:
                if not await self.answer(socket, json.loads(message)):
                    return
        finally:
            self.now -= 1

    async def answer(self, socket, message):
        kind, data = message["type"], message["data"]
        if kind == "close":
            return False
        if kind == "reset":
            self.resets.append(data)
            self.options[socket] = data
            observation = {"prompt": "Paint it.", "system_prompt": "You paint."}
        else:
            fault = self.faults.pop(0) if self.faults else None
            if fault == "close":
                return False
            if fault == "silent":
                await asyncio.sleep(1.0)
            if fault == "garbage":
                await socket.send("<html>")
                return True
            if fault and fault.isupper():
                await socket.send(json.dumps({"type": "error", "data": {"code": fault, "message": "why"}}))
                return True
            await asyncio.sleep(0.02)
            self.episodes += 1
            observation = {**OBSERVED, "echo": data["response"], "seed": self.options[socket]["seed"]}
            if self.observe:
                observation |= await self.observe(data["response"], self.options[socket])
        await socket.send(json.dumps({"type": "observation", "data": {"observation": observation, "reward": 0.5}}))
        return True


OBSERVED = {
    "gate_passed": True, "violations": [], "js_errors": [], "render_unavailable": False, "judged": True,
    "judge_score": 0.75, "judge_weight": 0.6, "quality_scored": True, "quality_score": 0.5, "length_score": 0.2,
    "paint_fraction": 0.21, "image": base64.b64encode(PNG).decode(),
}  # fmt: skip


@contextmanager
def listening(server, port=0):
    """Serve in a thread of its own; yields the http address."""
    loop = Loop()

    async def begin():
        return await websockets.serve(server, "127.0.0.1", port, max_size=None)

    async def end():
        made.close()
        await made.wait_closed()

    made = loop.run(begin())
    try:
        yield f"http://127.0.0.1:{made.sockets[0].getsockname()[1]}"
    finally:
        loop.run(end())
        loop.close()
