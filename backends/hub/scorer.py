"""HPSv3 on a Space, over the published wire protocol.

POST /score `{"png_base64", "prompt"}` → `{"available", "score", "mu", "sigma"}`; `mu` is what we return. The Space's
own `score` is its squashing of mu and is ignored: ours lives in reward.py.
"""

from __future__ import annotations

import asyncio
import base64
import math
import re
import threading
from collections.abc import Sequence

import httpx2

from paintcli.backends.hub.http import Counter, NotNow, Patience, certificates, is_address, raise_for_status
from paintcli.errors import PaintError, UsageError
from paintcli.painting import Painting

PATIENCE = Patience(attempts=8, attempt=120.0, total=600.0, wait=2.0)
"""A sleeping Space takes minutes to come back: its 503s are waited out."""


class ScorerSpace:
    """Scorer: the mu of each painting, each asked in a request of its own.

    `space` is a Space's id (owner/name) or an http(s) address. A token is sent to private Spaces only: the header
    reaches the Space's own code, and a public one may be anybody's.
    """

    def __init__(self, space: str, *, concurrent: int = 4, patience: Patience = PATIENCE) -> None:
        if not is_address(space) and not re.fullmatch(r"[\w.-]+/[\w.-]+", space):
            raise UsageError(f"A Space is named owner/name, not {space!r}.")
        self.name = f"hub:{space}"
        self._space = space
        self._patience = patience
        self._counter = Counter(self.name, concurrent)
        self._guard = threading.Lock()
        self._found: tuple[str, dict[str, str]] | None = None

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        """mu of each painting, in order. Raises Unavailable when one got no number, PaintError without access."""
        return list(await asyncio.gather(*(self._score(painting, prompt) for painting in paintings)))

    async def _score(self, painting: Painting, prompt: str) -> float:
        if painting.png is None:
            raise ValueError("this painting has no picture")
        body = {"png_base64": base64.b64encode(painting.png).decode("ascii"), "prompt": prompt}

        async def once() -> float:
            address, headers = await asyncio.to_thread(self._address)
            async with httpx2.AsyncClient(verify=certificates(), timeout=self._patience.attempt) as client:
                response = await client.post(f"{address}/score", json=body, headers=headers)
            raise_for_status(response)
            try:
                answer = response.json()
            except ValueError:
                raise NotNow("an answer that is not JSON") from None
            return read(answer)

        return await self._counter.ask(once, self._patience)

    def _address(self) -> tuple[str, dict[str, str]]:
        """(address without a slash at its end, headers), asked of the Hub once."""
        from huggingface_hub import HfApi, get_token
        from huggingface_hub.errors import RepositoryNotFoundError

        with self._guard:
            if self._found is None and is_address(self._space):
                self._found = self._space.rstrip("/"), {}
            elif self._found is None:
                try:
                    info = HfApi().space_info(self._space)
                except RepositoryNotFoundError:
                    raise PaintError(f"There is no Space {self._space}, or not for your token.") from None
                if not info.host:
                    raise NotNow("the Space has no address yet")
                token = get_token() if info.private else None
                self._found = info.host.rstrip("/"), {"Authorization": f"Bearer {token}"} if token else {}
            return self._found


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
