"""Flag, then environment, then paint.toml, then default."""

import pytest

from paintcli import settings
from paintcli.errors import UsageError


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in settings.DEFAULTS:
        monkeypatch.delenv(f"PAINT_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)


def project(tmp_path, text):
    (tmp_path / "paint.toml").write_text(text)
    return tmp_path


def test_defaults_outside_a_project():
    found = settings.load()
    assert found.project is None
    assert (found.renderer, found.scorer, found.judge, found.seed) == ("local", "taste", "taste", 0)
    assert 1 <= found.workers <= 4


def test_the_order_of_sources(tmp_path, monkeypatch):
    project(tmp_path, 'judge = "from-file"\n')
    assert settings.load().judge == "from-file"
    monkeypatch.setenv("PAINT_JUDGE", "from-environment")
    assert settings.load().judge == "from-environment"
    assert settings.load(judge="from-flag").judge == "from-flag"


def test_a_project_is_found_from_below(tmp_path):
    project(tmp_path, "seed = 7\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    found = settings.load(below)
    assert (found.project, found.seed) == (tmp_path.resolve(), 7)


def test_a_zero_flag_is_given(tmp_path):
    project(tmp_path, "seed = 7\n")
    assert settings.load(seed=0).seed == 0


def test_paths_in_the_file_are_relative_to_it(tmp_path, monkeypatch):
    project(tmp_path, 'pool = "mine"\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert settings.load().pool == str(tmp_path / "mine")
    assert settings.load(pool="other").pool == "other"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("jugde = 'taste'", "did you mean 'judge'"),
        ("seed = ", "is not valid TOML"),
        ("seed = 'x'", "seed must be a number"),
        ("seed = -1", "seed must be at least 0"),
        ("workers = 0", "workers must be at least 1"),
        ("deadline = nan", "deadline must be at least"),
        ("renderer = 7", "renderer must be text in quotes, not 7"),
        ("domain = true", "domain must be text in quotes"),
        ("timeout = 'never'", 'timeout is "sketch" or "infrastructure"'),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, text, sentence):
    project(tmp_path, text)
    with pytest.raises(UsageError, match=sentence):
        settings.load()
