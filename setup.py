"""Packs the page's two libraries into the wheel; everything else is in pyproject.toml."""

import shutil
import sys
import warnings
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKED = {
    "p5/lib/p5.min.js": "p5.min.js",
    "p5/license.txt": "p5.license.txt",
    "p5.brush/dist/p5.brush.js": "p5.brush.js",
    "p5.brush/LICENSE.md": "p5.brush.license.md",
}


class BuildWithPage(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # an editable install reads node_modules where it lies
            return
        source = Path(__file__).parent / "node_modules"
        vendor = Path(self.build_lib) / "paintcli" / "backends" / "chromium" / "page" / "vendor"
        vendor.mkdir(parents=True, exist_ok=True)
        for name, packed in PACKED.items():
            if (source / name).is_file():
                shutil.copy(source / name, vendor / packed)
            else:
                print(f"{name} is not there (npm ci fetches it): `paint doctor --fix` will.", file=sys.stderr)


# it warns of folders named like the package that shadow it; none here does
warnings.filterwarnings("ignore", "Editable installation")

setup(cmdclass={"build_py": BuildWithPage})
