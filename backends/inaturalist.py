"""Photos of a taxon from iNaturalist, only those anybody may use, each with its licence, author and address.

What its operators ask for is kept: at most one request a second (60 a minute; they throttle at 100), a wait when told
to, a name to know us by, and nothing asked twice: lists and photos stay in a folder on disk.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from paintcli import __version__
from paintcli.backends.hub.http import Counter, NotNow, Patience, certificates, raise_for_status
from paintcli.errors import PaintError, UsageError
from paintcli.files import append_json_line, write_atomic
from paintcli.photos import SIDECARS, UNATTRIBUTED, Photo, sidecar, unreadable
from paintcli.pool import IMAGE_SUFFIXES
from paintcli.rollouts import mend, rows

BASE_URL = "https://api.inaturalist.org/v1"
LICENCES = ("cc0", "cc-by", "cc-by-sa")
"""What a pool that others may use can be made from; no -nc, no -nd, nothing without a licence."""

PER_PAGE = 50
"""Observations asked for at once. Constant, because a list on disk is known by its number."""
REACH = 10_000
"""The API answers no further into a search than this."""

PACE = 1.0
"""Seconds from the start of one request to the start of the next."""
PATIENCE = Patience(attempts=6, attempt=60.0, total=600.0, wait=2.0, longest_wait=60.0)

SIZE = "medium"
"""500 pixels on the longer side: about what a painting has, at a tenth of the traffic of the next size."""


def fetch(
    taxon: str,
    count: int,
    cache: Path,
    *,
    told: Callable[[int], None] = lambda done: None,
    base_url: str = BASE_URL,
    pace: float = PACE,
    patience: Patience = PATIENCE,
) -> list[Photo]:
    """`count` photos of a taxon (a name, or an id of digits), the best liked first; fewer where there are no more.

    One photo an observation, of research grade: two of one plant would be one subject twice. `cache` is a folder that
    `photos.from_folder` reads; several taxa may share it, and what is in it is not asked for again, so an interrupted
    call goes on where it was. `told(done)` is called with the number of photos at hand. Blocks (`pace` seconds a
    request), so not from within an event loop. Raises UsageError for a taxon without any, Unavailable when
    iNaturalist does not answer; what was fetched until then stays.
    """
    taxon = taxon.strip()
    if not taxon:
        raise UsageError("The taxon has no name: give one like Hibiscus, or its number.")
    return asyncio.run(_Client(taxon, cache, base_url, pace, patience).fetch(count, told))


class _Client:
    def __init__(self, taxon: str, cache: Path, base_url: str, pace: float, patience: Patience) -> None:
        self.taxon, self.cache, self.base_url, self.pace, self.patience = taxon, cache, base_url, pace, patience
        self.counter = Counter("iNaturalist", 1)
        self.next = 0.0
        self.lists = cache / "lists"
        self.left_out = self.lists / "left-out.jsonl"

    async def fetch(self, count: int, told: Callable[[int], None]) -> list[Photo]:
        for file in (self.cache / SIDECARS[0], self.left_out):
            mend(file)  # a kill may have torn the last line
        at_hand = {str(row["file_name"]) for row in sidecar(self.cache)}
        unusable = {str(row["file_name"]) for row in rows(self.left_out)}
        photos: dict[str, Photo] = {}
        page = 1
        while len(photos) < count:
            found = await self.page(page)
            for row in found["photos"]:
                name = row["file_name"]
                if len(photos) == count or name in unusable or name in photos:
                    continue
                path = self.cache / name
                if not (name in at_hand and path.is_file()) and not await self.download(row):
                    continue
                photos[name] = Photo(path, row["licence"], row["attribution"], row["url"], name)
                told(len(photos))
            if not found["more"]:
                break
            page += 1
        if count and not photos:
            raise UsageError(
                f"iNaturalist has no photo of {self.taxon!r} under {', '.join(LICENCES)}; check the name of the taxon."
            )
        return list(photos.values())

    async def page(self, number: int) -> dict[str, Any]:
        """{"photos": rows of the sidecar, "more": whether another list follows}, from disk where it is there."""
        file = self.lists / f"{quote(self.taxon.lower(), safe='')}-{number}.json"
        if file.is_file():
            found: dict[str, Any] = json.loads(file.read_text("utf-8"))
            return found
        query: dict[str, str | int] = {
            "taxon_id" if self.taxon.isdigit() else "taxon_name": self.taxon,
            "photo_license": ",".join(LICENCES),
            "quality_grade": "research",
            "order_by": "votes",
            "per_page": PER_PAGE,
            "page": number,
        }

        async def once() -> dict[str, Any] | None:
            response = await self.get(f"{self.base_url}/observations", query)
            if response.status_code == 422:  # a number that is no taxon's
                return None
            if response.status_code == 403:
                raise PaintError("iNaturalist refuses to answer this machine (403): it blocks who asks too much.")
            raise_for_status(response)
            try:
                return read(response.json(), number)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise NotNow("a list of the wrong shape") from None

        answer = await self.counter.ask(once, self.patience)
        if answer is None:
            raise UsageError(f"iNaturalist does not know the taxon {self.taxon!r}.")
        write_atomic(file, json.dumps(answer, ensure_ascii=False).encode())
        return answer

    async def download(self, row: dict[str, Any]) -> bool:
        """Whether the photo is now in the folder, whole, with its row. One that is gone or no picture is not again."""
        path = self.cache / row["file_name"]

        async def once() -> bytes | None:
            response = await self.get(row["image_url"])
            if response.status_code in (403, 404, 410):  # taken down by its author since
                return None
            raise_for_status(response)
            return response.content

        # a file without its row: we were killed between the two, and it is whole
        data = path.read_bytes() if path.is_file() else await self.counter.ask(once, self.patience)
        why = "is gone"
        if data is not None:
            write_atomic(path, data)
            why = unreadable(path)
        if why:
            path.unlink(missing_ok=True)
            append_json_line(self.left_out, {"file_name": row["file_name"], "why": why})
            return False
        append_json_line(self.cache / SIDECARS[0], {**row, "taxon": self.taxon})
        return True

    async def get(self, address: str, query: dict[str, str | int] | None = None) -> httpx2.Response:
        """One request, not before its turn."""
        await asyncio.sleep(max(0.0, self.next - time.monotonic()))
        self.next = time.monotonic() + self.pace
        headers = {"User-Agent": f"paintcli/{__version__}"}
        async with httpx2.AsyncClient(verify=certificates(), timeout=self.patience.attempt) as client:
            return await client.get(address, params=query, headers=headers, follow_redirects=True)


def read(answer: dict[str, Any], number: int) -> dict[str, Any]:
    """What is kept of list `number`: one row for every observation that has a photo anybody may use.

    A search for free licences also brings observations of which only another photo is free, so every photo's own
    licence is looked at. Raises KeyError, TypeError or AttributeError for an answer of another shape.
    """
    kept = []
    for observation in answer["results"]:
        for photo in observation["photos"]:
            licence = str(photo.get("license_code") or "").lower()
            attribution = str(photo.get("attribution") or "").strip()
            if licence not in LICENCES or not (attribution or licence in UNATTRIBUTED):
                continue
            address = re.sub(r"/square(?=\.\w+)", f"/{SIZE}", str(photo["url"]), count=1)
            suffix = Path(address.partition("?")[0]).suffix.lower()
            if suffix not in IMAGE_SUFFIXES or not address.startswith(("https://", "http://")):
                continue
            kept.append(
                {
                    "file_name": f"inaturalist-{int(photo['id'])}{suffix}",
                    "licence": licence,
                    "attribution": attribution,
                    "url": f"https://www.inaturalist.org/photos/{int(photo['id'])}",
                    "image_url": address,
                    "observation": int(observation["id"]),
                }
            )
            break
    seen = number * PER_PAGE
    return {"photos": kept, "more": bool(answer["results"]) and seen < min(int(answer["total_results"]), REACH)}
