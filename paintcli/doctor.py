"""What is installed, what would answer, what it costs, and what to do about each gap. Looks, never changes anything."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from paintcli import __version__
from paintcli.errors import PaintError, Unavailable
from paintcli.settings import Settings

if TYPE_CHECKING:
    from paintcli.backends.hub.spaces import Space

State = Literal["ok", "gap", "optional"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at. "gap": painting does not work without it; "optional": something more would work with it."""

    what: str
    state: State
    detail: str
    remedy: str = ""


@dataclass(frozen=True)
class Tenant(Finding):
    """A Space. `stage` and `hardware` are the Hub's words; `dollars`: US dollars an hour while it runs, None where the
    Hub lists no price; `sleep_time` in seconds, None where none was set; `billed`: it costs that at this moment."""

    space: str = ""
    stage: str = ""
    hardware: str = ""
    dollars: float | None = None
    sleep_time: int | None = None
    billed: bool = False


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at everything, the quick things first; the browser's GL is really probed (about a second)."""
    yield Finding("paint", "ok", f"{__version__} on Python {platform.python_version()}, {os.cpu_count()} cores")
    if settings.project:
        yield Finding("project", "ok", str(settings.project))
    else:
        yield Finding(
            "project",
            "optional",
            "no paint.toml here or above",
            "`paint init` makes a folder a project: its settings, its pool/, its runs/",
        )
    yield from _page()
    yield from _models()
    yield from _backends(settings)


def spaces_of(*specs: str | None) -> list[str]:
    """The Spaces (owner/name) among specs ("hub:owner/name") and addresses of environments ("owner/name")."""
    from paintcli.backends.hub.spaces import NAME

    named = [spec.removeprefix("hub:") for spec in specs if spec]
    return list(dict.fromkeys(name for name in named if NAME.fullmatch(name)))


def named_spaces(settings: Settings) -> list[str]:
    """The Spaces that these settings and the table [train] ask. A judge is a model, never a Space."""
    table = settings.tables.get("train", {})
    return spaces_of(
        settings.renderer, settings.scorer, *(str(table.get(name, "")) for name in ("renderer", "scorer", "env_url"))
    )


def examine_hub(needed: Iterable[str], others: Iterable[str] = ()) -> Iterator[Finding]:
    """The token's rights, then every Space: the `needed` ones, `others`, and those of the account that cost money now.

    A needed Space that does not answer and will not by itself is a gap.
    """
    from huggingface_hub import get_token

    from paintcli.backends.hub import spaces
    from paintcli.backends.hub.account import whoami

    needed = list(needed)
    names = list(dict.fromkeys([*needed, *others]))
    if not get_token():
        yield Finding("token", "gap" if needed else "optional", "none", "`hf auth login`, or set HF_TOKEN")
    else:
        try:
            me = whoami()
            lacks = f"; it may not {' or '.join(me.lacks)}" if me.lacks else ""
            remedy = "another token: https://huggingface.co/settings/tokens" if me.lacks else ""
            yield Finding("token", "optional" if me.lacks else "ok", f"{me.name}'s, {_role(me.role)}{lacks}", remedy)
            names += [name for name in spaces.billed(me.name) if name not in names]
        except PaintError as error:
            yield Finding("token", "gap", str(error), "" if isinstance(error, Unavailable) else "`hf auth login`")
    if not names:
        return
    try:
        prices = spaces.prices()
    except Unavailable as outage:
        prices = {}
        yield Finding("prices", "optional", str(outage))
    running = 0.0
    for name in names:
        try:
            space = spaces.look(name)
        except PaintError as error:
            yield Finding(name, "gap" if name in needed else "optional", str(error))
            continue
        found = tenant(space, prices, name in needed)
        running += (found.dollars or 0.0) if found.billed else 0.0
        yield found
    if running:
        yield Finding("together", "optional", f"${running:.2f} an hour while they run", "pause what nobody uses")


def tenant(space: Space, prices: Mapping[str, float], needed: bool) -> Tenant:
    """What there is to say of a Space; `prices` in US dollars an hour by hardware."""
    from paintcli.backends.hub import spaces

    dollars = prices.get(space.hardware, 0.0 if space.hardware == spaces.FREE else None)
    price = "free" if dollars == 0 else "price unknown" if dollars is None else f"${dollars:.2f} an hour"
    stage = space.stage.lower().replace("_", " ")
    comes = space.stage in spaces.COMING or space.stage == "RUNNING"
    detail = (
        f"{stage} on {space.hardware}, {price}{'' if space.billed or not dollars else ' when it runs'}; {space.sleeps}"
    )
    remedy = ""
    if space.stage in spaces.STOPPED:
        remedy = f"paint doctor --hub --wake {space.name}"
    elif space.stage == "SLEEPING":
        remedy = "the first question wakes it, which takes minutes"
    elif not comes:
        remedy = f"its log says why: https://huggingface.co/spaces/{space.name}"
    elif space.billed and (space.sleep_time or 0) <= 0:
        remedy = f"paint doctor --hub --sleep-time {space.name}=15"
    state: State = ("gap" if needed else "optional") if not comes else "optional" if space.billed else "ok"
    return Tenant(
        space.name, state, detail, remedy, space=space.name, stage=space.stage, hardware=space.hardware,
        dollars=dollars, sleep_time=space.sleep_time, billed=space.billed,
    )  # fmt: skip


def _role(role: str) -> str:
    return {"write": "a token that writes", "read": "a token that only reads", "fineGrained": "fine-grained"}.get(
        role, "of an unknown kind"
    )


def _page() -> Iterator[Finding]:
    from paintcli.backends.chromium import find_chromium, find_libraries, probe_gl
    from paintcli.backends.chromium.libraries import LIBRARIES

    try:
        find_libraries()
        names = ", ".join(f"{library.name} {library.version}" for library in LIBRARIES)
        yield Finding("page libraries", "ok", f"{names} (integrity checked)")
    except PaintError as error:
        yield Finding("page libraries", "gap", str(error), "they come from npm, once, checked by their hashes")
        return
    try:
        chromium = find_chromium()
    except PaintError as error:
        yield Finding("browser", "gap", str(error), "install Chromium or Chrome, or set PAINT_CHROMIUM to it")
        return
    yield Finding("browser", "ok", str(chromium))
    try:
        gl = probe_gl()
    except PaintError as error:
        yield Finding("GL", "gap", str(error), "see whether the browser starts by itself in a terminal")
        return
    exact = gl.name == "llvmpipe"
    promise = "equal seeds paint equal bytes" if exact else "equal seeds paint alike, a few pixels may differ"
    yield Finding(
        "GL",
        "ok",
        f"{gl.name}: {promise}",
        "" if exact else "Mesa's llvmpipe (Debian: libgl1-mesa-dri) paints byte-equal",
    )
    if os.environ.get("PAINT_SANDBOX") == "off":
        yield Finding("sandbox", "optional", "off: PAINT_SANDBOX says so", "only in a container, which is one itself")
    elif hasattr(os, "geteuid") and os.geteuid() == 0:
        yield Finding("sandbox", "optional", "off: Chromium has none for root", "run paint as an ordinary user")
    else:
        yield Finding("sandbox", "ok", "on")


def _models() -> Iterator[Finding]:
    for package, module, use, extra in (
        ("torch", "torch", "training, HPSv3 and local judges", "train"),
        ("transformers", "transformers", "HPSv3 and local judges", "train"),
        ("trl", "trl", "training", "train"),
        ("peft", "peft", "training", "train"),
        ("bitsandbytes", "bitsandbytes", "4-bit models", "train"),
        ("datasets", "datasets", "published pools and rollouts", "train"),
        ("trackio", "trackio", "live curves", "train"),
        ("llama-cpp-python", "llama_cpp", "gguf: judges", "gguf"),
        ("ray", "ray", "workers on a cluster", "ray"),
        ("pyarrow", "pyarrow", "rollouts in Parquet files", "parquet"),
    ):
        if find_spec(module):
            yield Finding(package, "ok", f"{_version(package)}: {use}")
        else:
            yield Finding(package, "optional", f"not installed: {use}", f"pip install 'paintcli[{extra}]'")
    if find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            memory = torch.cuda.get_device_properties(0).total_memory / 2**30
            yield Finding("GPU", "ok", f"{torch.cuda.get_device_name(0)}, {memory:.0f} GiB")
        else:
            yield Finding(
                "GPU", "optional", "none seen by torch", "the 35B recipe wants one H200; the control task none"
            )


def _backends(settings: Settings) -> Iterator[Finding]:
    from huggingface_hub import get_token

    yield Finding("renderer, scorer, judge", "ok", f"{settings.renderer}, {settings.scorer}, {settings.judge}")
    if get_token():
        yield Finding("Hugging Face token", "ok", "found; it never enters the browser's environment")
    else:
        yield Finding("Hugging Face token", "optional", "none: hub: backends do not answer", "`hf auth login`")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # importable without metadata: built into the system
        return "?"
