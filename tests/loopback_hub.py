"""A Hub on this machine: as much of its HTTP API as the real huggingface_hub client needs to create repositories,
upload (preupload, LFS in one or several parts, commit), list, download, collect, and run Spaces.

It keeps what it was given in memory and refuses what the Hub refuses: no token, a token that only reads, a name that
is taken or cannot be, a file whose bytes are not those announced, a commit of a file that was never uploaded.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import Serving

WRITE, READ = "hf_" + "w" * 34, "hf_" + "r" * 34
"""Tokens of the only account, "me"."""

REGULAR = {
    ".md",
    ".txt",
    ".json",
    ".jsonl",
    ".js",
    ".py",
    ".toml",
    ".csv",
    ".css",
    ".html",
    ".svg",
    ".yaml",
    ".yml",
    "",
}
"""Suffixes the Hub keeps in git; everything else, and everything over `LARGE` bytes, is LFS."""
LARGE = 10 * 1024**2
KINDS = ("models", "datasets", "spaces")
WHEN = "2026-01-01T00:00:00.000Z"


@dataclass
class Repo:
    """One repository. `commits` is its history, oldest first: (id, summary, path → bytes)."""

    kind: str
    name: str
    private: bool = False
    commits: list[tuple[str, str, dict[str, bytes]]] = field(default_factory=list)
    lfs: set[str] = field(default_factory=set)
    """Paths whose last version is an LFS object."""
    sdk: str | None = None
    host: str | None = None
    """Where a Space answers."""
    runtime: dict[str, Any] = field(default_factory=dict)
    """What a Space answers about itself: stage, hardware {"current", "requested"}, gcTimeout (seconds)."""
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        """What is in it now."""
        return self.commits[-1][2]

    def commit(self, summary: str, files: dict[str, bytes]) -> str:
        seed = f"{self.kind}/{self.name}/{len(self.commits)}/{time.monotonic_ns()}"
        self.commits.append((hashlib.sha1(seed.encode()).hexdigest(), summary, files))
        return self.commits[-1][0]

    def entry(self, path: str, data: bytes) -> dict[str, Any]:
        found = {"type": "file", "path": path, "size": len(data), "oid": git_hash(data)}
        if path in self.lfs:
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(data)}\nsize {len(data)}\n"
            found["oid"] = git_hash(pointer.encode())
            found["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": len(pointer)}
        return found


@dataclass
class Fault:
    """What goes wrong with requests whose "METHOD path" matches: from the `after`-th match on, `times` of them.

    `status` 0 closes the connection without an answer. `then` is called first. `done`: what was asked is done all the
    same, only the answer goes astray.
    """

    pattern: str
    status: int = 500
    message: str = "Internal Error"
    after: int = 0
    times: int = 10**9
    then: Callable[[], None] = lambda: None
    done: bool = False
    seen: int = 0


class HubServer(Serving):
    """The Hub, as a context manager. All state is open: change it to set a scene, read it to see what happened.

    `connect(monkeypatch)` points huggingface_hub in this process here with a token; `environment()` does for others.
    """

    def __init__(self, page: int = 1000, part: int | None = None) -> None:
        """`page`: entries of a listing per answer. `part`: bytes from which an LFS upload is cut into parts."""
        self.page, self.part = page, part
        self.tokens: dict[str, str] = {WRITE: "write", READ: "read"}
        self.rights: list[str] = []
        """Permissions of tokens whose role is fineGrained."""
        self.repos: dict[tuple[str, str], Repo] = {}
        """(models | datasets | spaces, "owner/name") → repository."""
        self.objects: dict[str, bytes] = {}
        """LFS objects by SHA-256."""
        self.collections: dict[str, dict[str, Any]] = {}
        """By slug: {"title", "private", "items": [{"id", "type", …}], …}."""
        self.requests: list[tuple[str, str]] = []
        """(method, path) of everything asked."""
        self.received: list[str] = []
        """SHA-256 of every LFS object that was uploaded, in order; with repeats if it was sent twice."""
        self.faults: list[Fault] = []
        self._parts: dict[str, dict[int, bytes]] = {}
        self.guard = threading.RLock()
        outer = self

        class Handler(_Handler):
            hub = outer

        super().__init__(Handler)

    def environment(self, token: str = WRITE) -> dict[str, str]:
        """Variables for another process to find this Hub by."""
        return {"HF_ENDPOINT": self.address, "HF_TOKEN": token, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}

    def connect(self, monkeypatch: Any, token: str | None = WRITE) -> None:
        """Point huggingface_hub in this process here; `token` None: nobody is logged in."""
        from huggingface_hub import constants, hf_api

        monkeypatch.setattr(constants, "ENDPOINT", self.address)
        monkeypatch.setattr(hf_api.api, "endpoint", self.address)  # whose methods are the package's functions
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", self.address + template[template.index("/{repo") :]
        )
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nowhere/token")
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        if token:
            monkeypatch.setenv("HF_TOKEN", token)

    def repo(self, kind: str, name: str, files: dict[str, bytes] | None = None, **values: Any) -> Repo:
        """Put a repository here, as if somebody had made it on the site. `kind`: models, datasets or spaces."""
        made = Repo(kind, name, **values)
        made.commit("initial commit", {".gitattributes": b"*.png filter=lfs\n", **(files or {})})
        made.lfs = {path for path in made.files if PurePosixPath(path).suffix not in REGULAR}
        if kind == "spaces" and not made.runtime:
            made.runtime = {"stage": "BUILDING", "hardware": {"current": None, "requested": "cpu-basic"}}
        self.repos[kind, name] = made
        return made

    def asked(self, pattern: str) -> list[str]:
        """Every "METHOD path" that matches the regular expression."""
        return [line for line in (" ".join(r) for r in self.requests) if re.search(pattern, line)]


class Refused(Exception):
    def __init__(self, status: int, message: str, code: str = "") -> None:
        self.status, self.message, self.code = status, message, code


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: HubServer
    astray = False

    def handle_one(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                self.body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        url = urlsplit(self.path)
        path, self.query = unquote(url.path), {k: v[0] for k, v in parse_qs(url.query).items()}
        with self.hub.guard:
            self.hub.requests.append((self.command, path))
            fault = self.fault(f"{self.command} {path}")
        self.astray = bool(fault and fault.done)
        if fault and not fault.done:
            fault.then()
            self.fail(fault)
            return
        try:
            for method, pattern, answer in ROUTES:
                found = re.fullmatch(pattern, path)
                if found and self.command in method.split():
                    with self.hub.guard:
                        answer(self, *found.groups())
                    break
            else:
                raise Refused(404, f"no such endpoint: {self.command} {path}")
        except Refused as error:
            headers = {"X-Error-Message": error.message} | ({"X-Error-Code": error.code} if error.code else {})
            self.answer({"error": error.message}, error.status, headers)
        if fault:
            self.astray = False
            fault.then()
            self.fail(fault)

    def fail(self, fault: Fault) -> None:
        if fault.status == 0:
            self.close_connection = True
        else:
            self.answer({"error": fault.message}, fault.status, {"X-Error-Message": fault.message})

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_one

    def fault(self, line: str) -> Fault | None:
        for fault in self.hub.faults:
            if re.search(fault.pattern, line):
                fault.seen += 1
                if fault.after < fault.seen <= fault.after + fault.times:
                    return fault
        return None

    def answer(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        if self.astray:
            return
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass

    # -- who asks, and for what ------------------------------------------------------------------------------------

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else {}

    def role(self) -> str | None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in self.hub.tokens:
            raise Refused(401, "Invalid credentials in Authorization header")
        return self.hub.tokens.get(token)

    def writing(self, owner: str = "me") -> None:
        """Raises Refused unless the token may write in the namespace."""
        if self.role() is None:
            raise Refused(401, "Invalid username or password.")
        if self.role() != "write":
            raise Refused(403, "you must use a write token to upload to a repository.")
        if owner != "me":
            raise Refused(403, f"You don't have the rights to create or write under the namespace {owner!r}")

    def found(self, kind: str, name: str) -> Repo:
        repo = self.hub.repos.get((kind, name))
        if repo is None or (repo.private and self.role() is None):
            raise Refused(401 if self.role() is None else 404, "Repository not found", "RepoNotFound")
        return repo

    def at(self, repo: Repo, revision: str) -> dict[str, bytes]:
        if revision == "main":
            return repo.files
        for identity, _, files in repo.commits:
            if identity == revision:
                return files
        raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    # -- account and repositories ----------------------------------------------------------------------------------

    def whoami(self) -> None:
        role = self.role()
        if role is None:
            raise Refused(401, "Invalid username or password.")
        token: dict[str, Any] = {"displayName": "loopback", "role": role, "createdAt": WHEN}
        if role == "fineGrained":
            scope = {"entity": {"type": "user", "name": "me"}, "permissions": self.hub.rights}
            token["fineGrained"] = {"global": ["discussion.write"], "scoped": [scope]}
        self.answer(
            {"type": "user", "id": "1", "name": "me", "fullname": "Me", "canPay": True, "orgs": [],
             "auth": {"type": "access_token", "accessToken": token}}
        )  # fmt: skip

    def create(self) -> None:
        asked = self.json
        owner, name = asked.get("organization") or "me", asked["name"]
        self.writing(owner)
        if not re.fullmatch(r"[\w.-]{1,96}", name) or name.endswith((".git", ".ipynb", ".", "-")):
            raise Refused(400, f"Invalid repo name: {owner}/{name}")
        kind = (asked.get("type") or "model") + "s"
        url = f"{self.hub.address}/{'' if kind == 'models' else kind + '/'}{owner}/{name}"
        if (kind, f"{owner}/{name}") in self.hub.repos:
            self.answer({"error": "You already created this repo", "url": url}, 409)
            return
        repo = self.hub.repo(kind, f"{owner}/{name}", private=asked.get("visibility") == "private")
        self.furnish(repo, asked)
        self.answer({"url": url, "name": repo.name})

    def furnish(self, repo: Repo, asked: dict[str, Any]) -> None:
        """What create and duplicate say about a Space."""
        repo.sdk = asked.get("sdk", repo.sdk)
        if "hardware" in asked:
            repo.runtime["hardware"] = {"current": None, "requested": asked["hardware"]}
        if "sleepTimeSeconds" in asked:
            repo.runtime["gcTimeout"] = asked["sleepTimeSeconds"]
        for kind, kept in (("secrets", repo.secrets), ("variables", repo.variables)):
            kept.update({pair["key"]: pair["value"] for pair in asked.get(kind) or []})

    def delete(self) -> None:
        asked = self.json
        owner = asked.get("organization") or "me"
        self.writing(owner)
        if self.hub.repos.pop(((asked.get("type") or "model") + "s", f"{owner}/{asked['name']}"), None) is None:
            raise Refused(404, "Repository not found", "RepoNotFound")
        self.answer({})

    def info(self, kind: str, name: str, revision: str | None = None) -> None:
        repo = self.found(kind, name)
        files = self.at(repo, revision or "main")
        sha = next(i for i, _, f in repo.commits if f is files)
        self.answer(self.described(repo) | {"sha": sha, "siblings": [{"rfilename": path} for path in files]})

    def described(self, repo: Repo) -> dict[str, Any]:
        told = {
            "_id": "1", "id": repo.name, "author": repo.name.split("/")[0], "private": repo.private, "tags": [],
            "lastModified": WHEN, "createdAt": WHEN, "downloads": 0, "likes": 0, "disabled": False, "gated": False,
        }  # fmt: skip
        return told | ({"sdk": repo.sdk, "host": repo.host, "runtime": repo.runtime} if repo.kind == "spaces" else {})

    def listing(self, kind: str) -> None:
        owner = self.query.get("author", "")
        self.answer(
            [self.described(r) for (k, n), r in self.hub.repos.items() if k == kind and n.startswith(f"{owner}/")]
        )

    def settings(self, kind: str, name: str) -> None:
        self.writing(name.split("/")[0])
        repo = self.found(kind, name)
        if "visibility" in self.json:
            repo.private = self.json["visibility"] == "private"
        self.answer({"private": repo.private})

    def validate(self) -> None:
        import yaml

        text = self.json["content"]
        try:
            head = yaml.safe_load(text.split("---\n")[1]) if text.startswith("---\n") else None
        except yaml.YAMLError as error:
            self.answer({"errors": [{"message": f"not YAML: {error}"}], "warnings": []}, 400)
            return
        if not isinstance(head, dict):
            self.answer({"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]})
            return
        errors = []
        if self.json["repoType"] == "space":
            for key, allowed in (("sdk", ("docker", "static", "gradio")), ("colorFrom", COLOURS), ("colorTo", COLOURS)):
                if key in head and head[key] not in allowed:
                    errors.append({"message": f'"{key}" must be one of [{", ".join(allowed)}]'})
            if len(str(head.get("short_description", ""))) > 60:
                errors.append({"message": '"short_description" length must be less than or equal to 60'})
        elif head.get("license") not in LICENCES:
            errors.append({"message": f'"license" must be one of {sorted(LICENCES)}'})
        self.answer({"errors": errors, "warnings": []}, 400 if errors else 200)

    # -- files -----------------------------------------------------------------------------------------------------

    def tree(self, kind: str, name: str, revision: str, folder: str | None = None) -> None:
        repo = self.found(kind, name)
        files = {p: d for p, d in self.at(repo, revision).items() if not folder or p.startswith(folder + "/")}
        deep = self.query.get("recursive", "false").lower() == "true"
        depth = folder.count("/") + 1 if folder else 0
        entries: dict[str, dict[str, Any]] = {}
        for path, data in sorted(files.items()):
            parts = path.split("/")
            for end in range(depth + 1, len(parts) if deep else min(len(parts), depth + 2)):
                above = "/".join(parts[:end])
                entries[above] = {"type": "directory", "path": above, "oid": git_hash(above.encode()), "size": 0}
            if deep or len(parts) == depth + 1:
                entries[path] = repo.entry(path, data)
        start = int(self.query.get("cursor", 0))
        headers = {}
        if start + self.hub.page < len(entries):
            rest = "&".join(f"{k}={v}" for k, v in {**self.query, "cursor": str(start + self.hub.page)}.items())
            headers["Link"] = f'<{self.hub.address}{urlsplit(self.path).path}?{rest}>; rel="next"'
        self.answer(list(entries.values())[start : start + self.hub.page], headers=headers)

    def paths(self, kind: str, name: str, revision: str) -> None:
        repo = self.found(kind, name)
        files = self.at(repo, revision)
        asked = self.json["paths"] if self.body[:1] == b"{" else parse_qs(self.body.decode()).get("paths", [])
        self.answer([repo.entry(path, files[path]) for path in asked if path in files])

    def preupload(self, kind: str, name: str, revision: str) -> None:
        self.writing(name.split("/")[0])
        repo = self.found(kind, name)
        told = []
        for file in self.json["files"]:
            path, old = file["path"], repo.files.get(file["path"])
            large = file["size"] > LARGE or PurePosixPath(path).suffix.lower() not in REGULAR
            oid = None if old is None else sha256(old) if path in repo.lfs else git_hash(old)
            told.append({"path": path, "uploadMode": "lfs" if large else "regular", "shouldIgnore": False, "oid": oid})
        self.answer({"files": told})

    def batch(self, kind: str | None, name: str) -> None:
        self.writing(name.split("/")[0])
        self.found(kind or "models", name)
        objects = []
        for wanted in self.json["objects"]:
            told = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.hub.objects:
                place = f"{self.hub.address}/lfs/{wanted['oid']}"
                upload: dict[str, Any] = {"href": place}
                if self.hub.part and wanted["size"] > self.hub.part:
                    count = -(-wanted["size"] // self.hub.part)
                    header = {str(n): f"{place}/{n}" for n in range(1, count + 1)}
                    upload = {"href": f"{place}/complete", "header": {"chunk_size": str(self.hub.part), **header}}
                told["actions"] = {"upload": upload}
            objects.append(told)
        self.answer({"transfer": "basic", "objects": objects})

    def put(self, oid: str, part: str | None = None) -> None:
        if part:
            self.hub._parts.setdefault(oid, {})[int(part)] = self.body
            self.answer(b"", headers={"ETag": f'"{part}"'})
            return
        self.store(oid, self.body)

    def complete(self, oid: str) -> None:
        parts = self.hub._parts.pop(oid)
        self.store(oid, b"".join(parts[p["partNumber"]] for p in self.json["parts"]))

    def store(self, oid: str, data: bytes) -> None:
        if sha256(data) != oid:
            raise Refused(400, "the bytes are not those announced")
        self.hub.objects[oid] = data
        self.hub.received.append(oid)
        self.answer({})

    def commit(self, kind: str, name: str, revision: str) -> None:
        self.writing(name.split("/")[0])
        repo = self.found(kind, name)
        files, lfs, summary = dict(repo.files), set(repo.lfs), ""
        for line in self.body.splitlines():
            item = json.loads(line)
            value = item["value"]
            match item["key"]:
                case "header":
                    summary = value["summary"]
                    parent = value.get("parentCommit")
                    if parent and parent != repo.commits[-1][0]:
                        raise Refused(412, "A commit has happened since. Please refresh and try again.")
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                    lfs.discard(value["path"])
                case "lfsFile":
                    if value["oid"] not in self.hub.objects:
                        raise Refused(400, f"LFS object {value['oid']} of {value['path']} was never uploaded")
                    files[value["path"]] = self.hub.objects[value["oid"]]
                    lfs.add(value["path"])
                case "deletedFile":
                    if files.pop(value["path"], None) is None:
                        raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
                    lfs.discard(value["path"])
                case "deletedFolder":
                    files = {p: d for p, d in files.items() if not p.startswith(value["path"].rstrip("/") + "/")}
        repo.lfs = lfs
        oid = repo.commit(summary, files)
        self.answer({"success": True, "commitOid": oid, "commitUrl": f"{self.hub.address}/{name}/commit/{oid}"})

    def resolve(self, kind: str | None, name: str, revision: str, path: str) -> None:
        repo = self.found((kind or "models/").rstrip("/"), name)
        files = self.at(repo, revision)
        if path not in files:
            raise Refused(404, "Entry not found", "EntryNotFound")
        data = files[path]
        sha = next(i for i, _, f in repo.commits if f is files)
        etag = sha256(data) if path in repo.lfs else git_hash(data)
        self.answer(
            data, headers={"ETag": f'"{etag}"', "X-Repo-Commit": sha, "Content-Type": "application/octet-stream"}
        )

    # -- collections and Spaces ------------------------------------------------------------------------------------

    def collect(self) -> None:
        asked = self.json
        self.writing(asked["namespace"])
        stem = re.sub(r"[^a-z0-9]+", "-", asked["title"].lower()).strip("-")
        slug = f"{asked['namespace']}/{stem}-{hashlib.md5(stem.encode()).hexdigest()[:24]}"
        if slug in self.hub.collections:
            self.answer({"error": "Collection already exists", "slug": slug}, 409)
            return
        if len(asked.get("description") or "") > 150:
            raise Refused(400, "description must be at most 150 characters")
        self.hub.collections[slug] = {
            "slug": slug, "title": asked["title"], "owner": {"name": "me"}, "items": [], "lastUpdated": WHEN,
            "position": 1, "private": asked.get("private", False), "theme": "blue", "upvotes": 0,
            "description": asked.get("description"),
        }  # fmt: skip
        self.answer(self.hub.collections[slug])

    def collection(self, slug: str) -> None:
        if slug not in self.hub.collections:
            raise Refused(404, "Collection not found")
        self.answer(self.hub.collections[slug])

    def add_item(self, slug: str) -> None:
        self.writing(slug.split("/")[0])
        items, item = self.hub.collections[slug]["items"], self.json["item"]
        if any((i["id"], i["type"]) == (item["id"], item["type"]) for i in items):
            self.answer({"error": "Item already in collection"}, 409)
            return
        self.found(item["type"] + "s", item["id"])
        note = {"text": self.json["note"]} if "note" in self.json else None
        items.append({"_id": str(len(items)), **item, "position": len(items), "note": note})
        self.answer(self.hub.collections[slug])

    def runtime(self, name: str, action: str) -> None:
        repo = self.found("spaces", name)
        if self.command != "GET":
            self.writing(name.split("/")[0])
        match action:
            case "hardware":
                repo.runtime["hardware"] = {**repo.runtime["hardware"], "requested": self.json["flavor"]}
                if "sleepTimeSeconds" in self.json:
                    repo.runtime["gcTimeout"] = self.json["sleepTimeSeconds"]
            case "sleeptime":
                repo.runtime["gcTimeout"] = self.json["seconds"]
            case "pause":
                repo.runtime["stage"] = "PAUSED"
            case "restart":
                repo.runtime["stage"] = "RUNNING"
        self.answer(repo.runtime)

    def hardware(self) -> None:
        self.answer(
            [
                {"name": name, "prettyName": name, "cpu": "2 vCPU", "ram": "16 GB", "accelerator": None,
                 "unitCostMicroUSD": round(cost * 1e6), "unitCostUSD": cost, "unitLabel": "minute"}
                for name, cost in PRICES.items()
            ]
        )  # fmt: skip

    def values(self, name: str, which: str) -> None:
        repo = self.found("spaces", name)
        if self.command != "GET" or which == "secrets":
            self.writing(name.split("/")[0])
        kept: dict[str, str] = getattr(repo, which)
        if self.command == "POST":
            kept[self.json["key"]] = self.json["value"]
        elif self.command == "DELETE":
            kept.pop(self.json["key"], None)
        shown = {
            k: {"key": k, "updatedAt": WHEN, **({"value": v} if which == "variables" else {})} for k, v in kept.items()
        }
        self.answer(shown)

    def duplicate(self, kind: str, name: str) -> None:
        asked = self.json
        self.writing(asked["repository"].split("/")[0])
        source = self.found(kind, name)
        url = f"{self.hub.address}/{'' if kind == 'models' else kind + '/'}{asked['repository']}"
        if (kind, asked["repository"]) in self.hub.repos:
            self.answer({"error": "You already created this repo", "url": url}, 409)
            return
        private = asked["visibility"] == "private" if "visibility" in asked else source.private
        made = self.hub.repo(kind, asked["repository"], dict(source.files), private=private, sdk=source.sdk)
        made.lfs = set(source.lfs)
        self.furnish(made, asked)
        self.answer({"url": url})


PRICES = {"cpu-basic": 0.0, "cpu-upgrade": 0.0005, "a100-large": 2.5 / 60}
"""US dollars a minute."""
COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
LICENCES = {
    "apache-2.0", "mit", "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "openrail",
    "other", "unknown", "gemma",
}  # fmt: skip

NAME = r"([\w.-]+/[\w.-]+)"
KIND = f"({'|'.join(KINDS)})"
ROUTES: list[tuple[str, str, Any]] = [
    ("GET", r"/api/whoami-v2", _Handler.whoami),
    ("POST", r"/api/repos/create", _Handler.create),
    ("DELETE", r"/api/repos/delete", _Handler.delete),
    ("POST", r"/api/validate-yaml", _Handler.validate),
    ("POST", r"/api/collections", _Handler.collect),
    ("GET", rf"/api/collections/{NAME}", _Handler.collection),
    ("POST", rf"/api/collections/{NAME}/items?", _Handler.add_item),
    ("GET", r"/api/spaces/hardware", _Handler.hardware),
    ("GET POST DELETE", rf"/api/spaces/{NAME}/(secrets|variables)", _Handler.values),
    ("GET POST", rf"/api/spaces/{NAME}/(runtime|hardware|sleeptime|pause|restart)", _Handler.runtime),
    ("POST", rf"/api/{KIND}/{NAME}/duplicate", _Handler.duplicate),
    ("GET", rf"/api/{KIND}", _Handler.listing),
    ("PUT", rf"/api/{KIND}/{NAME}/settings", _Handler.settings),
    ("POST", rf"/api/{KIND}/{NAME}/preupload/([^/]+)", _Handler.preupload),
    ("POST", rf"/api/{KIND}/{NAME}/commit/([^/]+)", _Handler.commit),
    ("POST", rf"/api/{KIND}/{NAME}/paths-info/([^/]+)", _Handler.paths),
    ("GET", rf"/api/{KIND}/{NAME}/tree/([^/]+)(?:/(.+))?", _Handler.tree),
    ("GET HEAD", rf"/api/{KIND}/{NAME}(?:/revision/(.+))?", _Handler.info),
    ("POST", rf"/(?:(datasets|spaces)/)?{NAME}\.git/info/lfs/objects/batch", _Handler.batch),
    ("PUT", r"/lfs/([0-9a-f]{64})(?:/(\d+))?", _Handler.put),
    ("POST", r"/lfs/([0-9a-f]{64})/complete", _Handler.complete),
    ("GET HEAD", rf"/(datasets/|spaces/)?{NAME}/resolve/([^/]+)/(.+)", _Handler.resolve),
]  # fmt: skip


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def git_hash(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
