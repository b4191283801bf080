"""`paint demo`, whole: every step is a command that works, and what it shows is there afterwards."""

import re

import pytest
from typer.testing import CliRunner

from paintcli.cli.main import app

pytestmark = pytest.mark.browser


def test_the_demo_shows_all_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paintcli.cli.demo.find_spec", lambda name: None)  # the control run has tests of its own
    ran = CliRunner().invoke(app, ["demo", "-o", "look"])
    assert ran.exit_code == 0, ran.output
    commands = re.findall(r"^\$ paint (\w+)", ran.stderr, re.MULTILINE)
    assert commands == ["pool", "render", "score", "score", "gallery"]
    assert "paintcli[train]" in ran.stderr
    rewards = dict(re.findall(r"sketches/(\S+)\.js +([\d.]+)", ran.stdout))
    assert float(rewards.pop("cheat")) == 0
    assert float(rewards.pop("pale")) < min(map(float, rewards.values()))
    assert len(rewards) == 3
    assert "bare_primitives" in ran.stdout
    assert (tmp_path / "look" / "gallery" / "index.html").is_file()
    assert "paint init" in ran.stderr.splitlines()[-1]


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    ran = CliRunner().invoke(app, ["demo", "-o", str(tmp_path)])
    assert "name a new folder" in str(ran.exception)
    assert (tmp_path / "mine").read_text() == "mine"
