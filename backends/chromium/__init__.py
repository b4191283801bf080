"""The local renderer: Chromium, hardened, with p5 and p5.brush inside."""

from paintcli.backends.chromium.libraries import find_chromium, find_libraries
from paintcli.backends.chromium.renderer import ChromiumRenderer

__all__ = ["ChromiumRenderer", "find_chromium", "find_libraries"]
