"""Past one machine: real Ray nodes, real browsers on them, and nodes that die."""

import asyncio
import hashlib
import os
from functools import partial
from pathlib import Path

import pytest

from paintcli.backends.protocols import Comparer, Renderer
from paintcli.backends.specs import make_comparer, make_renderer
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.settings import Workers, cluster_of
from paintcli.training import recipe as recipes

HONEST = sorted((Path(__file__).parent / "corpus" / "honest").glob("*.js"))[:40]


# -- without a cluster -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "address"), [("3", None), ("ray", ""), ("ray:10.0.0.7:6379", "10.0.0.7:6379")])
def test_workers_are_a_number_or_a_cluster(text, address):
    workers = Workers.read(text)
    assert (cluster_of(workers), str(workers)) == (address, text)
    assert workers == (3 if address is None else 512)


@pytest.mark.parametrize("text", ["ray:", "rays", "two", "2.5", "ray 2"])
def test_what_is_neither_is_one_sentence(paint, tmp_path, text):
    (tmp_path / "dot.js").write_text("function setup() {}")
    ran = paint("render", tmp_path / "dot.js", "--workers", text)
    assert (ran.code, ran.out) == (2, "")
    assert f"workers must be a number, ray or ray:ADDRESS, not '{text}'." in ran.err


def test_a_recipe_keeps_its_cluster(tmp_path):
    made = recipes.compose("judge-led", None, {"workers": "ray:head:6379"})
    (tmp_path / recipes.FILE).write_text(made.toml())
    assert cluster_of(recipes.Recipe.read(tmp_path).workers) == "head:6379"
    longer = recipes.resumed(made, recipes.again(made, None, None, {"workers": 4}))
    assert (longer.workers, cluster_of(longer.workers)) == (4, None)


def test_an_environment_has_workers_of_its_own():
    with pytest.raises(UsageError, match=r"--workers ray goes with --renderer local\.$"):
        make_renderer("hub:http://127.0.0.1:1", workers=Workers.read("ray"))
    with pytest.raises(UsageError, match=r"leave out --workers ray, or --env-url\.$"):
        recipes.compose("judge-led", None, {"workers": "ray", "env_url": "http://127.0.0.1:1"})


# -- with one ----------------------------------------------------------------------------------------------------------


class Backend:
    """What an actor can hold; every answer says which process gave it."""

    def __init__(self, refuse: str = "") -> None:
        if refuse:
            raise PaintError(refuse)

    async def twice(self, number: int) -> tuple[int, int]:
        await asyncio.sleep(0.05)
        return 2 * number, os.getpid()

    async def fail(self, sentence: str) -> None:
        raise Unavailable(sentence)

    async def die(self) -> None:
        os._exit(1)


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes of two cores each on this machine; the driver joins the first."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # the nodes' actors hold what this file defines
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "num_gpus": 1, "include_dashboard": False})
    nodes.second = nodes.add_node(num_cpus=2)
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(1200)
def test_a_node_killed_half_way_costs_no_painting(cluster):
    """40 sketches on two nodes, one killed after the 15th: 40 paintings, byte for byte those of this machine."""
    assert len(HONEST) == 40
    sources = [path.read_text("utf-8") for path in HONEST]
    killed = []

    async def paint_all(renderer, kill_after=None):
        done = []

        async def one(source, seed):
            painting = await renderer.render(source, seed)
            done.append(seed)
            if len(done) == kill_after:
                await asyncio.to_thread(cluster.remove_node, cluster.second, allow_graceful=False)
                killed.append(len(done))
            return painting

        return await asyncio.gather(*(one(source, seed) for seed, source in enumerate(sources)))

    with make_renderer("local", workers=Workers.read(f"ray:{cluster.address}"), deadline=120) as far:
        assert isinstance(far, Renderer)
        there = asyncio.run(paint_all(far, kill_after=15))
    with make_renderer("local", workers=2, deadline=120) as near:
        here = asyncio.run(paint_all(near))
    assert killed and killed[0] < 40
    assert [p.fault for p in there] == [None] * 40
    assert [p.seed for p in there] == list(range(40))
    assert [hashlib.sha256(p.png).hexdigest() for p in there] == [hashlib.sha256(p.png).hexdigest() for p in here]
    assert [p.calls for p in there] == [p.calls for p in here]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_actors_answer_refuse_and_die_of(cluster):
    from paintcli.backends.cluster import Crew

    async def many(crew):
        return await asyncio.gather(*(crew.ask("twice", n) for n in range(60)))

    async def trouble(crew):
        return await asyncio.gather(
            crew.ask("die"), crew.ask("fail", "The scorer is down."), *(crew.ask("twice", n) for n in range(20)),
            return_exceptions=True,
        )  # fmt: skip

    with Crew(cluster.address, Backend, seats=3, cpus=1) as crew:
        crew.load()
        answers = asyncio.run(many(crew))
        assert [a for a, _ in answers] == [2 * n for n in range(60)]
        deadly, down, *rest = asyncio.run(trouble(crew))
        assert isinstance(deadly, Unavailable) and "actors of the cluster died" in str(deadly)
        assert isinstance(down, Unavailable) and str(down) == "The scorer is down."
        assert [r[0] for r in rest] == [2 * n for n in range(20)]  # whoever shared an actor with it was asked again
        with pytest.raises(TypeError):
            asyncio.run(crew.ask("fail", (n for n in range(2))))  # cannot be pickled
        assert asyncio.run(crew.ask("twice", 4))[0] == 8  # the crew lives on
    with (
        Crew(cluster.address, partial(Backend, "No browser here."), seats=2, cpus=1) as crew,
        pytest.raises(Unavailable, match=r"^No node of the cluster can do it: No browser here\.$"),
    ):
        crew.load()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_judge_on_the_cluster_s_gpu_says_what_it_says_here(cluster, tmp_path):
    """The GPU is Ray's word for a seat: the tiny judge runs on the CPU there as here."""
    pytest.importorskip("torch")
    from tiny_vlm import save_qwen3_vl
    from washes import wash

    from paintcli.painting import Painting

    pictures = []
    for hand in ("round", "windy"):
        wash(hand, 12, 2.0, seed=1).save(tmp_path / f"{hand}.png")
        pictures.append(Painting.from_file(tmp_path / f"{hand}.png"))
    spec = f"vlm:{save_qwen3_vl(tmp_path / 'judge')}"
    here = asyncio.run(make_comparer(spec).prefer(*pictures, "softness"))
    with make_comparer(spec, None, Workers.read(f"ray:{cluster.address}")) as judge:
        assert isinstance(judge, Comparer)
        judge.load()
        assert asyncio.run(judge.prefer(*pictures, "softness")) == pytest.approx(here, abs=1e-6)


@pytest.mark.parametrize(
    ("address", "error", "sentence"),
    [
        ("127.0.0.1:9", Unavailable, r"^There is no Ray cluster at 127\.0\.0\.1:9\.$"),
        ("head", UsageError, r"^A Ray cluster's address is HOST:PORT, not 'head'\.$"),
        ("head:port", UsageError, r"^A Ray cluster's address is HOST:PORT"),
    ],
)
def test_no_cluster_is_one_sentence(address, error, sentence):
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.raises(error, match=sentence):
        make_renderer("local", workers=Workers.read(f"ray:{address}"))
