"""A spec string becomes a backend: `local`, `taste`, `hpsv3[:path]`, `vlm:model`, `hf:model`, `gguf:…`, `hub[:what]`.

Modules are imported only once their spec was chosen. What is wrong with a spec, or missing for it, is said here, at
the start of a command, in one sentence; weights are read and sockets opened at the first question.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from paintcli.errors import UsageError
from paintcli.settings import cluster_of

if TYPE_CHECKING:
    from paintcli.backends.hub.http import Patience
    from paintcli.backends.local import Precision
    from paintcli.backends.protocols import Comparer, Critic, Generator, Renderer, Scorer
    from paintcli.pool import Pool


def label(spec: str) -> str:
    """How a chosen judge or scorer is named in every output: the embedded one always says that it stands in."""
    return "taste (stand-in)" if spec == "taste" else spec


def make_renderer(spec: str, *, workers: int = 2, deadline: float = 30.0) -> Renderer:
    """`local`: the Chromium of this machine; `hub:` an OpenEnv environment, on a Space (owner/name) or at an address.

    `workers` sketches at once, or Workers that name a cluster: the Chromium of its machines. `deadline` in seconds a
    painting, where it is ours to set: an environment has its own.
    """
    kind, what = _split(spec)
    if (kind, what) == ("local", "") and (address := cluster_of(workers)) is not None:
        from paintcli.backends.cluster import RayRenderer

        return RayRenderer(address, partial(make_renderer, "local", workers=1, deadline=deadline))
    if (kind, what) == ("local", ""):
        from paintcli.backends.chromium import ChromiumRenderer

        return ChromiumRenderer(workers=workers, deadline=deadline)
    if kind == "hub":
        if not what:
            raise UsageError("The renderer hub needs a Space: hub:<owner>/<space>, or hub:http://… for one that runs.")
        if cluster_of(workers) is not None:
            raise UsageError("An environment paints with workers of its own: --workers ray goes with --renderer local.")
        from paintcli.backends.hub.renderer import EnvironmentRenderer

        return EnvironmentRenderer(what, workers=workers)
    raise _unknown("renderer", spec, "local, hub:<owner>/<space>")


def make_scorer(spec: str, pool: Pool | None = None, workers: int = 1) -> Scorer:
    """`taste` needs a `pool`; `hpsv3` the weights; `hub:` a Space (owner/name) or the address of a scorer.

    With `workers` that name a cluster, hpsv3 is on its GPUs where it has some.
    """
    kind, what = _split(spec)
    if kind == "taste" and not what:
        return _taste(pool)
    if kind == "hpsv3":
        from paintcli.backends.hpsv3 import HPSv3

        return _on_gpus(partial(HPSv3, what or None, precision=_precision()), workers)
    if kind == "hub":
        if not what:
            raise UsageError("The scorer hub needs a Space: hub:<owner>/<space>, or hub:http://… for one that runs.")
        from paintcli.backends.hub.scorer import ScorerSpace

        return ScorerSpace(what)
    raise _unknown("scorer", spec, "taste, hpsv3, hpsv3:<path>, hub:<owner>/<space>")


def make_comparer(spec: str, pool: Pool | None = None, workers: int = 1) -> Comparer:
    """`taste` needs a `pool`; `vlm:` and `gguf:` name models of this machine; `hub` asks an Inference Provider.

    With `workers` that name a cluster, a `vlm:` is on its GPUs where it has some.
    """
    kind, what = _split(spec)
    if kind == "taste" and not what:
        return _taste(pool)
    if kind == "vlm" and what:
        from paintcli.backends.vlm import Vlm

        return _on_gpus(partial(Vlm, what, precision=_precision()), workers)
    if kind == "gguf" and what:
        from paintcli.backends.gguf import Gguf

        model, plus, mmproj = what.rpartition("+")
        if not plus:
            raise UsageError(f"A judge needs eyes: gguf:<model.gguf>+<mmproj.gguf>, not {spec!r}.")
        return Gguf(model, mmproj)
    if kind == "hub":
        from paintcli.backends.hub.provider import JUDGE, Provider

        return Provider(what or JUDGE)
    raise _unknown("judge", spec, "taste, vlm:<model>, gguf:<model.gguf>+<mmproj.gguf>, hub, hub:<model>")


def make_generator(spec: str, *, tokens: int = 8192, timeout: float = 600.0) -> Generator:
    """`hub:<model>` asks an Inference Provider, `hub:http://…` a server of one's own; `hf:` and `gguf:` name models of
    this machine. A reply has at most `tokens` tokens; a server is given `timeout` seconds for it, and two retries."""
    kind, what = _split(spec)
    if kind == "hub" and what:
        from paintcli.backends.hub.provider import Provider

        return Provider(what, writing=_patience(timeout), max_tokens=tokens)
    if kind == "hf" and what:
        from paintcli.backends.policy import Writer

        return Writer(what, tokens=tokens, precision=_precision())
    if kind == "gguf" and what:
        from paintcli.backends.gguf import GgufWriter

        return GgufWriter(what, tokens=tokens)
    raise _unknown("generator", spec, "hub:<model>, hf:<model>, gguf:<model.gguf>")


def make_critic(spec: str, *, timeout: float = 600.0) -> Critic:
    """`hub` or `hub:<model>`: a vision model of an Inference Provider, given `timeout` seconds and two retries."""
    kind, what = _split(spec)
    if kind == "hub":
        from paintcli.backends.hub.provider import JUDGE, Provider

        return Provider(what or JUDGE, writing=_patience(timeout), max_tokens=1024)
    raise _unknown("critic", spec, "hub, hub:<model>")


def _patience(timeout: float) -> Patience:
    from paintcli.backends.hub.http import Patience

    return Patience(attempts=3, attempt=timeout, total=3 * timeout + 60)


def _on_gpus(make: Callable[[], Any], workers: int) -> Any:
    """The model that `make` makes: by every GPU of the cluster that works, on this machine where it has none."""
    address = cluster_of(workers)
    if address is None:
        return make()
    from paintcli.backends.cluster import RayModel, count

    return RayModel(address, make) if count(address, "GPU") else make()


def _split(spec: str) -> tuple[str, str]:
    kind, _, what = spec.strip().partition(":")
    return kind, what


def _precision() -> Precision:
    """PAINT_PRECISION: fp32, bf16 (the default), 8bit or 4bit, for every model loaded by transformers."""
    from paintcli.backends.local import PRECISIONS

    precision = os.environ.get("PAINT_PRECISION") or "bf16"
    if precision not in PRECISIONS:
        raise UsageError(f"PAINT_PRECISION is one of {', '.join(PRECISIONS)}, not {precision!r}.")
    return cast("Precision", precision)


def _taste(pool: Pool | None) -> Any:
    from paintcli.backends.taste import Taste

    if pool is None:
        raise UsageError("taste learns from a rated pool: name one with --pool.")
    return Taste(pool)


def _unknown(role: str, spec: str, known: str) -> UsageError:
    return UsageError(f"There is no {role} {spec!r}; choose {known}.")
