"""Static files: one of our styles, compressed, kept for ever, and small as a whole."""

from __future__ import annotations

import gzip
import re

import brotli
import pytest
from flask.testing import FlaskClient

from app import ASSETS
from app.static_files import without_grid

BROTLI = {"Accept-Encoding": "gzip, br"}
GZIP = {"Accept-Encoding": "gzip, deflate"}
FILES = re.compile(r'(?:src|href)="(/[^"]+\.(?:js|css|svg)[^"]*)"')
GRID = re.compile(r'<meta name="evorag-grid" content="(/_dash-component-suites/dash_ag_grid/[^"]+\.js)">')
MOST_FILES, MOST_BYTES = 30, 480_000
"""Of the window, before its first callback; 64 and 3,254,000 were there when nothing was packed."""


@pytest.fixture
def files(client: FlaskClient) -> list[str]:
    return list(dict.fromkeys(FILES.findall(client.get("/").text)))


def test_the_window_asks_for_few_files_and_few_bytes(client: FlaskClient, files: list[str]) -> None:
    sizes = {path: int(client.get(path, headers=BROTLI).headers["Content-Length"]) for path in files}
    assert len(files) <= MOST_FILES and sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_window_names_the_grid_and_does_not_ask_for_it(client: FlaskClient, files: list[str]) -> None:
    (grid,) = GRID.findall(client.get("/").text)
    assert not [path for path in files if "ag_grid" in path]
    assert b"window.dash_ag_grid=" in client.get(grid).data


def test_the_window_leaves_out_the_table_of_dash(files: list[str]) -> None:
    assert not [path for path in files if "dash_table" in path]
    assert [path for path in files if "dash_core_components" in path]


def test_a_grid_that_dash_writes_in_another_way_stays_on_the_page() -> None:
    html = '<script defer src="/_dash-component-suites/dash_ag_grid/dash_ag_grid.v1m2.min.js"></script>'
    assert without_grid(html) == (html, "")


def test_a_pack_is_our_styles_in_dashs_order(client: FlaskClient, files: list[str]) -> None:
    (pack,) = [path for path in files if path.startswith("/assets/all-")]
    answer = client.get(pack, headers=GZIP)
    ours = sorted(ASSETS.glob("*.css"))
    sent = gzip.decompress(answer.data)
    places = [sent.index(path.read_bytes()) for path in ours]
    assert len(ours) > 10 and places == sorted(places)
    assert "immutable" in answer.headers["Cache-Control"] and answer.mimetype == "text/css"
    assert client.get(pack).data == sent
    assert not [path for path in files if re.fullmatch(r"/assets/(?!all-)[^/]+\.css(\?.*)?", path)]


def test_an_old_name_leads_to_the_present_pack(client: FlaskClient, files: list[str]) -> None:
    answer = client.get("/assets/all-0123456789.css")
    assert answer.status_code == 302 and answer.headers["Location"] in files
    assert client.get("/assets/all-..%2f..%2fREADME.md").status_code == 404


def test_a_browser_gets_what_it_takes_brotli_before_gzip(client: FlaskClient, files: list[str]) -> None:
    for path in files:
        plain, small, smaller = client.get(path), client.get(path, headers=GZIP), client.get(path, headers=BROTLI)
        assert plain.status_code == 200 and "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == small.headers["Vary"] == smaller.headers["Vary"] == "Accept-Encoding"
        if "Content-Encoding" in small.headers:
            assert gzip.decompress(small.data) == brotli.decompress(smaller.data) == plain.data
            assert len(smaller.data) < len(small.data) < len(plain.data)
        refusing = client.get(path, headers={"Accept-Encoding": "gzip;q=0, br;q=0"})
        assert "Content-Encoding" not in refusing.headers


def test_a_file_that_is_kept_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/assets/vendor/bootstrap/bootstrap.min.css", headers=GZIP)
    again = client.get(
        "/assets/vendor/bootstrap/bootstrap.min.css", headers={**GZIP, "If-None-Match": first.headers["ETag"]}
    )
    assert first.headers["Content-Encoding"] == "gzip" and again.status_code == 304 and again.data == b""


def test_what_a_page_waits_for_is_named_by_its_bytes_and_kept_for_ever(client: FlaskClient) -> None:
    head = client.get("/").text.split("</head>")[0]
    addresses = re.findall(r'<(?:script|link rel="stylesheet"|link rel="icon"[^>]*?)[^>]* (?:src|href)="([^"]+)"', head)
    assert len(addresses) >= 4 and any("boot.js" in address for address in addresses)
    for address in addresses:
        assert client.get(address).headers["Cache-Control"] == "public, max-age=31536000, immutable", address
    for address in ("/assets/head/boot.js", "/assets/head/boot.js?0123456789abcdef0123"):
        assert "immutable" not in client.get(address).headers.get("Cache-Control", "")


def test_answers_about_documents_are_not_kept(client: FlaskClient) -> None:
    answer = client.get("/api/v1/documents", headers=GZIP)
    assert answer.headers["Cache-Control"] == "private, no-store" and "Content-Encoding" not in answer.headers
