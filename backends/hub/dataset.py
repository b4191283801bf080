"""Dataset folders on the Hugging Face Hub: one snapshot of one revision, kept in the Hub's own cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paintcli.errors import Unavailable, UsageError


def dataset(spec: str, patterns: Sequence[str] | None = None) -> Path:
    """The local folder of "hub:REPO[@REVISION]", downloaded when the cache lacks it.

    With `patterns` ("*.jsonl"; * matches across folders) only files whose path fits one are fetched; the folder may
    hold others from an earlier time.

    Raises UsageError for a spec or repository that cannot be, Unavailable when the Hub does not answer.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repo, _, revision = spec.removeprefix("hub:").partition("@")
    try:
        wanted = None if patterns is None else list(patterns)
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision or None, allow_patterns=wanted))
    except HFValidationError as error:
        raise UsageError(f"{spec!r} names no dataset: it is hub:OWNER/NAME or hub:OWNER/NAME@REVISION.") from error
    except LocalEntryNotFoundError as error:
        raise Unavailable(f"The dataset {repo} is not in the cache and the Hub does not answer.") from error
    except RevisionNotFoundError as error:
        raise UsageError(f"The dataset {repo} has no revision {revision!r}.") from error
    except RepositoryNotFoundError as error:
        raise UsageError(f"The Hub has no dataset {repo} that your token may read.") from error
    except OSError as error:
        raise Unavailable(f"The dataset {repo} could not be downloaded ({type(error).__name__}: {error}).") from error
