"""Uploads in parts over HTTP: the tus protocol to the letter, errors for what is hostile, and a client of others."""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import Dash
from flask.testing import FlaskClient
from tusclient.client import TusClient
from tusclient.uploader import Uploader
from werkzeug.test import TestResponse

import core
from app.api.uploads.tus import EXTENSIONS
from app.main import create_app
from core.access import acting
from core.model import Filing, Principal, Role
from tests import live
from tests.builders import knowledge_base
from tests.unit.app.api.test_documents import assert_problem

TUS = {"Tus-Resumable": "1.0.0"}
PART = "application/offset+octet-stream"
TEXT = b"The pump is checked every 14 days.\n" * 300
PLACE = "/api/v1/uploads"


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """A knowledge base for all tests of the module; each of them sends files of other names."""
    with knowledge_base(tmp_path_factory.mktemp("uploads"), min_free_bytes=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def window(kb: core.KnowledgeBase) -> Dash:
    return create_app(kb)


@pytest.fixture
def client(window: Dash, kb: core.KnowledgeBase) -> Iterator[FlaskClient]:
    yield window.server.test_client()
    for transfer in kb.transfers.mine():
        kb.transfers.terminate(transfer.id)


def said(**values: str) -> str:
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())


def begin(client: FlaskClient, size: int | str = len(TEXT), name: str = "a.txt", **more: str) -> TestResponse:
    metadata = said(filename=name, **more)
    return client.post(PLACE, headers={**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata})


def place(client: FlaskClient, size: int = len(TEXT), name: str = "a.txt", **more: str) -> str:
    answer = begin(client, size, name, **more)
    assert answer.status_code == 201, answer.text
    return answer.headers["Location"]


def patch(client: FlaskClient, where: str, data: bytes, offset: int | str = 0, **headers: str) -> TestResponse:
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.patch(where, data=data, content_type=PART, headers={**TUS, "Upload-Offset": str(offset), **more})


def offset(client: FlaskClient, where: str) -> int:
    return int(client.head(where, headers=TUS).headers["Upload-Offset"])


# ---- the protocol


def test_server_says_what_it_speaks(client: FlaskClient) -> None:
    for where in (PLACE, f"{PLACE}/{'0' * 32}"):
        answer = client.options(where)
        assert answer.status_code == 204
        assert answer.headers["Tus-Version"] == answer.headers["Tus-Resumable"] == "1.0.0"
        assert answer.headers["Tus-Extension"] == EXTENSIONS
        assert answer.headers["Tus-Checksum-Algorithm"] == "sha1,sha256,sha512,md5,crc32"
        assert int(answer.headers["Tus-Max-Size"]) > 0


def test_file_arrives_in_parts_and_becomes_a_document(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    made = begin(client, name="parts.txt", tags='["care"]', note="first", priority="-3", early="true", draft="0")
    where = made.headers["Location"]
    assert where.startswith(f"{PLACE}/") and len(where.rsplit("/", 1)[1]) == 32
    assert made.headers["Upload-Expires"].endswith("GMT")
    sent = patch(client, where, TEXT[:1000])
    assert (sent.status_code, sent.data, sent.headers["Upload-Offset"]) == (204, b"", "1000")
    assert sent.headers["Upload-Expires"].endswith("GMT")
    asked = client.head(where, headers=TUS)
    assert (asked.status_code, asked.headers["Cache-Control"]) == (200, "private, no-store")
    assert (asked.headers["Upload-Offset"], asked.headers["Upload-Length"]) == ("1000", str(len(TEXT)))
    assert asked.headers["Upload-Metadata"] == said(
        filename="parts.txt", tags='["care"]', note="first", priority="-3", early="true", draft="0"
    )
    assert client.get(PLACE).get_json()["uploads"][0]["offset_bytes"] == 1000
    assert patch(client, where, TEXT[1000:], 1000).status_code == 204
    body = client.get(where).get_json()
    assert (body["state"], body["receipt"]["doc_key"], body["receipt"]["version"]) == ("done", "parts.txt", 1)
    assert kb.original("parts.txt", 1)[0].read_bytes() == TEXT
    assert kb.document("parts.txt").tags == ("care",)
    assert kb.job(body["receipt"]["job_id"]).priority == -3
    assert client.get(PLACE).get_json() == {"uploads": []}
    found = client.get(f"{PLACE}?ids=nothing,{body['id']}").get_json()["uploads"]
    assert [(each["id"], each["state"]) for each in found] == [(body["id"], "done")]


def test_creation_may_carry_the_first_part(client: FlaskClient) -> None:
    headers = {**TUS, "Upload-Length": str(len(TEXT)), "Upload-Metadata": said(filename="a.txt")}
    answer = client.post(PLACE, headers=headers, data=TEXT[:500], content_type=PART)
    assert (answer.status_code, answer.headers["Upload-Offset"]) == (201, "500")
    whole = client.post(PLACE, headers=headers, data=TEXT, content_type=PART)
    assert whole.get_json()["receipt"]["doc_key"] == "a.txt"


def test_size_may_come_with_a_later_part(client: FlaskClient) -> None:
    headers = {**TUS, "Upload-Defer-Length": "1", "Upload-Metadata": said(filename="a.txt")}
    where = client.post(PLACE, headers=headers).headers["Location"]
    assert patch(client, where, TEXT[:500]).status_code == 204
    asked = client.head(where, headers=TUS)
    assert asked.headers["Upload-Defer-Length"] == "1"
    assert "Upload-Length" not in asked.headers
    assert patch(client, where, TEXT[500:], 500, Upload_Length=str(len(TEXT))).status_code == 204
    assert client.get(where).get_json()["state"] == "done"


def test_size_may_come_after_the_last_byte(client: FlaskClient) -> None:
    headers = {**TUS, "Upload-Defer-Length": "1", "Upload-Metadata": said(filename="a.txt")}
    where = client.post(PLACE, headers=headers).headers["Location"]
    assert patch(client, where, TEXT).status_code == 204
    assert_problem(patch(client, where, b"", 1, Upload_Length=str(len(TEXT))), 409, "offset_conflict")
    last = patch(client, where, b"", len(TEXT), Upload_Length=str(len(TEXT)))
    assert (last.status_code, last.headers["Upload-Offset"]) == (204, str(len(TEXT)))
    assert client.get(where).get_json()["state"] == "done"


def test_creation_whose_part_is_refused_leaves_nothing(client: FlaskClient) -> None:
    headers = {**TUS, "Upload-Length": str(len(TEXT)), "Upload-Metadata": said(filename="a.txt")}
    assert_problem(client.post(PLACE, headers=headers, data=TEXT, content_type="text/plain"), 415, "invalid_input")
    checked = {**headers, "Upload-Checksum": f"sha1 {base64.b64encode(bytes(20)).decode()}"}
    assert_problem(client.post(PLACE, headers=checked, data=TEXT, content_type=PART), 460, "checksum_mismatch")
    assert client.get(PLACE).get_json() == {"uploads": []}


def test_upload_tells_how_it_is_filed(client: FlaskClient) -> None:
    filing = client.get(place(client, tags='["b", "a"]', draft="true", note="why")).get_json()["filing"]
    assert (filing["tags"], filing["draft"], filing["note"], filing["private"]) == (["b", "a"], True, "why", False)
    assert client.get(PLACE).get_json()["uploads"][0]["filing"] == filing


def test_refusal_is_told_in_the_language_of_the_request(client: FlaskClient) -> None:
    where = place(client, name="wrong.txt", sha256="0" * 64)
    patch(client, where, TEXT)
    told = {}
    for language in ("en", "ja"):
        told[language] = client.get(where, headers={"Accept-Language": language}).get_json()["error"]
        assert {"code", "title", "detail", "remedy"} <= told[language].keys()
    assert told["ja"]["title"] != told["en"]["title"]
    assert told["ja"]["status"] == 460
    [listed] = client.get(f"{PLACE}?ids={where.rsplit('/', 1)[-1]}").get_json()["uploads"]
    assert listed["error"] == told["en"]


def test_parts_may_be_sent_side_by_side_and_be_put_together(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    places = []
    for piece in (TEXT[:4000], TEXT[4000:]):
        headers = {**TUS, "Upload-Length": str(len(piece)), "Upload-Concat": "partial"}
        where = client.post(PLACE, headers=headers).headers["Location"]
        patch(client, where, piece)
        assert client.head(where, headers=TUS).headers["Upload-Concat"] == "partial"
        places.append(where)
    headers = {**TUS, "Upload-Metadata": said(filename="joined.txt"), "Upload-Concat": f"final;{places[0]} {places[1]}"}
    final = client.post(PLACE, headers=headers)
    assert final.status_code == 201
    assert kb.original("joined.txt", 1)[0].read_bytes() == TEXT
    asked = client.head(final.headers["Location"], headers=TUS)
    assert asked.headers["Upload-Concat"] == f"final;{places[0]} {places[1]}"
    assert asked.headers["Upload-Offset"] == asked.headers["Upload-Length"] == str(len(TEXT))
    assert_problem(patch(client, final.headers["Location"], b"x", len(TEXT)), 403, "forbidden")
    assert client.head(places[0], headers=TUS).status_code == 404


def test_upload_can_be_ended(client: FlaskClient) -> None:
    where = place(client)
    assert client.delete(where, headers=TUS).status_code == 204
    assert client.head(where, headers=TUS).status_code == 404
    assert_problem(patch(client, where, TEXT), 404, "not_found")


def test_method_may_be_said_in_a_header(client: FlaskClient) -> None:
    where = place(client)
    sent = client.post(
        where,
        data=TEXT[:9],
        content_type=PART,
        headers={**TUS, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"},
    )
    assert (sent.status_code, sent.headers["Upload-Offset"]) == (204, "9")
    asked = client.post(where, headers={**TUS, "X-HTTP-Method-Override": "HEAD"})
    assert asked.headers["Upload-Offset"] == "9"
    assert client.post(where, headers={**TUS, "X-HTTP-Method-Override": "DELETE"}).status_code == 204
    assert_problem(client.post(where, headers={**TUS, "X-HTTP-Method-Override": "PUT"}), 405, "method_not_allowed")


@pytest.mark.parametrize("version", [None, "0.2.2", "2.0.0"])
def test_other_version_of_the_protocol_is_refused(client: FlaskClient, version: str | None) -> None:
    headers = {"Upload-Length": "5", "Upload-Metadata": said(filename="a.txt")}
    answer = client.post(PLACE, headers=headers if version is None else {**headers, "Tus-Resumable": version})
    assert_problem(answer, 412, "invalid_input")
    assert answer.headers["Tus-Version"] == "1.0.0"


# ---- what is hostile


NUMBERS = ["", "-1", "+1", "1.5", "1e3", "ten", "٣", "9223372036854775808", "9" * 40, "NaN", "0x10", " "]


@pytest.mark.parametrize("number", NUMBERS)
def test_number_that_is_none_is_a_wrong_request(client: FlaskClient, number: str) -> None:
    where = place(client)
    headers = {**TUS, "Upload-Length": number, "Upload-Metadata": said(filename="a.txt")}
    for header in (number, number.encode().decode("latin-1")):
        assert_problem(patch(client, where, TEXT[:5], header), 400, "invalid_input")
    assert_problem(client.post(PLACE, headers={**headers, "Upload-Length": header}), 400, "invalid_input")
    assert offset(client, where) == 0


def test_gap_overlap_and_a_part_twice_are_conflicts_that_commit_nothing(client: FlaskClient) -> None:
    where = place(client)
    patch(client, where, TEXT[:1000])
    for start, data in ((1001, TEXT[1001:]), (999, TEXT[999:]), (0, TEXT[:1000]), (0, b"other bytes")):
        assert_problem(patch(client, where, data, start), 409, "offset_conflict")
        assert offset(client, where) == 1000
    assert patch(client, where, TEXT[1000:], 1000).status_code == 204
    assert_problem(patch(client, where, b"more", len(TEXT)), 409, "conflict")
    assert_problem(patch(client, where, b"more", 0), 409, "conflict")


def test_part_over_the_announced_size_is_refused(client: FlaskClient) -> None:
    where = place(client, 100)
    assert_problem(patch(client, where, TEXT[:101]), 400, "invalid_input")
    unknown_length = client.patch(
        where,
        input_stream=io.BytesIO(TEXT[:101]),
        content_type=PART,
        headers={**TUS, "Upload-Offset": "0"},
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert_problem(unknown_length, 400, "invalid_input")
    assert offset(client, where) == 0


def test_part_is_checked_by_its_own_checksum(client: FlaskClient) -> None:
    where = place(client)
    digest = base64.b64encode(hashlib.sha1(TEXT[:1000]).digest()).decode()
    wrong = patch(client, where, TEXT[1:1001], Upload_Checksum=f"sha1 {digest}")
    assert_problem(wrong, 460, "checksum_mismatch")
    assert offset(client, where) == 0
    assert patch(client, where, TEXT[:1000], Upload_Checksum=f"sha1 {digest}").status_code == 204
    for given in ("sha1", "sha1 ***", f"sha3 {digest}", "sha1 AAAA", ""):
        assert_problem(patch(client, where, TEXT[1000:], 1000, Upload_Checksum=given), 400, "invalid_input")
    assert offset(client, where) == 1000


def test_whole_file_that_is_not_what_was_announced_is_refused_and_gone(
    client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    where = place(client, name="wrong.txt", sha256="0" * 64)
    patch(client, where, TEXT[:1000])
    assert_problem(patch(client, where, TEXT[1000:], 1000), 400, "checksum_mismatch")
    assert client.head(where, headers=TUS).status_code == 410
    assert client.get(where).get_json()["state"] == "refused"
    late = place(client, name="wrong.txt")
    assert_problem(patch(client, late, TEXT, Evorag_Sha256="1" * 64), 400, "checksum_mismatch")
    assert_problem(patch(client, place(client), TEXT, Evorag_Sha256="1"), 400, "invalid_input")
    assert kb.documents("wrong.txt") == []


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("a\u202egpj.txt", 400, "bad_filename"),
        ("a.txt\0.pdf", 400, "bad_filename"),
        ("x" * 300 + ".txt", 400, "bad_filename"),
        ("CON.txt", 400, "bad_filename"),
        ("..", 400, "bad_filename"),
        ("program.exe", 415, "unsupported_type"),
    ],
)
def test_bad_name_is_refused_before_anything_is_sent(client: FlaskClient, name: str, status: int, code: str) -> None:
    assert_problem(begin(client, name=name), status, code)
    assert client.get(PLACE).get_json() == {"uploads": []}


@pytest.mark.parametrize(
    "metadata",
    ["filename", "filename !!!", "filename /w==", "filename YQ==,filename YQ==", ",", "filename YS50eHQ=,tags YQ==",
     "filename YS50eHQ=,tags WzFd", "filename YS50eHQ=,priority MTE=", "filename YS50eHQ=,draft bWF5YmU=",
     "filename YS50eHQ=,publish_at c29vbg==", "filename YS50eHQ=,sha256 YQ==", "filename YS50eHQ=,private MQ=="],
)  # fmt: skip
def test_wrong_metadata_is_a_wrong_request(client: FlaskClient, metadata: str) -> None:
    answer = client.post(PLACE, headers={**TUS, "Upload-Length": "5", "Upload-Metadata": metadata})
    assert answer.status_code == 400
    assert answer.get_json()["code"] in ("invalid_input", "bad_filename")


def test_part_of_another_type_and_a_size_that_is_said_twice_are_refused(client: FlaskClient) -> None:
    where = place(client)
    answer = client.patch(where, data=b"x", content_type="text/plain", headers={**TUS, "Upload-Offset": "0"})
    assert_problem(answer, 415, "invalid_input")
    assert_problem(patch(client, where, b"x", Upload_Length="7"), 400, "invalid_input")
    assert_problem(begin(client, 2**60), 413, "too_large")
    assert_problem(begin(client, 0), 422, "empty_document")


def test_wrong_concatenation_is_refused(client: FlaskClient) -> None:
    ordinary = place(client)
    for given in ("final", "final;", "other", "partial;x", f"final;{ordinary}"):
        headers = {**TUS, "Upload-Concat": given, "Upload-Metadata": said(filename="a.txt")}
        assert_problem(client.post(PLACE, headers=headers), 400, "invalid_input")
    headers = {**TUS, "Upload-Concat": "final;/../../etc/passwd", "Upload-Metadata": said(filename="a.txt")}
    assert_problem(client.post(PLACE, headers=headers), 404, "not_found")


def test_upload_of_somebody_else_is_as_if_it_were_not_there(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    with acting(Principal("anne", Role.EDITOR, 1)):
        theirs = kb.transfers.create("a.txt", 10, filing=Filing()).id
    for transfer_id in (theirs, "0" * 32, "..%2F..%2Fetc%2Fpasswd", "x"):
        where = f"{PLACE}/{transfer_id}"
        code = "unknown_address" if "%2F" in transfer_id else "not_found"
        assert client.head(where, headers=TUS).status_code == 404
        for answer in (client.get(where), patch(client, where, b"x"), client.delete(where, headers=TUS)):
            assert_problem(answer, 404, code)


def test_room_that_is_not_there_is_said_in_so_many_words(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, user_quota_bytes=len(TEXT), min_free_bytes=0) as kb:
        client = create_app(kb).server.test_client()
        place(client)
        assert_problem(begin(client, 1, "b.txt"), 413, "quota_exceeded")
    with knowledge_base(tmp_path, min_free_bytes=2**62) as kb:
        assert_problem(begin(create_app(kb).server.test_client()), 507, "disk_full")


def test_too_many_parts_at_once_are_asked_to_wait(window: Dash, kb: core.KnowledgeBase) -> None:
    client = window.server.test_client()
    where = place(client)
    assert patch(client, where, TEXT[:10]).status_code == 204
    slots = window.server.extensions["evorag-uploads"]
    taken = 0
    while slots.acquire(blocking=False):
        taken += 1
    answer = patch(client, where, TEXT[10:], 10)
    assert_problem(answer, 503, "busy")
    assert int(answer.headers["Retry-After"]) > 0
    assert offset(client, where) == 10
    for _ in range(taken):
        slots.release()


# ---- over a real connection


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, core.KnowledgeBase]]:
    """The address of a server in a thread, and its knowledge base."""
    folder = tmp_path_factory.mktemp("served")
    with knowledge_base(folder, job_workers=1, min_free_bytes=0) as kb, live.served(kb) as url:
        yield url, kb


def uploader(url: str, name: str, data: bytes, **more: Any) -> Uploader:
    metadata = {"filename": name, "sha256": hashlib.sha256(data).hexdigest()}
    return TusClient(f"{url}{PLACE}").uploader(file_stream=io.BytesIO(data), metadata=metadata, **more)


@pytest.mark.parametrize("checked", [False, True])
def test_client_that_others_wrote_sends_a_file(served: tuple[str, core.KnowledgeBase], checked: bool) -> None:
    url, kb = served
    data = f"{checked}\n".encode() + TEXT * 20
    sending = uploader(url, f"tuspy {checked}.txt", data, chunk_size=50_000, upload_checksum=checked)
    sending.upload()
    done = kb.transfers.wait(sending.url.rsplit("/", 1)[1], 30)
    assert done.receipt is not None
    assert kb.original(done.receipt.doc_key, 1)[0].read_bytes() == data


def test_client_that_others_wrote_goes_on_where_it_stopped(served: tuple[str, core.KnowledgeBase]) -> None:
    url, kb = served
    data = b"goes on\n" + TEXT * 20
    first = uploader(url, "goes on.txt", data, chunk_size=50_000)
    first.upload(stop_at=100_000)
    second = TusClient(f"{url}{PLACE}").uploader(file_stream=io.BytesIO(data), url=first.url, chunk_size=70_000)
    assert second.offset == 100_000
    second.upload()
    done = kb.transfers.wait(first.url.rsplit("/", 1)[1], 30)
    assert done.receipt is not None
    assert kb.original("goes on.txt", 1)[0].read_bytes() == data


def test_connection_that_hangs_is_overtaken_within_moments(served: tuple[str, core.KnowledgeBase]) -> None:
    url, kb = served
    host = url.removeprefix("http://")
    asking = http.client.HTTPConnection(host)
    asking.request(
        "POST", PLACE, headers={**TUS, "Upload-Length": "600000", "Upload-Metadata": said(filename="hung.txt")}
    )
    answer = asking.getresponse()
    answer.read()
    where = answer.headers["Location"]
    data = (b"hung\n" + TEXT * 60)[:600_000]
    address, port = host.split(":")
    file = kb.settings.data_dir / "transfers" / where.rsplit("/", 1)[1]
    with socket.create_connection((address, int(port))) as hanging:
        head = f"PATCH {where} HTTP/1.1\r\nHost: {host}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n"
        hanging.sendall(f"{head}Content-Type: {PART}\r\nContent-Length: 600000\r\n\r\n".encode() + data[:400_000])
        while not file.exists() or not file.stat().st_size:
            time.sleep(0.01)
        asking.request("HEAD", where, headers=TUS)
        answer = asking.getresponse()
        answer.read()
        start = int(answer.headers["Upload-Offset"])
        assert start > 0
        headers = {**TUS, "Upload-Offset": str(start), "Content-Type": PART}
        asking.request("PATCH", where, body=data[start:], headers=headers)
        assert asking.getresponse().status == 204
    asking.close()
    done = kb.transfers.wait(where.rsplit("/", 1)[1], 30)
    assert done.receipt is not None
    assert kb.original("hung.txt", 1)[0].read_bytes() == data


@pytest.mark.long
def test_many_clients_send_the_same_name_at_once(served: tuple[str, core.KnowledgeBase]) -> None:
    url, kb = served
    contents = [f"client {number}\n".encode() + TEXT for number in range(8)]
    threads = [
        threading.Thread(target=lambda data=data: uploader(url, "same.txt", data, chunk_size=4_000).upload())
        for data in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for transfer in kb.transfers.mine():
        kb.transfers.wait(transfer.id, 30)
    numbers = [version.number for version in kb.versions("same.txt")]
    assert numbers == list(range(len(contents), 0, -1))
    kept = {kb.original("same.txt", number)[0].read_bytes() for number in numbers}
    assert kept == set(contents)
