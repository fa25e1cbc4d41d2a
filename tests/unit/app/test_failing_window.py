"""A window that cannot be given says so as a page, and a page that cannot be shown keeps the window around it."""

from __future__ import annotations

import pytest
from dash import Dash

import core

HTML = {"Accept": "text/html,application/xhtml+xml", "Accept-Language": "ja"}


@pytest.fixture
def broken(window: Dash, kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> Dash:
    """A window whose documents cannot be read."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(type(kb), "document", fail)
    window.server.config["PROPAGATE_EXCEPTIONS"] = False
    return window


def test_a_document_whose_name_cannot_be_read_still_has_its_window(broken: Dash) -> None:
    answer = broken.server.test_client().get("/documents/gate.txt", headers=HTML)
    assert answer.status_code == 200
    assert "<title>文書 · EvoRAG</title>" in answer.text


def test_a_window_that_cannot_be_made_is_a_page_in_the_readers_language(
    broken: Dash, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> str:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(type(broken), "_tab_title", fail)
    client = broken.server.test_client()
    answer = client.get("/documents/gate.txt?version=2", headers=HTML)
    assert (answer.status_code, answer.mimetype) == (500, "text/html")
    assert '<html lang="ja"' in answer.text and "想定外のエラーです" in answer.text
    assert 'href="/documents/gate.txt?version=2"' in answer.text
    assert "secret" not in answer.text
    plain = client.get("/documents/gate.txt")
    assert (plain.status_code, plain.mimetype) == (500, "text/plain")
