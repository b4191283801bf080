"""HPSv3 on a Space, over the published wire protocol.

POST /score `{"png_base64", "prompt"}` → `{"available", "score", "mu", "sigma"}`; `mu` is what we return. The Space's
own `score` is its squashing of mu and is ignored: ours lives in reward.py.
"""

from __future__ import annotations

import asyncio
import base64
import math
import os
from collections.abc import Sequence

import httpx2

from paintcli.backends.hub.http import Counter, NotNow, Patience, certificates, raise_for_status
from paintcli.backends.hub.spaces import Door
from paintcli.errors import Unavailable
from paintcli.painting import Painting

PATIENCE = Patience(attempts=8, attempt=120.0, total=600.0, wait=2.0)
"""An answer takes a second; one that waits behind thirty others on one GPU, half a minute."""


class ScorerSpace:
    """Scorer: the mu of each painting, each asked in a request of its own.

    `space` is a Space's id (owner/name) or an http(s) address. A Space that sleeps is woken by being asked. A scorer
    with a token of its own gets PAINT_SCORER_TOKEN; a private Space the Hub's instead, which stands before it.
    """

    def __init__(self, space: str, *, concurrent: int = 4, patience: Patience = PATIENCE) -> None:
        self.name = f"hub:{space}"
        self._patience = patience
        self._door = Door(space)
        self._counter = Counter(self.name, concurrent, self._door.coming)

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        """mu of each painting, in order. Raises Unavailable when one got no number, PaintError without access."""
        return list(await asyncio.gather(*(self._score(painting, prompt) for painting in paintings)))

    async def _score(self, painting: Painting, prompt: str) -> float:
        if painting.png is None:
            raise ValueError("this painting has no picture")
        body = {"png_base64": base64.b64encode(painting.png).decode("ascii"), "prompt": prompt}

        async def once() -> float:
            try:
                address, headers = await self._door.find()
            except Unavailable as outage:
                raise NotNow(str(outage).rstrip(".")) from None
            if token := os.environ.get("PAINT_SCORER_TOKEN"):
                headers = {"Authorization": f"Bearer {token}", **headers}
            async with httpx2.AsyncClient(verify=certificates(), timeout=self._patience.attempt) as client:
                response = await client.post(f"{address}/score", json=body, headers=headers)
            raise_for_status(response)
            try:
                answer = response.json()
            except ValueError:
                raise NotNow("an answer that is not JSON") from None
            return read(answer)

        return await self._counter.ask(once, self._patience)


def read(answer: object) -> float:
    """mu of a scorer's answer. Raises NotNow for every answer that holds no finite number."""
    if not isinstance(answer, dict):
        raise NotNow("an answer of the wrong shape")
    if answer.get("available") is not True:
        raise NotNow("the scorer says it is not available")
    mu = answer.get("mu")
    if isinstance(mu, bool) or not isinstance(mu, (int, float)) or not math.isfinite(mu):
        raise NotNow("an answer without a number for mu")
    return float(mu)
