"""Runs a Space's Dockerfile without Docker, as far as that goes, and tries the server it starts.

    .venv/bin/python spaces/check.py [environment] [hpsv3]

The folder is built as `paint publish` builds it. Each instruction is carried out in an empty folder with a new virtual
environment and a bare process environment: COPY, WORKDIR, ENV, ARG and RUN as written, with absolute paths below that
folder. Not done, and said: installing system packages (their programs must be here), users. Then CMD is started on a
free port and has to answer /health and one real question. `docker build` does all of it where there is an engine.

ARG values come from this process's environment: TORCH=/path/to/a/cpu/wheel spares gigabytes.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE.parent
PATIENCE = 300
"""Seconds until the server must answer /health: models are read before it listens."""


@dataclass
class Image:
    """What the instructions so far have made: a root folder, where we are in it, and the environment of what runs."""

    root: Path
    context: Path
    where: Path
    environment: dict[str, str]
    port: int = 0
    command: list[str] = field(default_factory=list)

    def place(self, path: str) -> Path:
        """A path of the image as it lies below our root."""
        return self.root / path.lstrip("/") if path.startswith("/") else self.where / path


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """(instruction, its text), continued lines joined, comments left out."""
    text = "\n".join(line for line in dockerfile.read_text("utf-8").splitlines() if not line.lstrip().startswith("#"))
    lines = re.sub(r"\\\s*\n\s*", " ", text).splitlines()
    return [(word, rest.strip()) for line in lines if line.strip() for word, _, rest in [line.strip().partition(" ")]]


def carry_out(image: Image, word: str, text: str) -> None:
    match word:
        case "FROM":
            version = re.search(r"python:(\d+\.\d+)", text)
            here = f"{sys.version_info.major}.{sys.version_info.minor}"
            if version and version[1] != here:
                sys.exit(f"The image has Python {version[1]}, this is {here}: run me with that one.")
            venv.create(image.root / "venv", with_pip=True)
        case "WORKDIR":
            image.where = image.place(text)
            image.where.mkdir(parents=True, exist_ok=True)
        case "ENV":
            image.environment |= dict(part.split("=", 1) for part in shlex.split(text))
        case "ARG":
            name, _, default = text.partition("=")
            image.environment[name] = os.environ.get(name, default)
        case "COPY":
            *sources, target = shlex.split(text)
            found = [path for source in sources for path in image.context.glob(source)]
            if not found:
                sys.exit(f"COPY {text}: there is no such file in the folder.")
            for path in found:
                shutil.copy(path, image.place(target))
        case "RUN" if "apt-get" in text:
            packages = re.search(r"install ([^&]*)", text)
            names = [n for n in (packages[1].split() if packages else []) if not n.startswith("-")]
            print(f"   not done here: the system's {', '.join(names)}")
            if shutil.which("apt-cache"):
                subprocess.run(["apt-cache", "show", *names], check=True, stdout=subprocess.DEVNULL)
        case "RUN" if "useradd" in text:
            print("   not done here: a user")
        case "RUN":
            subprocess.run(["bash", "-ec", text], cwd=image.where, env=image.environment, check=True)
        case "USER":
            pass
        case "EXPOSE":
            image.port = int(text)
        case "CMD":
            image.command = json.loads(text)
        case _:
            sys.exit(f"I do not know the instruction {word}.")


def bare(root: Path) -> dict[str, str]:
    """The environment of a container: nothing of ours but the way to the package index."""
    kept = {n: v for n, v in os.environ.items() if n.startswith("PIP_") or re.search("proxy|SSL_CERT", n, re.I)}
    own = Path.home() / ".config/pip/pip.conf"
    kept |= {"PIP_CONFIG_FILE": str(own)} if own.is_file() else {}
    home = root / "home"
    home.mkdir()
    return {**kept, "HOME": str(home), "PATH": f"{root}/venv/bin:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def ask(url: str, body: Any = None, patience: float = 120) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=patience) as answer:
        return json.load(answer)


def try_environment(address: str) -> str:
    reply = (PROJECT / "examples/peach-hibiscus.js").read_text("utf-8")
    told = ask(f"{address}/step", {"action": {"response": reply}, "seed": 7, "return_image": True})
    observation = told["observation"]
    assert observation["gate_passed"] and 0 < told["reward"] < 1, observation
    assert base64.b64decode(observation["image_png_base64"]).startswith(b"\x89PNG"), observation
    validator = Path.home() / ".cache/paint/openenv-0.10.0/bin/openenv"
    if validator.is_file():
        subprocess.run([validator, "validate", "--url", address], check=True, stdout=subprocess.DEVNULL)
    return observation["feedback"]


def try_hpsv3(address: str) -> str:
    png = (PROJECT / "tests/fixtures/hpsv3/picture-0.png").read_bytes()
    told = ask(f"{address}/score", {"png_base64": base64.b64encode(png).decode(), "prompt": "a flower"})
    assert told["available"] and 0 < told["score"] < 1, told
    return f"mu {told['mu']:.3f}"


TRIALS = {"environment": try_environment, "hpsv3": try_hpsv3}
GIVEN = {"hpsv3": {"PAINT_HPSV3": f"hpsv3:{PROJECT}/tests/fixtures/hpsv3", "PAINT_PRECISION": "fp32"}}
"""As with `docker run -e`: the tiny checkpoint of the tests, for nobody wants 17 GB here."""


def check(name: str) -> None:
    from paintcli.publishing.folders import space

    with tempfile.TemporaryDirectory(prefix="paint-image-") as scratch:
        context, root = Path(scratch) / "context", Path(scratch) / "root"
        context.mkdir()
        root.mkdir()
        space(name, context)
        image = Image(root, context, root, bare(root))
        for word, text in instructions(context / "Dockerfile"):
            print(f"{name}: {word} {text}"[:160], flush=True)
            carry_out(image, word, text)
        start(name, image)


def start(name: str, image: Image) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [re.sub(rf"\b{image.port}\b", str(port), part) for part in image.command]
    if command[:2] == ["tini", "--"] and not shutil.which("tini"):
        command = command[2:]
    address = f"http://127.0.0.1:{port}"
    environment = image.environment | GIVEN.get(name, {})
    program = shutil.which(command[0], path=environment["PATH"]) or sys.exit(f"There is no {command[0]} in the image.")
    server = subprocess.Popen([program, *command[1:]], cwd=image.where, env=environment, start_new_session=True)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            if server.poll() is not None:
                sys.exit(f"The server of {name} stopped by itself (status {server.returncode}).")
            try:
                health = ask(f"{address}/health", patience=10)
                break
            except OSError:
                if time.monotonic() > until:
                    sys.exit(f"The server of {name} did not answer within {PATIENCE} s.")
                time.sleep(0.5)
        print(f"{name}: {health['status']}; {TRIALS[name](address)}")
        server.terminate()
        if server.wait(60):
            sys.exit(f"The server of {name} ended with status {server.returncode}.")
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    for one in sys.argv[1:] or list(TRIALS):
        if one not in TRIALS:
            sys.exit(f"There is no Space {one!r}; there are {', '.join(TRIALS)}.")
        check(one)
