"""A small proxy before a server: TLS and a key are asked for by it, and requests may be answered by the test."""

from __future__ import annotations

import http.client
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

Answer = tuple[int, bytes]
Send = Callable[[bytes], Answer]
Between = Callable[[str, str, bytes, Send], Answer]
"""Gets the key shown, the path, the body and what passes a body on; gives status and body of the answer."""


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of 127.0.0.1 that vouches for itself, and its key."""
    made, key = folder / "made.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = ["openssl", "req", *kind, *subject, "-out", str(made), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    return made, key


@contextmanager
def before(url: str, between: Between, made: tuple[Path, Path] | None = None) -> Iterator[str]:
    """Run the proxy; it speaks TLS where it has a certificate with a key."""
    host = urlsplit(url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept = {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "accept")}

            def send(changed: bytes) -> Answer:
                there = http.client.HTTPConnection(host, timeout=60)
                there.request(self.command, self.path, changed, {**kept, "Content-Length": str(len(changed))})
                reply = there.getresponse()
                self.kind = reply.headers.get("Content-Type", "application/json")
                found = reply.status, reply.read()
                there.close()
                return found

            self.kind = self.headers.get("Accept") or "application/json"
            status, content = between(self.headers.get("Authorization", ""), self.path, body, send)
            self.send_response(status)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Type", self.kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if made:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*made)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"{'https' if made else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
