"""Packs the page's two libraries and the compiled rasteriser into the wheel; everything else is in pyproject.toml."""

import shutil
import sys
import warnings
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PAGE = "backends/chromium/page/vendor"
PACKED = {
    "node_modules/p5/lib/p5.min.js": "p5.min.js",
    "node_modules/p5/license.txt": "p5.license.txt",
    "node_modules/p5.brush/dist/p5.brush.js": "p5.brush.js",
    "node_modules/p5.brush/LICENSE.md": "p5.brush.license.md",
    f"{PAGE}/mask.wasm": "mask.wasm",
}


class BuildWithPage(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # an editable install reads node_modules where it lies
            return
        source = Path(__file__).parent
        vendor = Path(self.build_lib) / "paintcli" / PAGE
        vendor.mkdir(parents=True, exist_ok=True)
        for name, packed in PACKED.items():
            if (source / name).is_file():
                shutil.copy(source / name, vendor / packed)
            else:
                print(f"{name} is not there (`make setup` brings it): `paint doctor --fix` will.", file=sys.stderr)


# it warns of folders named like the package that shadow it; none here does
warnings.filterwarnings("ignore", "Editable installation")

setup(cmdclass={"build_py": BuildWithPage})
