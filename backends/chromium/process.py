"""The browser as a process: its flags, its environment, its limits, and its certain death."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

import psutil

from paintcli.errors import Unavailable

GL_FLAGS = {
    # What each software or hardware GL needs; Chromium >= 144 refuses SwiftShader for WebGL unless told so.
    "llvmpipe": ("--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist"),
    "hardware": ("--ignore-gpu-blocklist",),
    "swiftshader": ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
}

MESA_VENDOR = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
GL_ENVIRONMENT = {
    # Software even where there is a graphics card, and Mesa's even where another vendor's EGL would come first.
    "llvmpipe": {
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "GALLIUM_DRIVER": "llvmpipe",
        **({"__EGL_VENDOR_LIBRARY_FILENAMES": str(MESA_VENDOR)} if MESA_VENDOR.exists() else {}),
    }
}

FLAGS = (
    "--headless",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-sync",
    "--metrics-recording-only",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    # A popup is refused by the browser itself, whatever the page's script managed to get hold of.
    "--block-new-web-contents",
    # Every page its own process, so that a page's CPU and memory are its own, and its crash nobody else's.
    "--renderer-process-limit=64",
    # The GPU process is restarted after a page's bomb took it down, as often as it takes.
    "--disable-gpu-process-crash-limit",
)

# The cut below the page: no proxy to reach, not even for loopback, no name that resolves, no UDP for WebRTC.
OFFLINE_FLAGS = (
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)

# No renderer kept in reserve (a spare one would be a second suspect for every new page), and nothing that phones home.
DISABLED = (
    "SpareRendererForSitePerProcess",
    "MediaRouter",
    "Translate",
    "OptimizationHints",
    "AutofillServerCommunication",
    # The address bar's pop-ups are pages of their own, loaded for every window: 1.6 of the 2.2 CPU seconds of a start.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)

ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_PATH",
    "FONTCONFIG_FILE",
    "SYSTEMROOT",
    "TMPDIR",
)
"""All that the browser sees of our environment: a sketch must find no token there, whatever it breaks out of."""

_alive: weakref.WeakSet[BrowserProcess] = weakref.WeakSet()


def sandboxed() -> bool:
    """Chromium's sandbox is on unless we are root, where Chromium refuses to start with it, or PAINT_SANDBOX is "off".

    In a container an ordinary user lacks the rights it is built with: there the container is the sandbox.
    """
    return os.environ.get("PAINT_SANDBOX") != "off" and not (hasattr(os, "geteuid") and os.geteuid() == 0)


class BrowserProcess:
    """One headless Chromium with a profile of its own, killed with all its children on `kill()` and at exit.

    `heap_mb` bounds each page's JavaScript heap in MiB. `offline=False` leaves the network open and is there only so
    that a test can show that its listeners would have been reached.
    """

    def __init__(
        self, program: Path, gl: str, *, heap_mb: int = 512, offline: bool = True, extra: tuple[str, ...] = ()
    ):
        self.offline = offline
        self.folder = Path(tempfile.mkdtemp(prefix="paint-chromium-"))
        flags = [*FLAGS, *GL_FLAGS[gl], f"--js-flags=--max-old-space-size={heap_mb}"]
        # Without the cut, the browser's own guard of loopback addresses must not stand in for it.
        disabled = DISABLED if offline else (*DISABLED, "LocalNetworkAccessChecks")
        flags.append(f"--disable-features={','.join(disabled)}")
        flags += [f"--user-data-dir={self.folder / 'profile'}", *(OFFLINE_FLAGS if offline else ()), *extra]
        if not sandboxed():
            flags.append("--no-sandbox")
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        environment |= {"HOME": str(self.folder), "TZ": "UTC", **GL_ENVIRONMENT.get(gl, {})}
        self._log = (self.folder / "log").open("wb")
        try:
            self._popen = subprocess.Popen(
                [str(program), *flags, "about:blank"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        except OSError as error:
            self._remove()
            raise Unavailable(f"The browser {program} could not be started ({error.strerror}).") from error
        self.pid = self._popen.pid
        _alive.add(self)

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def endpoint(self) -> str | None:
        """The WebSocket address of the debugger, or None while the browser is still starting."""
        try:
            port, path = (self.folder / "profile" / "DevToolsActivePort").read_text().splitlines()[:2]
        except (OSError, ValueError):
            return None
        return f"ws://127.0.0.1:{port}{path}"

    def last_words(self) -> str:
        """The last line of the browser's log, for an error message."""
        with contextlib.suppress(OSError):
            lines = (self.folder / "log").read_text("utf-8", "replace").strip().splitlines()
            if lines:
                return lines[-1][-300:]
        return "no message"

    def kill(self) -> None:
        """Kill the whole tree, reap it and remove the profile. Safe to call twice and from any thread."""
        tree: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(self.pid)
            tree = [*root.children(recursive=True), root]
        if self._popen.returncode is None and hasattr(os, "killpg"):
            # Children that lost their parent still carry its session.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(5)
        psutil.wait_procs(tree, timeout=2)
        self._remove()
        _alive.discard(self)

    def _remove(self) -> None:
        self._log.close()
        for _ in range(20):  # a dying child may still be writing into the profile
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.05)


def _die_with_parent() -> None:
    """Ask Linux to kill the browser when we are gone, kill -9 included; its children then die of their broken pipes."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@atexit.register
def _kill_all() -> None:
    for process in list(_alive):
        process.kill()
