"""A run as a Job: what it is told and what goes along; following and cancelling against a loopback Hub."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("peft")

from paintcli.backends.hub import jobs
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.training import hub, recipe
from paintcli.training.survey import survey


def plan(**values):
    chosen = recipe.compose("judge-led", None, values)
    return hub.plan(chosen, survey(chosen, "hub"), "tag")


def test_the_same_recipe_on_an_h200_with_the_time_of_the_plan():
    made = plan(learning_rate=1e-5, experts=True, device="cpu", workers=1)
    assert made.arguments[:2] == ("--mix", "judge-led")
    assert "learning_rate=1e-05" in made.arguments and "experts=true" in made.arguments
    assert not [a for a in made.arguments if a.startswith(("device=", "workers="))]
    command = made.job.command()
    assert "--flavor h200" in command and f"--timeout {made.job.hours}h" in command
    assert "--secrets HF_TOKEN" in command and "hf_" not in command  # the secret's name, never its value
    assert "file:///data/paintcli-" in command and not made.carried
    # read back inside the Job, the arguments make the same recipe but for what describes a machine
    sets = recipe.assignments([a for a in made.arguments if "=" in a])
    again = recipe.compose("judge-led", None, sets)
    wanted = recipe.compose("judge-led", None, {"learning_rate": 1e-5, "experts": True})
    assert again == wanted


def test_what_lies_on_this_disk_goes_along(tmp_path):
    (tmp_path / "pool").mkdir()
    (tmp_path / "roses.toml").write_text("")
    made = plan(
        pool=str(tmp_path / "pool"), domain=str(tmp_path / "roses.toml"), warm_start=f"{tmp_path}/pool:tier=love"
    )
    assert made.carried == {
        "pool": tmp_path / "pool", "domain.toml": tmp_path / "roses.toml", "warm-start": tmp_path / "pool"
    }  # fmt: skip
    for word in ("pool={inputs}/pool", "domain={inputs}/domain.toml", "warm_start={inputs}/warm-start:tier=love"):
        assert word in made.arguments
    assert str(tmp_path) not in " ".join(made.arguments)
    assert "pool=hub:someone/paintings" in plan(pool="hub:someone/paintings").arguments


def test_a_judge_on_this_disk_cannot_go_along():
    with pytest.raises(UsageError, match="lies on this disk; for a Job name one the Hub has"):
        plan(judge="gguf:a.gguf+b.gguf")


def test_a_dry_run_prints_the_command(paint, tmp_path):
    ran = paint("train", "--mix", "hps-only", "--where", "hub", "--dry-run", "--json", "--run-tag", "tag")
    shown = json.loads(ran.out)
    assert shown["command"].startswith("hf jobs uv run --flavor h200 --timeout ") and shown["repo"] == "paint-tag"
    assert shown["timeout_hours"] * 3600 > 1.5 * shown["run_hours"] * 3600


def test_no_token(paint, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    (tmp_path / "job.json").write_text('{"job": "j1", "repo": "me/paint-tag"}')
    ran = paint("train", "--where", "hub", "--cancel", "-o", tmp_path)
    assert ran.code == 2 and "log in first" in ran.err
    none = paint("train", "--where", "hub", "--resume", "-o", tmp_path / "other")
    assert none.code == 2 and "has no Job" in none.err


class Hub(BaseHTTPRequestHandler):
    """Enough of the Jobs API: a log that breaks off in the middle once, stages, cancel."""

    lines = [f"step {i}" for i in range(6)]  # noqa: RUF012
    state = None

    def do_GET(self):
        state = self.server.state
        if self.path.endswith("/logs"):
            state["streams"] += 1
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            shown = self.lines[:3] if state["streams"] == 1 else self.lines
            for line in shown:
                self.wfile.write(
                    f"data: {json.dumps({'data': line, 'timestamp': '2026-01-01T00:00:00Z'})}\n\n".encode()
                )
            if state["streams"] > 1:
                state["stage"] = state["end"]
            return
        body = {
            "id": "j1", "createdAt": "2026-01-01T00:00:00.000Z", "dockerImage": "x", "command": [], "arguments": [],
            "environment": {}, "secrets": {}, "flavor": "h200", "status": {"stage": state["stage"], "message": None},
            "owner": {"id": "1", "name": "me", "type": "user"},
        }  # fmt: skip
        self.answer(200, body)

    def do_POST(self):
        if self.path.endswith("/cancel"):
            if self.server.state["refuse"]:
                self.answer(403, {"error": "no"})
                return
            self.server.state["stage"] = "CANCELED"
        self.answer(200, {"id": "j1"})

    def answer(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def loopback(monkeypatch):
    from huggingface_hub import HfApi

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.state = {"streams": 0, "stage": "RUNNING", "end": "COMPLETED", "refuse": False}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api = HfApi(endpoint=f"http://127.0.0.1:{server.server_port}", token="t")
    api.whoami = lambda *_, **__: {"name": "me"}
    monkeypatch.setattr(jobs, "client", lambda: api)
    yield server.state
    server.shutdown()


def test_a_broken_log_is_taken_up_without_repeating(loopback):
    told = []
    assert jobs.follow("j1", told.append, pause=0.05) == "COMPLETED"
    assert told == Hub.lines and loopback["streams"] >= 2


def test_a_job_that_fails_says_so(loopback):
    loopback["end"] = "ERROR"
    assert jobs.follow("j1", lambda line: None, pause=0.05) == "ERROR"


def test_cancelling(loopback):
    jobs.cancel("j1")
    assert jobs.state("j1") == "CANCELED"
    loopback["refuse"] = True
    with pytest.raises(PaintError, match="Job j1 could not be cancelled"):
        jobs.cancel("j1")


def test_a_hub_that_is_gone(monkeypatch):
    from huggingface_hub import HfApi

    api = HfApi(endpoint="http://127.0.0.1:9", token="t")
    api.whoami = lambda *_, **__: {"name": "me"}
    monkeypatch.setattr(jobs, "client", lambda: api)
    with pytest.raises(Unavailable, match="does not say how Job j1 is"):
        jobs.state("j1")


def test_a_push_takes_the_newest_whole_state_only(tmp_path, monkeypatch):
    from test_training_resume import make_state

    make_state(tmp_path, 9)
    make_state(tmp_path, 10)
    sent = []
    monkeypatch.setattr(jobs, "put", lambda repo, folder, path="", ignore=(), delete=(): sent.append((ignore, delete)))
    pusher = hub.Pusher(tmp_path, "me/paint-tag", print)
    assert pusher.push()
    assert sent == [([".cache/*", "inputs/*", "state/checkpoint-9/*"], ["state/*"])]

    def down(*_, **__):
        raise Unavailable("the Hub is down.")

    monkeypatch.setattr(jobs, "put", down)
    said = []
    pusher.told = said.append
    assert not pusher.push() and said == ["the Hub is down. The next push makes up for it."]
