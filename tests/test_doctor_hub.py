"""`paint doctor --hub` against a Hub on this machine: rights, states, prices, and what it changes when told to."""

import json
import os
import pty
import re
import subprocess
import sys
import time

import pytest
from loopback_hub import READ, Fault, HubServer

from paintcli.backends.hub import spaces
from paintcli.cli.doctor import remind, timer
from paintcli.doctor import spaces_of
from paintcli.errors import UsageError


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with HubServer() as server:
        server.connect(monkeypatch)
        yield server


def space(hub, name, stage="RUNNING", hardware="a100-large", sleep=None):
    runtime = {"stage": stage, "hardware": {"current": hardware, "requested": hardware}, "gcTimeout": sleep}
    return hub.repo("spaces", name, runtime=runtime)


def rows(ran):
    return {row["what"]: row for row in map(json.loads, ran.out.splitlines())}


def test_everything_a_project_names(paint, hub, tmp_path):
    (tmp_path / "paint.toml").write_text('scorer = "hub:me/hpsv3"\n[train]\nenv_url = "me/env"\n')
    space(hub, "me/hpsv3", sleep=900)
    space(hub, "me/env", "SLEEPING", "cpu-upgrade")
    space(hub, "me/forgotten")
    space(hub, "me/gallery", hardware="cpu-basic")
    ran = paint("doctor", "--hub", "--judge", "hub:some/model", "--json")
    assert ran.code == 0, ran.err
    seen = rows(ran)
    assert list(seen) == ["token", "me/hpsv3", "me/env", "me/forgotten", "together"]
    assert seen["token"]["detail"] == "me's, a token that writes"
    scorer = seen["me/hpsv3"]
    assert scorer["detail"] == "running on a100-large, $2.50 an hour; sleeps after 15 min without a request"
    assert (scorer["stage"], scorer["hardware"], scorer["sleep_time"], scorer["billed"]) == (
        "RUNNING", "a100-large", 900, True,
    )  # fmt: skip
    assert scorer["dollars"] == pytest.approx(2.5) and scorer["remedy"] == ""
    assert seen["me/env"]["detail"] == ("sleeping on cpu-upgrade, $0.03 an hour when it runs; never sleeps by itself")
    assert not seen["me/env"]["billed"]
    assert seen["me/forgotten"]["remedy"] == "paint doctor --hub --sleep-time me/forgotten=15"
    assert seen["together"]["detail"] == "$5.00 an hour while they run"
    table = paint("doctor", "--hub").out
    assert "me/forgotten" in table and "$2.50 an hour; never sleeps by itself" in table


@pytest.mark.parametrize(
    ("stage", "code", "remedy"),
    [
        ("PAUSED", 1, "paint doctor --hub --wake me/hpsv3"),
        ("RUNTIME_ERROR", 1, "its log says why: https://huggingface.co/spaces/me/hpsv3"),
        ("BUILDING", 0, ""),
        ("SLEEPING", 0, "the first question wakes it, which takes minutes"),
    ],
)
def test_a_space_that_is_needed_and_will_not_come_is_a_gap(paint, hub, stage, code, remedy):
    space(hub, "me/hpsv3", stage)
    ran = paint("doctor", "--hub", "--scorer", "hub:me/hpsv3", "--json")
    assert ran.code == code and rows(ran)["me/hpsv3"]["remedy"] == remedy
    assert "together" not in rows(ran)  # nothing of this is paid for
    assert paint("doctor", "--hub", "--space", "me/hpsv3").code == 0  # looked at, not needed


def test_what_a_token_may(paint, hub, monkeypatch):
    def token():
        return rows(paint("doctor", "--hub", "--json"))["token"]

    monkeypatch.setenv("HF_TOKEN", READ)
    assert token()["detail"] == "me's, a token that only reads; it may not publish and push runs or run Jobs"
    fine = "hf_" + "f" * 34
    hub.tokens[fine] = "fineGrained"
    monkeypatch.setenv("HF_TOKEN", fine)
    hub.rights = ["repo.content.read", "inference.serverless.write"]
    assert token()["detail"] == "me's, fine-grained; it may not publish and push runs or run Jobs"
    hub.rights += ["repo.write", "job.write"]
    assert token()["detail"] == "me's, fine-grained" and token()["state"] == "ok"
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 34)
    assert token() == {
        "what": "token", "state": "gap", "remedy": "`hf auth login`",
        "detail": "The Hub refuses the token; run `hf auth login` or set HF_TOKEN.",
    }  # fmt: skip
    monkeypatch.delenv("HF_TOKEN")
    assert token()["state"] == "optional" and token()["detail"] == "none"


def test_a_hub_that_does_not_answer_and_a_space_that_is_none(paint, hub):
    assert paint("doctor", "--hub", "--scorer", "hub:me/none").code == 1
    ran = paint("doctor", "--hub", "--space", "me/none", "--json")
    assert ran.code == 0 and rows(ran)["me/none"]["detail"] == "There is no Space me/none, or not for your token."
    fault = Fault("hardware", 500)
    hub.faults.append(fault)
    space(hub, "me/hpsv3")
    seen = rows(paint("doctor", "--hub", "--space", "me/hpsv3", "--json"))
    assert "price unknown" in seen["me/hpsv3"]["detail"] and seen["me/hpsv3"]["dollars"] is None
    assert "does not answer" in seen["prices"]["detail"]
    fault.pattern = "GET /api/spaces/me/hpsv3"
    assert (
        "does not answer about me/hpsv3" in rows(paint("doctor", "--space", "me/hpsv3", "--json"))["me/hpsv3"]["detail"]
    )


def test_flags_wake_pause_and_set_timers(paint, hub):
    woken, paused, timed = (space(hub, f"me/{n}", s) for n, s in (("a", "PAUSED"), ("b", "RUNNING"), ("c", "RUNNING")))
    ran = paint("doctor", "--wake", "me/a", "--pause", "me/b", "--sleep-time", "me/c=20", "--json")
    assert ran.code == 0, ran.err
    assert (woken.runtime["stage"], paused.runtime["stage"], timed.runtime["gcTimeout"]) == ("RUNNING", "PAUSED", 1200)
    assert ran.err.splitlines() == [
        "me/a starts; that takes minutes.", "me/b is paused.", "me/c sleeps after 20 min without a request."
    ]  # fmt: skip
    seen = rows(ran)
    assert (seen["me/a"]["stage"], seen["me/b"]["stage"], seen["me/c"]["sleep_time"]) == ("RUNNING", "PAUSED", 1200)


def test_what_is_refused_is_a_sentence(paint, hub, monkeypatch):
    space(hub, "you/hpsv3")
    ran = paint("doctor", "--pause", "you/hpsv3")
    assert (ran.code, ran.err) == (1, "paint: you/hpsv3 refuses this token: it lacks the right.\n")
    assert paint("doctor", "--wake", "one").err == "paint: A Space is named owner/name, not 'one'.\n"
    for text in ("me/a", "me/a=", "me/a=soon", "=5", "me/a=0", "me/a=-5"):
        with pytest.raises(UsageError, match=r"^--sleep-time takes OWNER/NAME=MINUTES, not"):
            timer(text)


def talk(command, hub, answers):
    """Run a command in a terminal of its own, type each answer when its question stands there; returns what it said."""
    master, slave = pty.openpty()
    environment = {**os.environ, **hub.environment(), "TERM": "dumb", "COLUMNS": "200"}
    running = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    seen, waiting, end = "", list(answers), time.monotonic() + 240
    while time.monotonic() < end:
        try:
            seen += os.read(master, 4096).decode(errors="replace")
        except OSError:  # the other side closed
            break
        if waiting and re.search(waiting[0][0], seen):
            os.write(master, waiting.pop(0)[1].encode() + b"\n")
    os.close(master)
    running.wait(240)
    assert not waiting, seen
    return seen


def test_in_a_terminal_it_offers(hub):
    a, b, c = space(hub, "me/a"), space(hub, "me/b"), space(hub, "me/c", "PAUSED")
    d = space(hub, "me/d")
    command = [sys.executable, "-m", "paintcli", "doctor", "--hub", "--space", "me/c"]
    said = talk(
        command,
        hub,
        [(r"wake it \(a100-large, \$2.50 an hour\)", "y"), ("me/a: pause it", "p"), ("me/b: pause it", "30"),
         ("me/d: pause it", "")],
    )  # fmt: skip
    assert [s.runtime["stage"] for s in (a, b, c, d)] == ["PAUSED", "RUNNING", "RUNNING", "RUNNING"]
    assert (b.runtime["gcTimeout"], d.runtime["gcTimeout"]) == (1800, None)
    assert "me/b sleeps after 30 min without a request." in said


def test_after_a_run_it_reminds_of_what_still_costs(hub, capsys):
    from paintcli.cli import output

    output.err.cache_clear()
    space(hub, "me/hpsv3")
    space(hub, "me/env", "SLEEPING")
    remind("hub:me/env", "hub:me/hpsv3", "me/env", "", None, "local", "hub:me/none")
    output.err.cache_clear()
    assert capsys.readouterr().err == (
        "me/hpsv3 still runs: running on a100-large, $2.50 an hour; never sleeps by itself. "
        "To stop it: paint doctor --pause me/hpsv3\n"
    )


def test_which_specs_are_spaces():
    assert spaces_of("hub:me/a", "local", None, "", "me/b", "hub:http://x/y", "hpsv3:some/path", "hub:me/a") == [
        "me/a", "me/b",
    ]  # fmt: skip


def test_durations():
    assert [spaces.duration(s) for s in (90, 900, 3600, 172800, 61)] == ["90 s", "15 min", "1 h", "48 h", "61 s"]
