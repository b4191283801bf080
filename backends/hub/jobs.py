"""Hugging Face Jobs: a training run's Job planned, submitted, followed and cancelled."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import httpx2

from paintcli.errors import PaintError, Unavailable, UsageError

IMAGE = "ghcr.io/astral-sh/uv:python3.12-bookworm"
MOUNT = "/data"
"""Where the Hub's client puts the local files of a Job's arguments."""


@dataclass(frozen=True)
class Job:
    """Everything a Job is told. `secrets` are names; their values come from this machine when it is submitted."""

    script: str
    arguments: tuple[str, ...]
    dependencies: tuple[str, ...]
    flavor: str
    hours: int
    env: dict[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ("HF_TOKEN",)
    namespace: str | None = None

    def command(self) -> str:
        """The same Job as a line for a shell."""
        words = ["hf", "jobs", "uv", "run", "--flavor", self.flavor, "--timeout", f"{self.hours}h", "--image", IMAGE]
        for name in self.secrets:
            words += ["--secrets", name]
        for name, value in self.env.items():
            words += ["--env", f"{name}={value}"]
        for dependency in self.dependencies:
            words += ["--with", dependency]
        if self.namespace:
            words += ["--namespace", self.namespace]
        return shlex.join([*words, self.script, *self.arguments])


def client(purpose: str = "A Job runs under your account") -> Any:
    """The Hub's client. Raises UsageError without a token, beginning with `purpose`."""
    from huggingface_hub import HfApi, get_token

    if not get_token():
        raise UsageError(f"{purpose}: log in first (hf auth login), or set HF_TOKEN.")
    return HfApi()


def submit(job: Job) -> str:
    """Start a Job and return its id. Raises PaintError when the Hub refuses it."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import HfHubHTTPError

    hub = client()
    try:
        info = hub.run_uv_job(
            job.script,
            script_args=list(job.arguments),
            dependencies=list(job.dependencies),
            image=IMAGE,
            env=dict(job.env),
            secrets={name: get_token() for name in job.secrets},
            flavor=job.flavor,
            timeout=f"{job.hours}h",
            namespace=job.namespace,
        )
    except (HfHubHTTPError, httpx2.HTTPError) as error:
        raise PaintError(f"The Hub did not take the Job ({words(error)}).") from error
    return str(info.id)


def state(job_id: str) -> str:
    """SCHEDULING, RUNNING, COMPLETED, CANCELED, ERROR or DELETED. Raises Unavailable when the Hub does not say."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        stage = client().inspect_job(job_id=job_id).status.stage
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"The Hub does not say how Job {job_id} is ({words(error)}).") from error
    return str(stage.value if isinstance(stage, Enum) else stage)  # the client hands on either


def over(stage: str) -> bool:
    return stage in ("COMPLETED", "CANCELED", "ERROR", "DELETED")


def follow(job_id: str, told: Callable[[str], None], pause: float = 10.0, lost: float = 1800.0) -> str:
    """Hand every log line to `told` once until the Job is over; returns its last stage.

    A log stream that breaks off is taken up again, without repeating what was told. Raises Unavailable when the Hub
    could not be asked for `lost` seconds.
    """
    from huggingface_hub.errors import HfHubHTTPError

    hub, seen, last_contact = client(), 0, time.monotonic()
    while True:
        try:
            for number, line in enumerate(hub.fetch_job_logs(job_id=job_id, follow=True)):
                last_contact = time.monotonic()
                if number >= seen:
                    told(line)
                    seen = number + 1
        except (HfHubHTTPError, httpx2.HTTPError, OSError):
            pass  # a Job that is still being scheduled has no log, a stream of hours breaks
        try:
            stage = state(job_id)
        except Unavailable:
            if time.monotonic() - last_contact > lost:
                raise
        else:
            last_contact = time.monotonic()
            if over(stage):
                return stage
        time.sleep(pause)


def cancel(job_id: str) -> None:
    """End a Job. Raises PaintError when the Hub refuses."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        client().cancel_job(job_id=job_id)
    except (HfHubHTTPError, httpx2.HTTPError) as error:
        raise PaintError(f"Job {job_id} could not be cancelled ({words(error)}).") from error


def repository(repo: str) -> str:
    """Make the private dataset repository a run is pushed to, if need be; returns its full name."""
    from huggingface_hub.errors import HfHubHTTPError

    hub = client()
    name = repo if "/" in repo else f"{hub.whoami()['name']}/{repo}"
    try:
        hub.create_repo(name, repo_type="dataset", private=True, exist_ok=True)
    except (HfHubHTTPError, httpx2.HTTPError) as error:
        raise PaintError(f"The repository {name} cannot be made; does your token write? ({words(error)})") from error
    return name


def put(repo: str, folder: str, path: str = "", ignore: Sequence[str] = (), delete: Sequence[str] = ()) -> None:
    """Upload a folder into a dataset repository; only what changed travels. Raises Unavailable when it fails."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        client().upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            path_in_repo=path or None,
            ignore_patterns=list(ignore) or None,
            delete_patterns=list(delete) or None,
            commit_message="paint: a run as it is now",
        )
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"{folder} could not be pushed to {repo} ({words(error)}).") from error


def get(repo: str, folder: str, patterns: Sequence[str] = ()) -> None:
    """Download a dataset repository into `folder`. Raises Unavailable when it fails."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        snapshot_download(repo, repo_type="dataset", local_dir=folder, allow_patterns=list(patterns) or None)
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"{repo} could not be fetched ({words(error)}).") from error


def words(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())[:200]
