"""The script of a Hub Job: sets its container up, fetches inputs and the run so far, trains, pushes as it goes.

usage: job.py WHEEL REPO. It runs in a bare container, so it needs Python and the Hub's client only.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

RUN = Path("/tmp/run")


def main() -> None:
    repo = sys.argv[2]
    # the browser, and Mesa with it: rendering happens inside this container
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"], check=True)

    from huggingface_hub import snapshot_download

    snapshot_download(repo, repo_type="dataset", local_dir=RUN)
    inputs = RUN / "inputs"
    given = json.loads((inputs / "arguments.json").read_text("utf-8"))
    arguments = [word.replace("{inputs}", str(inputs)) for word in given]
    resume = ["--resume"] if (RUN / "recipe.toml").is_file() else []
    command = [sys.executable, "-m", "paintcli", "train", "-o", str(RUN), "--push-to", repo, *arguments, *resume]
    print("running:", " ".join(command), flush=True)
    sys.exit(subprocess.run(command, env={**os.environ, "PAINT_CHROMIUM": "/usr/bin/chromium"}).returncode)


if __name__ == "__main__":
    main()
