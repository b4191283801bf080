"""`paint publish` against a Hub on this machine, with the Hub's own client: what goes up, comes back, is said."""

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from loopback_hub import READ, WRITE, Fault, HubServer
from PIL import Image, PngImagePlugin

from paintcli.pool import Pool, starter, write_rows
from paintcli.publishing import folders, secrets, upload
from paintcli.rollouts import Rollout, RunFolder, write_exams

TOKEN = "hf_" + "Q7" * 17


pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # the Hub's own client


@pytest.fixture
def hub(monkeypatch, tmp_path):
    from huggingface_hub import constants

    with HubServer(page=7) as server:
        server.connect(monkeypatch)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "default_xet_cache_path", str(tmp_path / "xet"), raising=False)
        yield server


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a pool of its own and a run, in the current folder."""
    here = tmp_path / "studio"
    here.mkdir()
    (here / "paint.toml").write_text('[publish]\nlicence = "cc-by-4.0"\nmodel_licence = "apache-2.0"\n')
    small = Pool.load(starter("koi")).entries[:6]
    for entry in small:
        for path in (entry.path, entry.source):
            folders.copy(path, here / "pool" / path.relative_to(starter("koi")))
    write_rows(here / "pool", [entry.row for entry in small])
    make_run(here / "runs" / "first")
    monkeypatch.chdir(here)
    return here


def make_run(folder: Path, steps: int = 4, group: int = 3) -> Path:
    """A run as training writes it: the koi pool's paintings as rollouts, one unpainted, one that nobody could judge."""
    from paintcli.training.recipe import compose

    paintings = Pool.load(starter("koi")).entries
    files = RunFolder(folder)
    for step in range(steps):
        for position in range(group):
            entry = paintings[(step * group + position) % len(paintings)]
            reward = None if (step, position) == (2, 1) else 0.2 + 0.1 * step + 0.05 * position
            blank = (step, position) == (1, 2)
            rollout = Rollout(
                run=folder.name, step=step, position_in_group=position, reward=0.0 if blank else reward,
                code=entry.code, code_chars=len(entry.code), n_shapes=8 + position, gate=0.0 if blank else 1.0,
                judge=None if reward is None else 0.5, judge_weight=0.6, coverage=0.1, judge_backend="taste (stand-in)",
                violations=[{"code": "text_label", "line": 3, "detail": "text()"}] if blank else [],
                unavailable=["judge: it did not answer."] if reward is None else [],
            )  # fmt: skip
            files.append(rollout, None if blank else entry.path.read_bytes())
        files.append_curve({"step": step, "reward": 0.2 + 0.1 * step})
    recipe = compose("judge-led", None, {"stand_ins": True, "steps": steps, "generations": group, "micro_batch": 1})
    (folder / "recipe.toml").write_text(recipe.toml())
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def came_back(repo: str, repo_type: str, into: Path) -> dict[str, bytes]:
    """What the Hub's own client downloads."""
    from huggingface_hub import snapshot_download

    snapshot_download(repo, repo_type=repo_type, local_dir=into, cache_dir=into / "cache")
    own = (".cache/", "cache/", ".gitattributes")
    return {name: data for name, data in contents(into).items() if not name.startswith(own)}


SENDING = r"^PUT|^POST .*(preupload|commit|objects/batch|repos/create)"


@pytest.mark.parametrize(("kind", "repo"), [("rollouts", "me/first-rollouts"), ("pool", "me/studio-pool")])
def test_what_comes_back_is_what_was_built_and_nothing_is_sent_twice(paint, hub, project, tmp_path, kind, repo):
    assert paint("publish", kind, "--dry-run", "--out", tmp_path / "up", "--owner", "me").code == 0
    assert not hub.requests
    first = paint("publish", kind, "--json")
    assert first.code == 0, first.err
    told = json.loads(first.out)
    built = contents(tmp_path / "up")
    assert told["repo"] == repo and told["commits"] == 1 and sorted(told["sent"]) == sorted(built)
    assert came_back(repo, "dataset", tmp_path / "back") == built
    assert hub.repos["datasets", repo].private
    before = len(hub.asked(SENDING))
    second = paint("publish", kind)
    assert second.code == 0 and f"0 sent, {len(built)} as they were" in second.out
    assert len(hub.asked(SENDING)) == before
    [collection] = hub.collections.values()
    assert collection["title"] == "paint: studio" and collection["private"]
    assert [i["id"] for i in collection["items"]] == [repo]


def test_only_what_changed_goes_and_only_what_was_ours_is_deleted(paint, hub, project):
    assert paint("publish", "pool").code == 0
    repo = hub.repos["datasets", "me/studio-pool"]
    repo.commit("somebody's note", {**repo.files, "notes.txt": b"mine"})
    pool = Pool.load(project / "pool")
    gone, changed = pool.entries[0], pool.entries[1]
    rows = [{**e.row, "tier": "weak" if e is changed else e.tier} for e in pool.entries[1:]]
    pool.with_rows(rows).save()
    told = json.loads(paint("publish", "pool", "--json").out)
    assert sorted(told["sent"]) == ["README.md", "metadata.jsonl", "paint.json"]
    assert sorted(told["deleted"]) == sorted([gone.name, str(gone.row["source_file"])])
    assert "notes.txt" in repo.files and gone.name not in repo.files
    assert b'"weak"' in repo.files["metadata.jsonl"] and b"1 *weak*" in repo.files["README.md"]


def test_public_is_said_and_done(paint, hub, project):
    assert paint("publish", "pool", "--public", "--collection", "Koi").code == 0
    assert not hub.repos["datasets", "me/studio-pool"].private
    assert [c["title"] for c in hub.collections.values()] == ["Koi"]
    assert not next(iter(hub.collections.values()))["private"]


# -- interruptions -------------------------------------------------------------------------------------------------


def test_a_killed_upload_goes_on(hub, project, tmp_path):
    """The process is killed while it sends the fourth picture; the next one sends only what is missing."""
    environment = {**os.environ, **hub.environment(), "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "paintcli", "publish", "pool", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    hub.faults = [Fault("PUT /lfs", status=0, after=3, then=lambda: process.send_signal(signal.SIGKILL))]
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert set(hub.repos["datasets", "me/studio-pool"].files) == {".gitattributes"} and 3 <= len(hub.received) < 6
    hub.faults = []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pictures = [p for p in hub.repos["datasets", "me/studio-pool"].files if p.endswith(".png")]
    assert len(pictures) == 6 and len(hub.received) == len(set(hub.received)) == 6


def test_a_failure_before_the_commit_changes_nothing_and_says_so(paint, hub, project):
    hub.faults = [Fault("PUT /lfs", status=400, message="no", after=3)]
    ran = paint("publish", "pool")
    assert ran.code == 1 and "Nothing of me/studio-pool has changed" in ran.err and "goes on from here" in ran.err
    hub.faults = [Fault("POST .*/commit/", status=503)]
    ran = paint("publish", "pool")
    assert ran.code == 1 and "Nothing of me/studio-pool has changed, its commit failed" in ran.err and "503" in ran.err
    assert set(hub.repos["datasets", "me/studio-pool"].files) == {".gitattributes"}
    hub.faults = []
    assert paint("publish", "pool").code == 0 and len(hub.received) == len(set(hub.received))


def test_half_published_is_said_and_made_good(paint, hub, project, monkeypatch):
    monkeypatch.setattr(upload, "MOST_FILES", 5)
    hub.faults = [Fault("POST .*/commit/", status=500, after=2)]
    ran = paint("publish", "pool")
    assert ran.code == 1 and "me/studio-pool is half published, 10 of 15 files are up" in ran.err
    assert "README.md" not in hub.repos["datasets", "me/studio-pool"].files  # what describes the rest comes last
    hub.faults = []
    told = json.loads(paint("publish", "pool", "--json").out)
    assert told["commits"] == 1 and told["unchanged"] == 10
    assert [c[1].split(", ")[-1] for c in hub.repos["datasets", "me/studio-pool"].commits[1:3]] == [
        "part 1 of 3",
        "part 2 of 3",
    ]


def test_an_answer_that_got_lost_is_found_out(paint, hub, project):
    hub.faults = [Fault("POST .*/commit/", status=502, done=True)]
    ran = paint("publish", "pool")
    assert ran.code == 1 and "All 15 files of me/studio-pool are up, although the Hub did not confirm it" in ran.err


def test_a_large_file_goes_in_parts(hub, tmp_path):
    hub.part = 1 << 20
    data = os.urandom((3 << 20) + 7)
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "adapter_model.safetensors").write_bytes(data)
    folders.seal(tmp_path / "up", "adapter")
    upload.send(upload.client(), tmp_path / "up", "me/large", "model")
    assert hub.repos["models", "me/large"].files["adapter_model.safetensors"] == data
    assert len(hub.asked("PUT /lfs/")) == 4


def test_somebody_else_at_the_same_time(hub, project, tmp_path):
    folders.start(tmp_path / "up")
    folders.pool(Pool.load(project / "pool"), tmp_path / "up", "me/studio-pool", "cc-by-4.0")
    folders.seal(tmp_path / "up", "pool")
    api = upload.client()
    upload.prepare(api, "me/studio-pool", "dataset", "pool", None)
    repo = hub.repos["datasets", "me/studio-pool"]
    head = repo.commits[-1][0]
    repo.commit("theirs", {**repo.files, "theirs.txt": b"!"})
    with pytest.raises(Exception, match="somebody else changed the repository meanwhile"):
        upload.commit(
            api, "me/studio-pool", "dataset", {"paint.json": tmp_path / "up" / "paint.json"}, [], head, "mine"
        )


# -- what is refused -----------------------------------------------------------------------------------------------


def refused(ran, code: int, *words: str) -> None:
    assert ran.code == code, ran.err
    *talk, last = ran.err.strip().splitlines()
    assert last.startswith("paint: ") and not [line for line in talk if line.startswith(("paint:", "Traceback"))]
    for word in words:
        assert word in last


def test_tokens(paint, hub, project, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", READ)
    refused(paint("publish", "pool"), 2, "only reads: make one that writes")
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 34)
    refused(paint("publish", "pool"), 1, "the Hub does not know this token")
    monkeypatch.delenv("HF_TOKEN")
    refused(paint("publish", "pool"), 2, "log in first")
    assert not hub.repos and not hub.asked("POST")


def test_names_and_owners(paint, hub, project):
    refused(paint("publish", "pool", "--repo", "a--b"), 2, "'me/a--b' cannot be a repository's name")
    refused(paint("publish", "pool", "--repo", "a/b/c"), 2, "cannot be a repository's name")
    refused(paint("publish", "pool", "--owner", "strangers"), 2, "publishes under me, not under strangers")
    refused(paint("publish", "pictures"), 2, "cannot be published: it is pool, rollouts")
    assert not hub.repos


def test_a_repository_with_other_content(paint, hub, project):
    hub.repo("datasets", "me/studio-pool", {"data.parquet": b"PAR1"})
    refused(paint("publish", "pool"), 2, "me/studio-pool holds something else (1 files, such as data.parquet)")
    assert paint("publish", "rollouts", "--repo", "shared").code == 0
    refused(paint("publish", "pool", "--repo", "shared"), 2, "me/shared holds something else")
    hub.repo("datasets", "me/new", {"README.md": b"---\nlicense: mit\n---\n"})  # as the site makes one
    assert paint("publish", "pool", "--repo", "new").code == 0


def test_quota_and_payment(paint, hub, project, monkeypatch):
    hub.faults = [Fault("objects/batch", status=403, message="Private repository storage limit reached")]
    refused(
        paint("publish", "pool"), 1, "Nothing of me/studio-pool has changed", "Private repository storage limit reached"
    )
    hub.faults = [Fault("repos/create", status=402, message="Subscribe to PRO for this hardware")]
    make_space(project, monkeypatch)
    refused(paint("publish", "scorer"), 1, "me/paint-scorer could not be made", "needs a paid plan", "Subscribe to PRO")
    hub.faults = [Fault(".", status=0)]
    refused(paint("publish", "pool"), 1, "Who you are could not be asked")


def test_licences(paint, hub, project):
    (project / "paint.toml").write_text("")
    refused(
        paint("publish", "rollouts"), 2, "No licence is chosen for paintings and sketches: say --licence; cc-by-4.0"
    )
    refused(paint("publish", "rollouts", "--licence", "cc-by-4"), 2, "no licence 'cc-by-4': did you mean cc-by-4.0?")
    assert paint("publish", "pool").code == 0  # every row of it names the same one
    (project / "paint.toml").write_text("[publish]\nlicense = 'mit'\n")
    refused(paint("publish", "rollouts"), 2, "[publish] in paint.toml has no 'license'")


def test_photos_without_a_licence(paint, hub, project, tmp_path):
    pool = Pool.load(project / "pool")
    named = {"reference_photo": "koi.jpg", "reference_photo_url": "https://photos.example/1"}
    pool.with_rows([{**e.row, **named} for e in pool.entries]).save()
    refused(paint("publish", "pool"), 2, "studio cannot be published", "its reference photo has no licence", "5 more")
    credit = {"reference_photo_licence": "cc-by", "reference_photo_attribution": "A. Painter | Pond"}
    pool.with_rows([{**e.row, **named, **credit} for e in pool.entries]).save()
    assert paint("publish", "pool", "--dry-run", "--out", tmp_path / "up", "--owner", "me").code == 0
    card = (tmp_path / "up" / "README.md").read_text()
    assert "| https://photos.example/1 | A. Painter \\| Pond | cc-by |" in card
    assert not hub.repos


def test_runs_with_nothing_to_show(paint, hub, project):
    bare = project / "runs" / "bare"
    RunFolder(bare).append(Rollout(run="bare", step=0, position_in_group=0, reward=0.0, code="x"), None)
    refused(paint("publish", "rollouts", bare), 2, "bare has no paintings, so there is no dataset of pictures")
    refused(paint("publish", "rollouts", project / "nowhere"), 2, "nowhere has no paintings")
    refused(paint("publish", "gallery", bare), 2, "There is no painting in bare")
    refused(paint("publish", "trackio", bare), 2, "has no curve.csv")
    (project / "runs" / "first" / "images" / "step-00000-00.png").unlink()
    refused(paint("publish", "rollouts", "runs/first"), 2, "the picture images/step-00000-00.png, which is not there")
    (project / "full").mkdir()
    (project / "full" / "letter.txt").write_text("dear")
    refused(paint("publish", "pool", "--dry-run", "--out", "full", "--owner", "me"), 2, "paint did not put there")
    assert not hub.repos


# -- secrets -------------------------------------------------------------------------------------------------------


def test_nothing_leaves_with_a_secret_in_it(paint, hub, project):
    source = next((project / "pool" / "sources").glob("*.js"))
    source.write_text(f"// one\n// token: {TOKEN}\n" + source.read_text())
    ran = paint("publish", "pool")
    refused(ran, 1, "Nothing was sent", f"sources/{source.name}, line 2: a Hugging Face token")
    assert TOKEN not in ran.err and not hub.repos


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (TOKEN, "a Hugging Face token"),
        ("key = 'sk-proj-Ab1" + "xY9" * 8 + "'", "an API key"),
        ("AKIA" + "ABCDEFGH23456789", "an AWS access key"),
        ("aws_secret_access_key = " + "a1B/" * 10, "an AWS secret key"),
        ("-----BEGIN OPENSSH " + "PRIVATE KEY-----", "a private key"),
        ("ghp_" + "a1B2" * 9, "a GitHub token"),
        (WRITE, "your Hugging Face token"),
        ("my password is correct-horse-battery", "the value of SERVER_PASSWORD"),
    ],
)  # fmt: skip
def test_every_kind_of_secret_in_every_kind_of_file(tmp_path, monkeypatch, text, what):
    monkeypatch.setenv("HF_TOKEN", WRITE)
    monkeypatch.setenv("SERVER_PASSWORD", "correct-horse-battery")
    (tmp_path / "a.js").write_text(f"\n\n{text}\n")
    (tmp_path / "b.bin").write_bytes(b"\0\1" + text.encode())
    for name, compressed in (("c.png", False), ("d.png", True)):
        chunks = PngImagePlugin.PngInfo()
        chunks.add_itxt("note", f"é {text}", zip=compressed)
        Image.new("RGB", (8, 8)).save(tmp_path / name, pnginfo=chunks)
    with zipfile.ZipFile(tmp_path / "e.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("inner/settings.py", text)
    found = {(leak.file.split(" ")[0], leak.what) for leak in secrets.scan(tmp_path)}
    assert {(f, what) for f in ("a.js", "b.bin", "c.png", "d.png", "e.whl!inner/settings.py")} <= found
    assert "a.js, line 3" in " ".join(map(str, secrets.scan(tmp_path)))


def test_files_that_never_travel_and_texts_that_are_no_secrets(tmp_path):
    for name in (".env", "deploy/.env.production", "id_ed25519", "server.pem", ".netrc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert len(secrets.scan(tmp_path, {})) == 5
    honest = tmp_path / "honest"
    shutil.copytree(starter("koi"), honest)
    (honest / "style.css").write_text(".sk-loading-indicator-very-long-name{} .task-force-of-one-hundred-and-1A{}")
    (honest / "tokenizer.json").write_text('{"hf_": 1, "sk-": 2, "AKIA": 3}')
    assert secrets.scan(honest, {}) == []


# -- what the folders are ------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    return str(tmp_path / "datasets")


def test_both_dataset_folders_load_with_their_pictures(paint, project, tmp_path, cache):
    from datasets import load_dataset

    for kind, rows in (("pool", 6), ("rollouts", 11)):
        folder = tmp_path / kind
        assert paint("publish", kind, "--dry-run", "--out", folder, "--owner", "me").code == 0
        plain = load_dataset("imagefolder", data_dir=str(folder), split="train", cache_dir=cache)
        by_card = load_dataset(str(folder), split="train", cache_dir=cache)
        for loaded in (plain, by_card):
            assert len(loaded) == rows and loaded[0]["image"].size == (600, 600)
        if kind == "pool":
            assert set(plain["tier"]) == {"love", "okay"} and set(plain["licence"]) == {"CC-BY-4.0"}
        else:
            assert plain["reward"].count(None) == 1 and plain["unavailable"][6] == ["judge: it did not answer."]
    unpainted = str(tmp_path / "rollouts" / "unpainted.jsonl")
    beside = load_dataset("json", data_files=unpainted, split="train", cache_dir=cache)
    assert [r["violations"][0]["code"] for r in beside] == ["text_label"]
    own = (project / "runs" / "first" / "metadata.jsonl").read_bytes()
    assert (tmp_path / "rollouts" / "metadata.jsonl").read_bytes() == own


def test_a_column_whose_first_value_comes_late_loads(tmp_path, cache):
    """Types are decided by the first ten megabytes: without `types_first` this fails at the last row."""
    from datasets import load_dataset

    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    rows = [{"file_name": "a.png", "code": "x" * 40_000, "errors": [], "mu": None, "n": n} for n in range(280)]
    rows[-1] |= {"errors": ["late"], "mu": 0.5}
    lines = [(json.dumps(row) + "\n").encode() for row in rows]
    (tmp_path / "metadata.jsonl").write_bytes(b"".join(folders.types_first(lines)))
    loaded = load_dataset("imagefolder", data_dir=str(tmp_path), split="train", cache_dir=cache)
    assert loaded["n"][:3] == [0, 279, 1] and loaded["errors"][1] == ["late"]
    assert folders.types_first(lines[:20]) == lines[:20]


def test_several_runs_in_one_dataset(paint, project, tmp_path, cache):
    from datasets import load_dataset

    make_run(project / "runs" / "second", steps=3)
    folder = tmp_path / "up"
    both = ("runs/first", "runs/second", "--dry-run", "--out", folder, "--owner", "me")
    assert paint("publish", "rollouts", *both).code == 0
    loaded = load_dataset(str(folder), split="train", cache_dir=cache)
    assert len(loaded) == 11 + 8 and loaded[18]["image"].size == (600, 600)
    card = (folder / "README.md").read_text()
    assert "## first" in card and "## second" in card and "![" in card and "](second/curve.svg)" in card
    from paintcli.analysis import sources

    assert [len(run) for run in sources.load(str(folder))] == [12, 9]  # the analyser reads it as before


def test_the_rollouts_card_tells_what_the_analyser_finds(paint, project, tmp_path):
    assert paint("publish", "rollouts", "--dry-run", "--out", tmp_path / "up", "--owner", "me").code == 0
    card = (tmp_path / "up" / "README.md").read_text()
    found = json.loads(paint("analyze", "runs/first", "--json").out)
    for sentence in found["verdict"]:
        assert sentence in card
    first = found["thirds"][0]
    assert f"| 0–1 | 6 | {first['mean_reward']:.3f} | {first['under_0.3']} | {first['shapes']:.1f} |" in card
    assert "Rewards compare within a step and not across steps" in card
    assert "1 rollout of 12 could not be judged" in card and "(judge: 1)" in card
    assert "The gate refused 1, which earned 0 (`text_label` 1)." in card
    assert "**A stand-in judged here: the judge was `taste (stand-in)`.**" in card
    assert 'data_files="hf://datasets/me/first-rollouts/unpainted.jsonl"' in card


def test_a_published_gallery_is_the_one_that_is_built(paint, hub, project, tmp_path):
    assert paint("gallery", "runs/first", "-o", tmp_path / "page").code == 0
    assert paint("publish", "gallery", "runs/first").code == 0
    repo = hub.repos["spaces", "me/first-gallery"]
    up = {n: b for n, b in repo.files.items() if n not in (".gitattributes", "README.md", "paint.json")}
    assert up == contents(tmp_path / "page") and repo.sdk == "static"


# -- adapters ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A tiny base model and a run folder with an adapter of it whose tensors are not zero."""
    pytest.importorskip("peft")
    import tiny_policy
    import torch
    from transformers import AutoModelForCausalLM

    from paintcli.training.coverage import with_adapter
    from paintcli.training.recipe import compose

    root = tmp_path_factory.mktemp("trained")
    base = tiny_policy.save(root / "base", steps=0)
    (root / "flower.toml").write_text(tiny_policy.DOMAIN)
    recipe = compose(
        "judge-led", None,
        {"model": str(base), "stand_ins": True, "steps": 4, "rank": 2, "max_completion": 12, "generations": 3,
         "domain": str(root / "flower.toml")},
    )  # fmt: skip
    run = make_run(root / "judge-led-1")
    (run / "recipe.toml").write_text(recipe.toml())
    torch.manual_seed(0)
    model = with_adapter(AutoModelForCausalLM.from_pretrained(base), recipe)
    for name, values in model.named_parameters():
        if "lora_B" in name:
            values.data.normal_(std=0.02)
    model.save_pretrained(run / "adapter")
    return root


def test_the_cards_own_code_loads_the_adapter(paint, hub, trained, capsys):
    run = trained / "judge-led-1"
    hub.repo("models", "me/tiny", contents(trained / "base"))
    ran = paint("publish", "adapter", run, "--model-licence", "apache-2.0", "--base-model", "me/tiny")
    assert ran.code == 0, ran.err
    repo = hub.repos["models", "me/judge-led-1-adapter"]
    assert {"adapter_model.safetensors", "prompt.json", "recipe.toml", "curve.csv", "curve.svg"} <= set(repo.files)
    assert json.loads(repo.files["adapter_config.json"])["base_model_name_or_path"] == "me/tiny"
    assert str(trained).encode() not in b"".join(repo.files.values())  # no folder of this machine
    card = repo.files["README.md"].decode()
    assert "base_model: me/tiny" in card and "judge 0.6" in card and "**A stand-in judged here" in card
    code = card.split("```python\n")[1].split("```")[0]
    seen: dict = {}
    exec(compile(code, "card", "exec"), seen)
    assert seen["saved"] == seen["placed"] and len(seen["saved"]) > 20
    assert f"All {len(seen['saved'])} tensors" in card and isinstance(seen["sketch"], str)

    # on a base of another shape of layers the same code stops, where peft alone would go on
    config = json.loads((trained / "base" / "config.json").read_text())
    from transformers import AutoModelForCausalLM, Qwen3Config

    shallow = Qwen3Config(**{**config, "num_hidden_layers": 1, "layer_types": None})
    AutoModelForCausalLM.from_config(shallow).save_pretrained(trained / "shallow")
    hub.repo("models", "me/shallow", {**contents(trained / "base"), **contents(trained / "shallow")})
    with pytest.raises(AssertionError, match="tensors found no place"):
        exec(compile(code.replace('"me/tiny"', '"me/shallow"'), "card", "exec"), {})


def test_an_adapter_of_a_folder_needs_the_models_name(paint, hub, trained):
    ran = paint("publish", "adapter", trained / "judge-led-1", "--model-licence", "apache-2.0")
    refused(ran, 2, "is a folder of this machine: say --base-model OWNER/NAME")
    refused(paint("publish", "adapter", trained / "base", "--model-licence", "mit"), 2, "neither a run")


def test_an_exam_is_told(paint, hub, trained, tmp_path):
    run = tmp_path / "judge-led-1"
    shutil.copytree(trained / "judge-led-1", run)
    facts = {"judge": "taste", "samples": 4, "references": {f"{n}.png": ["love", "0"] for n in range(2)}}
    table = [[1.0, 0.5], [0.0, 0.0], [1.0, 1.0], [0.5, 0.0]]
    stored = {"facts": facts, "table": table, "passed": [True, False, True, True]}
    (run / "exams").mkdir()
    (run / "exams" / "k1.json").write_text(json.dumps(stored))
    say = ("publish", "adapter", run, "--model-licence", "mit", "--base-model", "me/tiny")
    assert paint(*say).code == 0
    repo = hub.repos["models", "me/judge-led-1-adapter"]
    card = repo.files["README.md"].decode()
    assert "4 sketches with fixed seeds, each against the same 2 references" in card
    assert "the exam's judge was `taste`" in card and "| – | 0.500 |" in card and "| 4 | 0.75 |" in card
    write_exams(run / "exam.csv", [{"step": 3, "score": 0.25, "low": 0.1, "high": 0.4, "samples": 4, "key": "k1"}])
    assert paint(*say).code == 0
    assert "| 3 | 0.250 | 0.100 to 0.400 | 4 | – |" in repo.files["README.md"].decode() and "exam.csv" in repo.files


# -- Spaces --------------------------------------------------------------------------------------------------------


def make_space(project: Path, monkeypatch) -> None:
    """A checkout's spaces/ with two small Spaces; the wheel, which takes a minute to build, is one that was built."""
    for name in ("environment", "hpsv3"):
        folder = project / "spaces" / name
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(f"---\ntitle: {name}\nsdk: docker\ncolorFrom: pink\ncolorTo: red\n---\n")
        (folder / "Dockerfile").write_text("FROM python:3.12-slim\n")
    monkeypatch.setattr(folders, "SPACES", project / "spaces")

    def built(into: Path) -> Path:
        with zipfile.ZipFile(into / "paintcli-0.1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(zipfile.ZipInfo("paintcli/__init__.py"), "")
        return into

    monkeypatch.setattr("paintcli.training.hub.build_wheel", built)


def test_spaces_run_on_what_they_need_and_sleep(paint, hub, project, monkeypatch):
    make_space(project, monkeypatch)
    ran = paint("publish", "env")
    assert ran.code == 0 and "cpu-upgrade, billed while awake, and sleeps after 1 h idle" in ran.err
    repo = hub.repos["spaces", "me/paint-env"]
    assert repo.sdk == "docker" and repo.runtime["hardware"]["requested"] == "cpu-upgrade"
    assert repo.runtime["gcTimeout"] == 3600 and "paintcli-0.1.0-py3-none-any.whl" in repo.files
    assert paint("publish", "scorer").code == 0
    scorer = hub.repos["spaces", "me/paint-scorer"]
    assert (scorer.runtime["hardware"]["requested"], scorer.runtime["gcTimeout"]) == ("a100-large", 900)
    scorer.runtime["gcTimeout"] = None  # somebody made it never sleep
    before = len(hub.asked(SENDING))
    assert paint("publish", "scorer").code == 0 and scorer.runtime["gcTimeout"] == 900
    assert len(hub.asked(SENDING)) == before  # nothing else was touched
    small = ("--variable", "PAINT_PRECISION=4bit", "--sleep", "5", "--repo", "small")
    assert paint("publish", "scorer", *small).code == 0
    made = hub.repos["spaces", "me/small"]
    assert made.runtime == {**made.runtime, "gcTimeout": 300, "hardware": {"current": None, "requested": "l4x1"}}
    assert made.variables == {"PAINT_PRECISION": "4bit"}


def test_a_space_is_duplicated_with_a_secret_of_ones_own(paint, hub, project):
    hub.repo("spaces", "theirs/environment", {"Dockerfile": b"FROM scratch\n"}, sdk="docker")
    ran = paint("publish", "env", "--from", "theirs/environment", "--secret", "HF_TOKEN", "--repo", "mine")
    assert ran.code == 0, ran.err
    made = hub.repos["spaces", "me/mine"]
    assert made.private and made.files["Dockerfile"] == b"FROM scratch\n" and made.secrets == {"HF_TOKEN": WRITE}
    assert made.runtime["gcTimeout"] == 3600 and WRITE not in ran.out + ran.err
    assert not hub.asked("commit")
    refused(paint("publish", "env", "--from", "theirs/nothing"), 1, "theirs/nothing could not be duplicated")
    refused(paint("publish", "env", "--secret", "NO_SUCH_THING"), 2, "This machine has no NO_SUCH_THING")
    refused(paint("publish", "pool", "--from", "a/b"), 2, "for Spaces, and pool is none")
    refused(paint("publish", "env", "--sleep", "0"), 2, "--sleep is 1 minute to a week")


def test_trackio_shows_the_runs_curves(paint, hub, project):
    assert paint("publish", "trackio", "runs/first").code == 0
    repo = hub.repos["spaces", "me/paint-trackio"]
    assert repo.sdk == "gradio" and repo.files["curves/first.csv"] == (project / "runs/first/curve.csv").read_bytes()
    compile(repo.files["app.py"], "app.py", "exec")


def test_all_of_it_in_one_collection(paint, hub, project, trained, monkeypatch):
    make_space(project, monkeypatch)
    shutil.copytree(trained / "judge-led-1", project / "runs" / "judge-led-1")
    ran = paint("publish", "all", "runs/judge-led-1", "--base-model", "me/tiny", "--json")
    assert ran.code == 0, ran.err
    assert [json.loads(line)["kind"] for line in ran.out.splitlines()] == [
        "pool", "rollouts", "adapter", "gallery", "env", "scorer", "trackio"
    ]  # fmt: skip
    [collection] = hub.collections.values()
    assert [i["type"] for i in collection["items"]] == ["dataset", "dataset", "model", *["space"] * 4]
    assert hub.repos["spaces", "me/paint-env"].variables == {"PAINT_SCORER": "hub:me/paint-scorer"}
    assert all(repo.private for repo in hub.repos.values())

    hub.faults = [Fault("POST /api/models/.*/commit", status=500)]
    (project / "runs" / "judge-led-1" / "curve.csv").write_text("step,reward\r\n0,0.1\r\n1,0.3\r\n")
    ran = paint("publish", "all", "runs/judge-led-1", "--base-model", "me/tiny")
    refused(
        ran, 1, "Up and complete: me/studio-pool, me/judge-led-1-rollouts. Not yet: me/judge-led-1-adapter, me/judge"
    )
    refused(paint("publish", "all", "--repo", "x"), 2, "publish one thing to choose its own")
