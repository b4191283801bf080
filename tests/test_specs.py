"""Spec strings: what they become, what is said of wrong ones, and that nothing heavy is read before its time."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paintcli.backends import specs
from paintcli.backends.protocols import Comparer, Critic, Generator, Scorer
from paintcli.errors import PaintError, UsageError

HPSV3 = Path(__file__).parent / "fixtures" / "hpsv3"


@pytest.mark.parametrize(
    ("make", "spec", "sentence"),
    [
        (specs.make_renderer, "chrome", r"^There is no renderer 'chrome'; choose local, hub:<owner>/<space>\.$"),
        (specs.make_renderer, "hub", r"^The renderer hub needs a Space: hub:<owner>/<space>"),
        (specs.make_renderer, "hub:one", r"^A Space is named owner/name, not 'one'\.$"),
        (specs.make_renderer, "local:x", r"^There is no renderer 'local:x'"),
        (specs.make_scorer, "hpsv4", r"^There is no scorer 'hpsv4'; choose taste, hpsv3, hpsv3:<path>, hub:"),
        (specs.make_scorer, "hub", r"^The scorer hub needs a Space: hub:<owner>/<space>"),
        (specs.make_scorer, "hub:one", r"^A Space is named owner/name, not 'one'\.$"),
        (specs.make_scorer, "taste", r"^taste learns from a rated pool: name one with --pool\.$"),
        (specs.make_comparer, "vlm", r"^There is no judge 'vlm'; choose taste, vlm:<model>, gguf:"),
        (specs.make_comparer, "", r"^There is no judge ''"),
        (specs.make_comparer, "taste:x", r"^There is no judge 'taste:x'"),
        (specs.make_comparer, "hub:http://", r"is not an address that can be asked\.$"),
        (
            specs.make_generator,
            "hub",
            r"^There is no generator 'hub'; choose hub:<model>, hf:<model>, gguf:<model\.gguf>\.$",
        ),
        (specs.make_critic, "taste", r"^There is no critic 'taste'; choose hub, hub:<model>\.$"),
    ],
)
def test_wrong_specs_get_one_sentence(make: Callable[[str], object], spec: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        make(spec)


def test_a_gguf_judge_needs_both_files() -> None:
    with pytest.raises(UsageError, match=r"gguf:<model\.gguf>\+<mmproj\.gguf>, not 'gguf:a\.gguf'\.$|llama-cpp-python"):
        specs.make_comparer("gguf:a.gguf")


def test_what_is_chosen_is_what_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    judge = specs.make_comparer("hub")
    assert isinstance(judge, Comparer) and judge.name == "hub:Qwen/Qwen3-VL-30B-A3B-Instruct"
    assert isinstance(specs.make_comparer(" hub:some/model:provider "), Comparer)
    assert isinstance(specs.make_generator("hub:http://127.0.0.1:8000/v1#some/model"), Generator)
    assert isinstance(specs.make_critic("hub:some/model"), Critic)
    assert isinstance(specs.make_scorer("hub:some/space"), Scorer)
    assert isinstance(specs.make_scorer("hub:http://127.0.0.1:7860"), Scorer)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for make, spec, extra in (
        (specs.make_scorer, "hpsv3", "train"),
        (specs.make_comparer, "vlm:some/model", "train"),
        (specs.make_comparer, "gguf:a.gguf+b.gguf", "gguf"),
    ):
        with pytest.raises(UsageError, match=rf"which is not installed: pip install 'paintcli\[{extra}\]'\.$"):
            make(spec)


def test_precision_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers", reason="HPSv3 needs transformers: pip install 'paintcli[train]'")
    monkeypatch.setenv("PAINT_PRECISION", "4bit")
    assert specs.make_scorer(f"hpsv3:{HPSV3}")._precision == "4bit"
    monkeypatch.setenv("PAINT_PRECISION", "2bit")
    with pytest.raises(UsageError, match=r"^PAINT_PRECISION is one of fp32, bf16, 8bit, 4bit, not '2bit'\.$"):
        specs.make_scorer(f"hpsv3:{HPSV3}")


def test_a_path_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="HPSv3 needs transformers: pip install 'paintcli[train]'")
    with pytest.raises(PaintError, match=r"^There is no HPSv3 checkpoint at "):
        specs.make_scorer(f"hpsv3:{tmp_path / 'none.safetensors'}")


def test_choosing_a_backend_reads_nothing_heavy() -> None:
    """Making every backend, with all packages there, imports none of the libraries that take seconds."""
    code = f"""
import sys
from paintcli.backends.specs import make_comparer, make_generator, make_scorer
from paintcli.errors import UsageError
for make, spec in [(make_scorer, "hpsv3:{HPSV3}"), (make_comparer, "vlm:some/model"),
                   (make_scorer, "hub:some/space"), (make_generator, "hub:http://127.0.0.1:1")]:
    try:
        make(spec)
    except UsageError as error:  # a package is not installed: then there is nothing to import either
        assert "not installed" in str(error)
print([name for name in ("torch", "transformers", "llama_cpp", "bitsandbytes") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
