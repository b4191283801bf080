"""Each way out of the page ends at a listener of ours: cut, the listeners see nothing; uncut, they see it."""

import os
import shlex
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from paintcli.backends.chromium import ChromiumRenderer, find_chromium

pytestmark = pytest.mark.browser


class Listener:
    """A loopback port that notes what reaches it: TCP counts a connection, UDP a datagram."""

    def __init__(self, kind: int, port: int = 0):
        self.seen: list[bytes] = []
        self._socket = socket.socket(socket.AF_INET, kind)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self._stop = False
        if kind == socket.SOCK_STREAM:
            self._socket.listen(32)
        self._thread = threading.Thread(target=self._accept if kind == socket.SOCK_STREAM else self._receive)
        self._thread.start()

    def _accept(self):
        while not self._stop:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            with connection:
                self.seen.append(b"connected")
                connection.settimeout(0.5)
                try:
                    connection.recv(4096)
                    body = b"<p>hello</p>"
                    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nAccess-Control-Allow-Origin: *\r\n"
                    connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
                except OSError:
                    continue

    def _receive(self):
        while not self._stop:
            try:
                self.seen.append(self._socket.recvfrom(4096)[0])
            except TimeoutError:
                continue

    def close(self):
        self._stop = True
        self._thread.join()
        self._socket.close()


# One listener a way out; {port} is its port. The attempts are ordinary ones, each in its own try.
TCP_ATTEMPTS = {
    "http": "fetch('http://127.0.0.1:{port}/', {{mode: 'no-cors'}}).catch(() => 0)",
    "https": "fetch('https://127.0.0.1:{port}/', {{mode: 'no-cors'}}).catch(() => 0)",
    "xhr": "(() => {{ const x = new XMLHttpRequest(); x.open('GET', 'http://127.0.0.1:{port}/'); x.send(); }})()",
    "websocket": "new WebSocket('ws://127.0.0.1:{port}/')",
    "beacon": "navigator.sendBeacon('http://127.0.0.1:{port}/', 'x')",
    "image": "new Image().src = 'http://127.0.0.1:{port}/x.png'",
    "iframe": "add('iframe', 'src', 'http://127.0.0.1:{port}/')",
    "script": "add('script', 'src', 'http://127.0.0.1:{port}/x.js')",
    "stylesheet": "add('link', 'href', 'http://127.0.0.1:{port}/x.css', {{rel: 'stylesheet'}})",
    "prefetch": "add('link', 'href', 'http://127.0.0.1:{port}/', {{rel: 'preconnect'}})",
    "worker": (
        "new Worker(URL.createObjectURL(new Blob([\"fetch('http://127.0.0.1:{port}/', {{mode: 'no-cors'}})\"])))"
    ),
    "frame's fetch": "add('iframe').contentWindow.fetch('http://127.0.0.1:{port}/', {{mode: 'no-cors'}})",
    "frame's socket": "new (add('iframe').contentWindow.WebSocket)('ws://127.0.0.1:{port}/')",
    "import": "import('http://127.0.0.1:{port}/x.js').catch(() => 0)",
    "form": (
        "(add('iframe', 'name', 'f'), add('form', 'action', 'http://127.0.0.1:{port}/', {{target: 'f'}}).submit())"
    ),
    "p5": "loadImage('http://127.0.0.1:{port}/x.png').catch(() => 0)",
}
WEBRTC = """
const connect = (Peer, port) => {{
  const peer = new Peer({{iceServers: [{{urls: `stun:127.0.0.1:${{port}}`}}]}});
  peer.createDataChannel("x");
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}};
tries.push(() => connect(RTCPeerConnection, {udp}));
tries.push(() => connect(add("iframe").contentWindow.RTCPeerConnection, {udp}));
"""
SKETCH = """
function add(name, key, value, more) {{
  const element = document.createElement(name);
  Object.assign(element, more);
  if (key) element[key] = value;
  document.body.appendChild(element);
  return element;
}}
async function setup() {{
  createCanvas(600, 600, WEBGL);
  background(250);
  const tries = [];
  {attempts}
  for (const attempt of tries) try {{ attempt(); }} catch (error) {{}}
  await new Promise((resolve) => setTimeout(resolve, 2500));
  brush.noStroke();
  brush.fill("#c33", 200);
  brush.circle(0, 0, 200);
}}
"""


def attempt(offline: bool, attempts: str):
    with ChromiumRenderer(workers=1, deadline=20, offline=offline) as renderer:
        return renderer.render_sync(SKETCH.format(attempts=attempts))


def try_everything(offline: bool) -> tuple[set[str], dict[str, int]]:
    tcp = {name: Listener(socket.SOCK_STREAM) for name in TCP_ATTEMPTS}
    udp = Listener(socket.SOCK_DGRAM)
    try:
        lines = [f"tries.push(() => {{ {code.format(port=tcp[name].port)} }});" for name, code in TCP_ATTEMPTS.items()]
        painting = attempt(offline, "\n".join([*lines, WEBRTC.format(udp=udp.port)]))
    finally:
        for listener in [*tcp.values(), udp]:
            listener.close()
    assert painting.fault is None and painting.coverage > 0.01, painting
    seen = {name for name, listener in tcp.items() if listener.seen}
    return seen | ({"webrtc"} if udp.seen else set()), painting.calls


def test_nothing_leaves_the_page():
    seen, calls = try_everything(offline=True)
    assert seen == set()
    for name in ("fetch", "WebSocket", "XMLHttpRequest", "RTCPeerConnection", "Worker", "sendBeacon", "createElement"):
        assert calls[f"page.{name}"] > 0


def test_without_the_cut_the_same_listeners_see_it():
    seen, _ = try_everything(offline=False)
    assert seen == {*TCP_ATTEMPTS, "webrtc"}


@pytest.mark.parametrize("offline", [True, False])
def test_there_is_no_service_worker_to_register(offline):
    """A blank page is no secure context, so the door does not even exist; the sketch would paint nothing if it did."""
    assert attempt(offline, "if (navigator.serviceWorker) return;").coverage > 0.01


@pytest.mark.parametrize("offline", [True, False])
def test_local_files_stay_unread(tmp_path, offline):
    """Chromium itself refuses file: to a page that is not one; the cut does not depend on it."""
    secret = tmp_path / "secret.js"
    secret.write_text("window.secret = 1; brush.fill = null;")
    painting = attempt(offline, f"tries.push(() => add('script', 'src', '{secret.as_uri()}'));")
    assert painting.coverage > 0.01  # a script that had been read would have broken the fill


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="a name server on port 53 takes root")
@pytest.mark.parametrize("offline", [True, False])
def test_no_name_is_looked_up(tmp_path, offline):
    """A resolver on loopback, put before the browser's eyes by a private mount of /etc/resolv.conf."""
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    program = tmp_path / "chromium"
    real, resolv = shlex.quote(str(find_chromium())), shlex.quote(str(tmp_path / "resolv.conf"))
    program.write_text(
        f'#!/bin/sh\nexec unshare -m sh -c \'mount --bind {resolv} /etc/resolv.conf && exec {real} "$@"\' sh "$@"\n'
    )
    program.chmod(0o755)
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("private mounts are not allowed here")
    resolver = Listener(socket.SOCK_DGRAM, 53)
    code = SKETCH.format(
        attempts="""
        tries.push(() => fetch("http://leak-one.example/").catch(() => 0));
        tries.push(() => add("link", "href", "http://leak-two.example/", { rel: "dns-prefetch" }));
        tries.push(() => (new Image().src = "http://leak-three.example/x.png"));
        """
    )
    try:
        with ChromiumRenderer(1, 20, chromium=Path(program), gl="llvmpipe", offline=offline) as renderer:
            painting = renderer.render_sync(code)
    finally:
        resolver.close()
    assert painting.fault is None
    asked = [packet for packet in resolver.seen if b"leak" in packet]
    assert bool(asked) == (not offline)
