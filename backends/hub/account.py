"""Whose token this machine holds, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass

from paintcli.backends.hub.spaces import asked

RIGHTS = {
    "repo.write": "publish and push runs",
    "inference.serverless.write": "ask Inference Providers",
    "job.write": "run Jobs",
}
"""What this project asks of a token, by the Hub's names of the permissions."""


@dataclass(frozen=True)
class Account:
    """`role`: "read", "write" or "fineGrained"; `lacks`: what it may not do, in words of RIGHTS."""

    name: str
    role: str
    lacks: tuple[str, ...]


def whoami() -> Account:
    """The account of the saved token. Raises PaintError when the Hub refuses it, Unavailable without an answer."""
    from huggingface_hub import HfApi

    me = asked("The Hub", lambda: HfApi().whoami())
    token = (me.get("auth") or {}).get("accessToken") or {}
    role = str(token.get("role") or "unknown")
    if role == "fineGrained":
        given = token.get("fineGrained") or {}
        allowed = {*given.get("global", ()), *(p for scope in given.get("scoped", ()) for p in scope["permissions"])}
        lacks = tuple(words for permission, words in RIGHTS.items() if permission not in allowed)
    else:  # a token that reads may ask Inference Providers too
        lacks = ("publish and push runs", "run Jobs") if role == "read" else ()
    return Account(str(me["name"]), role, lacks)
