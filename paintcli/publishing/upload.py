"""From a folder to a repository on the Hub: only what changed, whole or not at all where it fits, and the truth if not.

First every large file that the Hub lacks is sent; none of that can be seen. Then one commit makes all of it visible at
once; a folder too large for one takes several, the card and the metadata in the last. Whatever is interrupted is taken
up by doing the same again: what the Hub has is never sent twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, RepositoryNotFoundError

from paintcli.backends.hub import jobs
from paintcli.errors import PaintError, UsageError
from paintcli.publishing.folders import MANIFEST

MOST_FILES = 1000
"""Files in one commit: what the Hub's own client goes up to."""
MOST_BYTES = 100 << 20
"""Bytes of small files in one commit, which travel in its body."""
LAST = ("README.md", "metadata.jsonl", "unpainted.jsonl")
"""In the last commit when there are several: until then the repository describes what was there before. The manifest
and what is deleted go in the first: by it the next attempt knows the repository again."""
FRESH = {".gitattributes", "README.md"}
"""What a repository holds that was just made on the site."""

FAILURES = (HfHubHTTPError, httpx2.HTTPError, OSError, ValueError, RuntimeError)
"""What the Hub's client raises: for an answer, for none, for metadata the Hub refuses, for a file that did not go."""

Told = Callable[[str], None]


@dataclass(frozen=True)
class Account:
    """Who the token belongs to. `owners`: the names under which it may publish."""

    name: str
    owners: tuple[str, ...]


@dataclass(frozen=True)
class Hosting:
    """How a Space runs. `sleep` in seconds without a visitor; None where the hardware is free and sleeps by itself."""

    sdk: str
    hardware: str | None = None
    sleep: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def settings(self) -> dict[str, Any]:
        """Keyword arguments of `create_repo` and `duplicate_repo`."""
        return {
            "space_hardware": self.hardware,
            "space_sleep_time": self.sleep,
            "space_variables": pairs(self.variables),
            "space_secrets": pairs(self.secrets),
        }


@dataclass(frozen=True)
class Sent:
    """What a publication did: files sent, deleted, and left as they were."""

    repo: str
    url: str
    sent: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    commits: int = 0


def pairs(values: Mapping[str, str]) -> list[dict[str, str]] | None:
    return [{"key": key, "value": value} for key, value in values.items()] or None


def client() -> HfApi:
    """The Hub's client. Raises UsageError without a token."""
    api: HfApi = jobs.client("Publishing goes to your account")
    return api


def account(api: HfApi) -> Account:
    """Who publishes. Raises UsageError for a token that the Hub does not know or that only reads."""
    with sentences("Who you are could not be asked"):
        me = api.whoami()
    token = (me.get("auth") or {}).get("accessToken") or {}
    if token.get("role") == "read":
        raise UsageError(
            f"The token {token.get('displayName', '')} of {me['name']} only reads: make one that writes at "
            "https://huggingface.co/settings/tokens."
        )
    return Account(str(me["name"]), (str(me["name"]), *(str(o["name"]) for o in me.get("orgs") or [])))


def full_name(name: str, owner: str) -> str:
    """ "owner/name"; a name that has an owner keeps it. Raises UsageError for what the Hub would not take."""
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    repo = name if "/" in name else f"{owner}/{name}"
    try:
        validate_repo_id(repo)
    except HFValidationError:
        raise UsageError(
            f"{repo!r} cannot be a repository's name: letters, digits, -, _ and . only, at most 96 of them, no -- and "
            "no .., not beginning or ending in - or ."
        ) from None
    return repo


def send(
    api: HfApi, folder: Path, repo: str, repo_type: str, *, public: bool = False, hosting: Hosting | None = None,
    told: Told = lambda text: None,
) -> Sent:  # fmt: skip
    """Make the repository hold what the folder holds. `repo_type`: dataset, model or space.

    Files that an earlier publication put there and this one has not are deleted; others are left alone. Private unless
    `public`; one that is public already stays so. Raises UsageError for a repository with other content, PaintError
    when the Hub refuses or fails, saying what is up and what is not.
    """
    kind = json.loads((folder / MANIFEST).read_text("utf-8"))["kind"]
    prepare(api, repo, repo_type, kind, hosting)
    files = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    with sentences(f"{repo} could not be listed"):
        head = api.repo_info(repo, repo_type=repo_type).sha
        there = listing(api, repo, repo_type)
    changed = [name for name, path in files.items() if not same(path, there.get(name))]
    ours = earlier(api, repo, repo_type, there)
    gone = sorted(name for name in ours if name in there and name not in files)
    url = f"{api.endpoint}/{'' if repo_type == 'model' else repo_type + 's/'}{repo}"
    commits = 0
    if changed or gone:
        told(f"{repo}: {len(changed)} of {len(files)} files to send" + (f", {len(gone)} to delete." if gone else "."))
        commits = commit(api, repo, repo_type, {n: files[n] for n in changed}, gone, head, f"paint publish {kind}")
    if public:
        with sentences(f"{repo} is complete but could not be made public"):
            if api.repo_info(repo, repo_type=repo_type).private:
                api.update_repo_settings(repo, repo_type=repo_type, private=False)
    return Sent(repo, url, tuple(changed), tuple(gone), len(files) - len(changed), commits)


def prepare(api: HfApi, repo: str, repo_type: str, kind: str, hosting: Hosting | None) -> None:
    """Make the repository, private, or make sure of an existing one that it is for this and that a Space sleeps."""
    try:
        with sentences(f"{repo} could not be looked at"):
            there = listing(api, repo, repo_type)
    except Missing:
        with sentences(f"{repo} could not be made"):
            made = hosting.settings() if hosting else {}
            sdk = hosting.sdk if hosting else None
            api.create_repo(repo, repo_type=repo_type, private=True, space_sdk=sdk, **made)
        return
    manifest = manifest_of(api, repo, repo_type, there)
    if manifest.get("kind", kind if there.keys() <= FRESH else None) != kind:
        other = sorted(there.keys() - FRESH)
        raise UsageError(
            f"{repo} holds something else ({len(other)} files, such as {other[0]}): name another with --repo."
        )
    if hosting:
        furnish(api, repo, hosting)


def furnish(api: HfApi, repo: str, hosting: Hosting) -> None:
    """Settings of a Space that exists: variables and secrets as asked, and a sleep time where it has none."""
    with sentences(f"{repo} could not be set up"):
        for key, value in hosting.variables.items():
            api.add_space_variable(repo, key, value)
        for key, value in hosting.secrets.items():
            api.add_space_secret(repo, key, value)
        if hosting.hardware:
            now = api.get_space_runtime(repo)
            if (now.requested_hardware or now.hardware) != hosting.hardware:
                api.request_space_hardware(repo, hosting.hardware, sleep_time=hosting.sleep)  # type: ignore[arg-type]
            elif hosting.sleep and now.sleep_time != hosting.sleep:
                api.set_space_sleep_time(repo, hosting.sleep)


def duplicate(api: HfApi, source: str, repo: str, hosting: Hosting, public: bool) -> Sent:
    """A copy of an existing Space under `repo`, with hardware, sleep time, variables and secrets of its own."""
    with sentences(f"{source} could not be duplicated to {repo}"):
        url = api.duplicate_repo(
            source, repo, repo_type="space", private=not public, exist_ok=True, **hosting.settings()
        )
    furnish(api, repo, hosting)
    return Sent(repo, str(url))


def collect(api: HfApi, title: str, owner: str, items: Sequence[tuple[Sent, str, str]], public: bool) -> str:
    """Put (what was sent, its type, a note) into the collection of this title, made if need be; returns its address."""
    with sentences(f"Everything is up, but the collection {title!r} could not be filled"):
        made = api.create_collection(
            title, namespace=owner, private=not public, exists_ok=True,
            description="Published with paint: a pool of rated paintings, what learned from it, and what it painted.",
        )  # fmt: skip
        for sent, repo_type, note in items:
            api.add_collection_item(made.slug, sent.repo, repo_type, note=note, exists_ok=True)  # type: ignore[arg-type]
    return made.url


# -- what is there -------------------------------------------------------------------------------------------------


def listing(api: HfApi, repo: str, repo_type: str) -> dict[str, tuple[str, str | None]]:
    """path → (git blob id, SHA-256 of a large file or None) of everything in the repository."""
    from huggingface_hub.hf_api import RepoFile

    return {
        entry.path: (entry.blob_id, entry.lfs.sha256 if entry.lfs else None)
        for entry in api.list_repo_tree(repo, recursive=True, repo_type=repo_type)
        if isinstance(entry, RepoFile)
    }


def manifest_of(api: HfApi, repo: str, repo_type: str, there: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest in the repository; {} without one of ours."""
    if MANIFEST not in there:
        return {}
    with sentences(f"{MANIFEST} of {repo} could not be read"):
        path = api.hf_hub_download(repo, MANIFEST, repo_type=repo_type)
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.get("made_by") == "paint" else {}


def earlier(api: HfApi, repo: str, repo_type: str, there: Mapping[str, Any]) -> list[str]:
    """What an earlier publication put there."""
    return [str(name) for name in manifest_of(api, repo, repo_type, there).get("files", [])]


def same(path: Path, there: tuple[str, str | None] | None) -> bool:
    """Whether the Hub has the very bytes of this file."""
    if there is None:
        return False
    blob, sha256 = there
    digest = hashlib.sha256() if sha256 else hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == (sha256 or blob)


# -- sending -------------------------------------------------------------------------------------------------------


def commit(
    api: HfApi, repo: str, repo_type: str, files: Mapping[str, Path], gone: Sequence[str], head: str | None, title: str
) -> int:
    """Send these files and delete those in as few commits as fit; returns how many. `head`: what the repository is at.

    Raises PaintError saying what can be seen of it.
    """
    additions = [CommitOperationAdd(name, path) for name, path in files.items()]
    with sentences(f"Nothing of {repo} has changed: sending was interrupted, and the same command goes on from here"):
        api.preupload_lfs_files(repo, additions, repo_type=repo_type, free_memory=False)
    batches = list(batched(additions))
    for number, batch in enumerate(batches or [[]], 1):
        operations: list[Any] = [*batch, *(CommitOperationDelete(name) for name in gone if number == 1)]
        message = title if len(batches) <= 1 else f"{title}, part {number} of {len(batches)}"
        try:
            made = api.create_commit(repo, operations, commit_message=message, repo_type=repo_type, parent_commit=head)
        except FAILURES as error:
            raise PaintError(f"{visible(api, repo, repo_type, files, head)} ({why(error)}).") from error
        head = made.oid
    return max(len(batches), 1)


def batched(additions: Sequence[CommitOperationAdd]) -> Iterator[list[CommitOperationAdd]]:
    """Commits of at most MOST_FILES files and MOST_BYTES of small ones, with what describes the rest in the last."""
    batch: list[CommitOperationAdd] = []
    size = 0
    for operation in sorted(
        additions, key=lambda a: (a.path_in_repo in LAST, a.path_in_repo != MANIFEST, a.path_in_repo)
    ):
        weight = operation.upload_info.size if operation._upload_mode == "regular" else 0
        if batch and (len(batch) == MOST_FILES or size + weight > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(operation)
        size += weight
    if batch:
        yield batch


def visible(api: HfApi, repo: str, repo_type: str, files: Mapping[str, Path], head: str | None) -> str:
    """What a commit that failed left behind, asked of the Hub itself: an answer may be lost after the deed."""
    again = "publish again, only what is missing is sent"
    try:
        there = listing(api, repo, repo_type)
        moved = api.repo_info(repo, repo_type=repo_type).sha != head
    except FAILURES:
        return f"A commit to {repo} failed and the Hub does not say how much of it is up: {again}"
    up = sum(same(path, there.get(name)) for name, path in files.items())
    if up == len(files):
        return f"All {up} files of {repo} are up, although the Hub did not confirm it: publish again to make sure"
    if up or moved:
        return f"{repo} is half published, {up} of {len(files)} files are up: {again}"
    return f"Nothing of {repo} has changed, its commit failed: {again}"


# -- what the Hub says ---------------------------------------------------------------------------------------------


class Missing(PaintError):
    """There is no such repository, or the token may not see it."""


class sentences:
    """Turns what the Hub's client raises inside into a PaintError beginning with `what`."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RepositoryNotFoundError):
            raise Missing(f"{self.what}: the Hub has no such repository, or your token may not see it.") from error
        if isinstance(error, FAILURES):
            raise PaintError(f"{self.what} ({why(error)}).") from error


def why(error: Exception) -> str:
    """What went wrong, in words; what the server said where it said something."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
        return f"{jobs.words(error).rstrip('.')}: {why(error.__cause__)}"  # which file, and then why
    if not isinstance(error, HfHubHTTPError):
        return jobs.words(error) or type(error).__name__
    status = error.response.status_code
    said = " ".join((error.server_message or "").split())[:200]
    if status == 412:
        return "somebody else changed the repository meanwhile"
    known = {401: "the Hub does not know this token", 402: "this needs a paid plan", 403: "your token may not do this",
             413: "it is too large", 429: "too many requests, wait a while", 507: "no storage is left"}  # fmt: skip
    words = known.get(status) or ("the Hub failed" if status >= 500 else "the Hub refused")
    return f"{words}: {status}{f', {said}' if said else ''}"
