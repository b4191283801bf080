"""Sketches that attack the renderer, and a renderer that is attacked: who is blamed, and what is left behind."""

import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from paintcli.backends.chromium import ChromiumRenderer, probe_gl
from paintcli.errors import Unavailable

pytestmark = pytest.mark.browser
SETUP = "function setup() { createCanvas(600, 600, WEBGL); noLoop(); }\n"
HONEST = (
    SETUP + "function draw() { background(250); brush.noStroke(); brush.fill('#c33', 200); brush.circle(0, 0, 150); }"
)
DEADLINE = 30
SHORT = 2
"""Seconds for sketches that take as many as they get."""


def drawing(body: str) -> str:
    return f"{SETUP}function draw() {{ background(250); {body} }}"


# What must be refused, and with which faults; a bomb may be cut down by the clock or by a limit, whichever is first.
FAULTS = {
    "endless loop": (drawing("while (true) {}"), {"render_timeout"}),
    "endless top level": ("while (true) {}", {"render_timeout"}),
    "endless regular expression": (drawing("/(a+)+$/.test('a'.repeat(60) + 'b');"), {"render_timeout"}),
    "setup that waits for ever": (
        "async function setup() { createCanvas(600, 600, WEBGL); await new Promise(() => {}); }",
        {"render_timeout"},
    ),
    "heap bomb": (
        drawing("const a = []; while (true) a.push(new Array(10000).fill(a.length));"),
        {"render_failed", "render_timeout"},
    ),
    "typed array bomb": (
        drawing("const a = []; while (true) a.push(new Float64Array(1e7).fill(1));"),
        {"render_failed", "render_timeout"},
    ),
    "pixel density bomb": (drawing("pixelDensity(30);"), {"render_failed", "render_timeout"}),
    "leaves its page": (drawing("location = 'about:blank';"), {"render_failed"}),
    "reloads": (drawing("location.reload();"), {"render_failed"}),
}
# What is no fault of the renderer's to report: a picture, and the facts for the gate.
ODD = {
    "30,000² canvas": (SETUP.replace("600, 600", "30000, 30000") + "function draw() {}", None),
    "rejection": ("Promise.reject(new Error('no'));\n" + HONEST, None),
    "dialog": (drawing("try { alert(1); } catch (e) {} try { confirm(1); } catch (e) {}"), "page.alert"),
    "frame's dialog": (
        drawing("const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.alert(1);"),
        "page.dialog",
    ),
    "navigation": (drawing("location = 'http://127.0.0.1:9/';"), "page.navigate"),
    "popup": (
        drawing(
            "const a = document.createElement('a'); a.href = 'about:blank'; a.target = '_blank'; a.click();"
            "try { open('about:blank'); } catch (e) {}"
        ),
        "page.open",
    ),
    "closes itself": (drawing("try { close(); } catch (e) {}"), "page.close"),
}


def browser_of(renderer: ChromiumRenderer) -> psutil.Process:
    return psutil.Process(renderer._studio._browser.process.pid)


def processes(renderer: ChromiumRenderer, kind: str) -> list[psutil.Process]:
    children = browser_of(renderer).children(recursive=True)
    return [child for child in children if f"--type={kind}" in words(child)]


def words(process: psutil.Process) -> list[str]:
    """Its command line; none of one that ended while it was looked at."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def soon(condition, seconds: float = 60.0) -> bool:
    """Whether `condition` comes to hold; the limit only says that it never will."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=2, deadline=DEADLINE) as made:
        yield made


def honest(renderer: ChromiumRenderer) -> None:
    painting = renderer.render_sync(HONEST)
    assert painting.fault is None and painting.coverage > 0.05, painting


@pytest.mark.parametrize("name", FAULTS)
def test_the_sketch_is_blamed_and_the_next_one_paints(renderer, monkeypatch, name):
    source, faults = FAULTS[name]
    with monkeypatch.context() as impatient:
        impatient.setattr(renderer, "deadline", SHORT)
        painting = renderer.render_sync(source)
    assert painting.fault in faults and painting.png is None and painting.fault_detail
    honest(renderer)


@pytest.mark.parametrize("name", ODD)
def test_odd_behaviour_is_noted_and_gains_nothing(renderer, name):
    source, noted = ODD[name]
    painting = renderer.render_sync(source)
    assert painting.fault is None and painting.png is not None
    assert noted is None or painting.calls[noted] > 0
    honest(renderer)


def test_a_neighbour_of_a_bomb_is_painted(renderer, monkeypatch):
    monkeypatch.setattr(renderer, "deadline", 5)  # for the neighbours too
    bombs = [FAULTS[name][0] for name in ("heap bomb", "typed array bomb", "endless loop")]
    with ThreadPoolExecutor(6) as pool:
        bombed = [pool.submit(renderer.render_sync, bomb) for bomb in bombs]
        paintings = [pool.submit(renderer.render_sync, HONEST) for _ in range(6)]
        assert all(future.result().fault is None for future in paintings)
        assert all(future.result().fault for future in bombed)


SLOW = drawing(
    "brush.noStroke(); const t = Date.now(); for (let i = 0; i < 8; i++) { brush.fill('#c33', 200); "
    "brush.circle(0, 0, 150); }"
)


@pytest.mark.parametrize("victim", ["browser", "renderer", "gpu-process"])
def test_a_process_killed_from_outside_is_nobodys_fault(victim):
    with ChromiumRenderer(workers=2, deadline=30) as renderer, ThreadPoolExecutor(2) as pool:
        honest(renderer)
        futures = [pool.submit(renderer.render_sync, SLOW) for _ in range(2)]
        time.sleep(0.5)
        for process in [browser_of(renderer)] if victim == "browser" else processes(renderer, victim):
            process.kill()
        for future in futures:
            painting = future.result()
            assert painting.fault is None and painting.coverage > 0.05


def test_a_page_that_was_given_no_processor_time_is_not_blamed():
    with ChromiumRenderer(workers=1, deadline=2) as renderer:
        honest(renderer)
        done = threading.Event()

        def stop_every_page():
            while not done.is_set():
                for process in processes(renderer, "renderer"):
                    process.suspend()
                time.sleep(0.05)

        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(renderer.render_sync, SLOW)
            time.sleep(0.4)
            stopper = threading.Thread(target=stop_every_page)
            stopper.start()
            try:
                with pytest.raises(Unavailable):
                    future.result()
            finally:
                done.set()
                stopper.join()


def test_a_browser_that_cannot_start_is_unavailable(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    program.chmod(0o755)
    with ChromiumRenderer(chromium=program, gl="llvmpipe") as renderer, pytest.raises(Unavailable, match="no display"):
        renderer.render_sync(HONEST)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process with its parent")
def test_the_browser_dies_with_us_even_when_we_are_killed():
    code = (
        "import sys, time; from paintcli.backends.chromium import ChromiumRenderer\n"
        f"r = ChromiumRenderer(1, gl={probe_gl().name!r}); r.render_sync({HONEST!r})\n"
        "print(r._studio._browser.process.pid, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    browser = psutil.Process(int(child.stdout.readline()))
    family = [browser, *browser.children(recursive=True)]
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert soon(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in family))


def test_an_exit_without_close_leaves_no_browser():
    code = (
        "from paintcli.backends.chromium import ChromiumRenderer\n"
        f"r = ChromiumRenderer(1, gl={probe_gl().name!r}); r.render_sync({HONEST!r})\n"
        "print(r._studio._browser.process.pid, r._studio._browser.process.folder, flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    pid, folder = done.stdout.split()
    assert done.returncode == 0 and done.stderr == ""
    assert not psutil.pid_exists(int(pid)) and not Path(folder).exists()


# -- many in a row -----------------------------------------------------------------------------------------------------


def mixture(renders: int, seed: int) -> list[str]:
    """Names of FAULTS and ODD, "kill browser", "kill page" and "honest", in random order; a third are honest."""
    chance = random.Random(seed)
    others = [*FAULTS, *ODD, "kill browser", "kill page"]
    return [chance.choice(others) if chance.random() < 0.65 else "honest" for _ in range(renders)]


def run_mixture(renders: int, seed: int, folder: Path) -> None:
    def one(renderer, name):
        if name in FAULTS:
            try:
                painting = renderer.render_sync(FAULTS[name][0])
            except (
                Unavailable
            ):  # the machine is so busy that a bomb is starved: no blame, as it should be, but not often
                starved.append(name)
                return True
            return painting.fault in FAULTS[name][1] or (name, painting)
        if name in ODD:
            painting = renderer.render_sync(ODD[name][0])
            return painting.fault is None or (name, painting)
        if name.startswith("kill"):
            try:
                target = browser_of(renderer) if name == "kill browser" else processes(renderer, "renderer")[-1]
                target.kill()
            except (psutil.Error, AttributeError, IndexError):
                pass  # already dead, or not started yet
        painting = renderer.render_sync(HONEST)
        return (painting.fault is None and painting.coverage > 0.05) or (name, painting)

    me = psutil.Process()
    starved: list[str] = []
    with ChromiumRenderer(workers=2, deadline=3) as renderer:
        honest(renderer)
        sizes = []
        with ThreadPoolExecutor(2) as pool:
            names = mixture(renders, seed)
            for start in range(0, renders, 30):
                wrong = [r for r in pool.map(lambda n: one(renderer, n), names[start : start + 30]) if r is not True]
                assert not wrong
                sizes.append(me.memory_info().rss)
        honest(renderer)
        # One page more than there are painters; a blank window of the browser's own takes up to two processes.
        assert soon(lambda: renderer._studio._browser.pages <= 3), renderer._studio._browser._pages
        assert soon(lambda: len(processes(renderer, "renderer")) <= 5), processes(renderer, "renderer")
        assert len(starved) <= renders / 10
        if len(sizes) > 3:
            assert sizes[-1] < sizes[1] * 1.3 + 20e6
    assert soon(lambda: not [c for c in me.children(recursive=True) if "chromium" in " ".join(words(c))])
    assert list(folder.iterdir()) == []


def test_fifteen_renders_with_faults_mixed_in(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # so that what is left behind is ours
    run_mixture(15, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_three_hundred_renders_with_faults_mixed_in(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_mixture(300, 2, tmp_path)
