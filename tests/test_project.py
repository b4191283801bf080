"""`paint init`: a project that every command can use at once, and that changes nothing that was there."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from paintcli import domains, settings
from paintcli.cli.main import app

run = CliRunner().invoke


def test_a_project_is_found_and_its_domain_read(tmp_path: Path) -> None:
    result = run(app, ["init", str(tmp_path / "irises"), "--subject", "a blue iris"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(tmp_path / "irises" / n) + e for n, e in
                                          (("paint.toml", ""), ("blue-iris.toml", ""), ("pool", "/"))]  # fmt: skip
    assert "paint pool generate" in result.stderr and "cd " in result.stderr
    below = tmp_path / "irises" / "pool"
    chosen = settings.load(below)
    assert chosen.project == tmp_path / "irises"
    assert chosen.domain == str(tmp_path / "irises" / "blue-iris.toml")
    domain = domains.load(chosen.domain)
    assert domain.subject == "a blue iris" and domain.title == "Blue iris" and domain.enforce_allowlist
    assert domain.messages("a blue iris")[1]["content"] == "Paint a blue iris."
    assert domain.methods == domains.load("hibiscus").methods
    assert domain.pigment_target == 0.35


def test_the_road_it_names_exists(tmp_path: Path) -> None:
    from paintcli.cli.init import ROAD

    for command, _ in ROAD:
        words = command.split()[1:]
        flags = [w for w in words if w.startswith("--")]
        names = words[:2] if words[0] == "pool" else words[:1]
        result = run(app, [*names, "--help"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
        assert result.exit_code == 0
        assert all(flag in result.stdout for flag in flags), command


@pytest.mark.parametrize(
    ("subject", "said"),
    [("", "in words"), ('a "rose"', "no quotes"), ("a {rose}", "no quotes"), ("a\nrose", "no")],
)
def test_a_subject_that_is_none(tmp_path: Path, subject: str, said: str) -> None:
    result = run(app, ["init", str(tmp_path / "p"), "--subject", subject])
    assert result.exception and said in str(result.exception)
    assert not (tmp_path / "p").exists()


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "paint.toml").write_text("seed = 3\n")
    result = run(app, ["init", str(tmp_path)])
    assert result.exception and "a project already" in str(result.exception)
    assert (tmp_path / "paint.toml").read_text() == "seed = 3\n"
    (tmp_path / "paint.toml").unlink()
    (tmp_path / "peach-hibiscus.toml").write_text("mine")
    result = run(app, ["init", str(tmp_path)])
    assert result.exception and "is there already" in str(result.exception)
    assert (tmp_path / "peach-hibiscus.toml").read_text() == "mine"
    assert not (tmp_path / "paint.toml").exists()
