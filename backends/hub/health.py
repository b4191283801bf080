"""Would a server answer? Asked without waking a Space and without giving it work."""

from __future__ import annotations

import asyncio

import httpx2

from paintcli.backends.hub.http import certificates, is_address
from paintcli.backends.hub.spaces import COMING, Door, look
from paintcli.errors import Unavailable

PATIENCE = 5.0
"""Seconds for GET /health. A server that has none (404) is there all the same."""


async def knock(where: str) -> None:
    """Returns when the server at an address or on a Space (owner/name) is there, or on its way: a question wakes it.

    Raises Unavailable when it is not, PaintError when it refuses us.
    """
    if not is_address(where):
        stage = (await asyncio.to_thread(look, where)).stage
        if stage in COMING:
            return
        if stage != "RUNNING":
            raise Unavailable(f"The Space {where} does not run: its state is {stage}.")
    address, headers = await Door(where).find()
    try:
        async with httpx2.AsyncClient(verify=certificates(), timeout=PATIENCE) as client:
            response = await client.get(f"{address}/health", headers=headers)
    except httpx2.RequestError as error:
        raise Unavailable(f"{where} does not answer ({error or type(error).__name__}).") from error
    if response.status_code >= 500:
        raise Unavailable(f"{where} answers with status {response.status_code}.")
