"""Keys of S3 stand in no log line and in no answer, whatever the server at the other end says."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("s3fs")

ROOT = Path(__file__).parent.parent.parent
KEY, SECRET, TOKEN = "AKIAZANZIBARCLOVES00", "hunter2/zanzibar+cloves/secret=key", "FwoGZanzibarSessionToken=="
USING = """
import io, json, logging, sys
from pathlib import Path

import core
from app.main import create_app
from core.settings.log import begin_log

settings = core.Settings(data_dir=Path(sys.argv[1]), embedder="hash", job_workers=0, access="open")
begin_log()
logging.getLogger("core").setLevel(settings.log_level)
with core.build(settings) as kb:
    client = create_app(kb).server.test_client()
    client.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
    sent = {"file": (io.BytesIO(b"The fee is twelve euros."), "fees.txt")}
    answers = [
        client.post("/api/v1/documents", data=sent, content_type="multipart/form-data"),
        client.get("/health"),
        client.get("/api/v1/stores"),
        client.post("/api/v1/stores/check", json={"deep": True}),
        client.get("/api/v1/jobs"),
    ]
    kb.work_off()
    answers.append(client.get("/api/v1/documents/fees.txt/versions/1/original"))
    try:
        kb.check_files()
    except core.EvoRAGError as error:
        print(error, error.as_dict())
    print(json.dumps([[answer.status_code, answer.get_data(as_text=True)] for answer in answers]))
"""


class Reflecting(BaseHTTPRequestHandler):
    """Refuses everything, and says in its answer all that it was sent, as a proxy of somebody's may."""

    status = 403

    def answer(self) -> None:
        told = "".join(f"{name}={value};" for name, value in self.headers.items())
        body = f"<Error><Code>AccessDenied</Code><Message>{told} {KEY} {SECRET}</Message></Error>".encode()
        self.send_response(self.status, f"No {KEY}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amz-meta-secret", SECRET)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endpoint(kind: str) -> Iterator[str]:
    """Give the address of a server that refuses, fails, or is not there."""
    if kind == "closed":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        yield address
        return
    handler = type("Handler", (Reflecting,), {"status": {"refuses": 403, "fails": 500}[kind]})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("kind", "level"), [("refuses", "WARNING"), ("refuses", "DEBUG"), ("fails", "DEBUG"), ("closed", "DEBUG")]
)
def test_keys_of_s3_are_in_no_log_and_in_no_answer(tmp_path: Path, kind: str, level: str) -> None:
    told = {"ACCESS_KEY_ID": KEY, "SECRET_ACCESS_KEY": SECRET, "SESSION_TOKEN": TOKEN, "DEFAULT_REGION": "us-east-1"}
    with endpoint(kind) as url:
        environment = {
            **os.environ,
            **{f"AWS_{name}": value for name, value in {**told, "ENDPOINT_URL": url, "MAX_ATTEMPTS": "1"}.items()},
            "EVORAG_BLOB_URL": f"s3://{KEY}:{SECRET}@bucket/place" if kind == "closed" else "s3://bucket/place",
            "EVORAG_LOG_LEVEL": level,
            "NO_PROXY": "127.0.0.1",
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", USING, str(tmp_path / "data")],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
    said = done.stdout + done.stderr
    for secret in (KEY, SECRET, TOKEN, "hunter2", "Zanzibar"):
        assert secret.lower() not in said.lower(), said
    if done.returncode:
        # A place that cannot be one keeps it shut, with one line that says what to write instead.
        assert kind == "closed" and "EVORAG_BLOB_URL" in said, said
        return
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers[0][0] == 503 and json.loads(answers[0][1])["code"] == "store_unavailable", answers[0]
