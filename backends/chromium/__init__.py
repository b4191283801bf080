"""The local renderer: Chromium, hardened, with p5 and p5.brush inside."""

from paintcli.backends.chromium.gl import GL, probe_gl
from paintcli.backends.chromium.libraries import find_chromium, find_libraries
from paintcli.backends.chromium.renderer import ChromiumRenderer

__all__ = ["GL", "ChromiumRenderer", "find_chromium", "find_libraries", "probe_gl"]
