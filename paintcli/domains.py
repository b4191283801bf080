"""What is painted: a domain is one TOML file in prompts/ (or anywhere, named by path), read here and nowhere else."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from paintcli.errors import UsageError

DEFAULT = "hibiscus"


@dataclass(frozen=True)
class Domain:
    """Subjects, texts, allowlist and numbers of one domain. Shares (coverage, floor) are 0–1 of the canvas."""

    name: str
    title: str
    subject: str
    subjects: tuple[str, ...]
    hpsv3_prompt: str
    methods: frozenset[str]
    enforce_allowlist: bool
    paint_floor: float
    system: str = ""
    """What the policy is told before every request."""
    request: str = "Paint {subject}."
    criteria: str = ""
    """What a judge is told to look for; empty: the judge's own words."""
    targets: dict[str, Any] = field(default_factory=dict)

    @property
    def pigment_target(self) -> float:
        """Coverage that earns all of the pigment term. Raises UsageError where the domain names none."""
        if "pigment" not in self.targets:
            raise UsageError(f"The domain {self.name} has no targets.pigment, which the pigment term needs.")
        return float(self.targets["pigment"])

    def messages(self, subject: str) -> list[dict[str, Any]]:
        """The chat that asks a language model for a sketch of `subject`."""
        request = {"role": "user", "content": self.request.format(subject=subject)}
        return [{"role": "system", "content": self.system}, request] if self.system else [request]


def available() -> list[str]:
    """Names of the packaged domains."""
    return sorted(p.name[:-5] for p in files("paintcli.prompts").iterdir() if p.name.endswith(".toml"))


def load(name_or_path: str = DEFAULT) -> Domain:
    """A packaged domain by name, or any .toml file by path. Raises UsageError in one sentence."""
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        if not path.is_file():
            raise UsageError(f"The domain file {path} does not exist.")
        name = path.stem
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"The domain file {path} is not UTF-8 text.") from None
    else:
        name = name_or_path
        resource = files("paintcli.prompts") / f"{name}.toml"
        if not resource.is_file():
            raise UsageError(
                f"There is no domain {name!r}; packaged are {', '.join(available())}, or give a .toml file."
            )
        text = resource.read_text("utf-8")
    try:
        data = tomllib.loads(text)
        gate = data["gate"]
        return Domain(
            name=name,
            title=data["title"],
            subject=data["subject"],
            subjects=tuple(data.get("subjects") or [data["subject"]]),
            hpsv3_prompt=data["hpsv3_prompt"],
            methods=frozenset(gate["methods"]),
            enforce_allowlist=bool(gate["enforce_allowlist"]),
            paint_floor=float(gate["paint_floor"]),
            system=data.get("prompt", {}).get("system", "").strip(),
            request=data.get("prompt", {}).get("request", Domain.request),
            criteria=data.get("criteria", "").strip(),
            targets=data.get("targets", {}),
        )
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The domain {name_or_path} is not valid TOML: {error}.") from error
    except KeyError as error:
        raise UsageError(f"The domain {name_or_path} lacks the key {error.args[0]!r}.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"The domain {name_or_path} has a value of the wrong kind ({error}).") from error
