"""paint: teach a code-writing language model your taste in painting, on your own machine."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("paintcli")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
