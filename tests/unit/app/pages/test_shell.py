"""The frame: pages are found, follow the language, and show errors as errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dash
import pytest
from dash import Dash
from dash.development.base_component import Component
from flask.testing import FlaskClient

import core
from app import context, i18n
from app.components.shared.states import error_state, error_words
from app.components.shell.shell import NAVIGATION, shell
from core.errors import ParserFailed, StoreUnavailable
from core.ingest.parsers import legacy
from core.model.file_types import ARCHIVES, EXTENSIONS
from tests.unit.app.drawn import press

ASSETS = Path(i18n.__file__).parent.parent / "assets"


def texts(part: Any) -> Iterator[str]:
    """Every piece of text below a component."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list | tuple):
        for below in part:
            yield from texts(below)
    elif isinstance(part, Component):
        yield from texts(getattr(part, "children", None))


def shown(window: Dash, path: str, lang: str = "en") -> str:
    """The text of a page as the callback of Dash Pages would send it."""
    page = next(page for page in dash.page_registry.values() if page["path"] == path)
    with window.server.test_request_context(headers={"Accept-Language": lang}):
        return " ".join(texts(page["layout"]()))


def test_every_link_of_the_rail_leads_to_a_page(window: Dash) -> None:
    paths = {page["path"] for page in dash.page_registry.values()}
    assert {path for _, path, _ in NAVIGATION} <= paths


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(("name", "path"), [("home", "/"), ("upload", "/upload"), ("jobs", "/jobs")])
def test_page_speaks_the_language_of_the_request(window: Dash, name: str, path: str, lang: str) -> None:
    assert i18n.t(f"{name}.title", lang) in shown(window, path, lang)
    assert i18n.t(f"{name}.purpose", lang) in shown(window, path, lang)


def test_tab_title_names_the_page(window: Dash) -> None:
    page = next(page for page in dash.page_registry.values() if page["path"] == "/upload")
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert page["title"]() == "アップロード · EvoRAG"


def test_empty_knowledge_base_offers_the_sample(window: Dash) -> None:
    assert "Load the sample knowledge base" in shown(window, "/")


@pytest.mark.parametrize("has_libreoffice", [True, False])
def test_sample_says_what_was_left_out_and_is_no_error(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, has_libreoffice: bool
) -> None:
    monkeypatch.setattr(legacy, "PROGRAMS", ("true",) if has_libreoffice else ("no-such-program",))
    told = str(press(window, client, "home-load-sample.n_clicks", {"home-load-sample.n_clicks": 1}))
    assert "sample files are being indexed." in told and "notice-error" not in told
    assert ("Left out" in told) is ("company-overview.ppt" in told) is ("notice-warning" in told) is not has_libreoffice
    assert {"ppt", "doc"}.isdisjoint(job.name.rpartition(".")[2] for job in kb.jobs()) is not has_libreoffice


def test_home_counts_what_is_there(window: Dash, kb: core.KnowledgeBase) -> None:
    kb.add_text("note", "The pump is checked every 14 days.")
    kb.work_off()
    core.EvoRAG(kb=kb).ask("How often is the pump checked?")
    text = shown(window, "/")
    assert "1 document" in text
    assert "How often is the pump checked?" in text


def test_page_that_cannot_be_made_shows_code_remedy_and_try_again(window: Dash) -> None:
    class Down:
        def counts(self) -> None:
            raise StoreUnavailable("The catalogue does not answer.")

    window.server.config[context.KB_KEY] = Down()
    text = shown(window, "/")
    assert "store_unavailable" in text
    assert "The catalogue does not answer." in text
    assert "Try again" in text


def test_page_with_an_unforeseen_error_shows_only_an_id(window: Dash) -> None:
    class Broken:
        def counts(self) -> None:
            raise RuntimeError("secret detail")

    window.server.config[context.KB_KEY] = Broken()
    text = shown(window, "/")
    assert "internal" in text
    assert "secret" not in text


def test_query_parameters_of_strangers_break_no_page(window: Dash) -> None:
    with window.server.test_request_context():
        for page in dash.page_registry.values():
            if not page["path_template"]:
                assert page["layout"](state="<b>", nothing="x", self="y") is not None


def test_error_keeps_its_own_remedy_in_english_and_is_translated_into_japanese(window: Dash) -> None:
    error = ParserFailed("Page 3 cannot be read.", remedy="Remove page 3.")
    with window.server.test_request_context():
        assert error_words(error)["remedy"] == "Remove page 3."
        assert "Page 3 cannot be read." in " ".join(texts(error_state(error)))
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert error_words(error)["title"] == "読み取りに失敗しました"


def test_scripts_get_every_text_that_they_show(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        holder = next(part for part in shell().children if getattr(part, "id", None) == "script-texts")
    messages = json.loads(getattr(holder, "data-texts"))
    assert messages["job.stage.embedding"] == "埋め込み"


def test_scripts_never_parse_text_as_html() -> None:
    for script in ASSETS.rglob("*.js"):
        # Plotly draws with such means and reads labels as markup: neurons-plots.js escapes what it hands over.
        if script.parent == ASSETS / "vendor" / "plotly":
            continue
        source = script.read_text(encoding="utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in source, (script.name, forbidden)


def test_window_is_readable_before_any_script_runs(client: FlaskClient) -> None:
    html = client.get("/", headers={"Accept-Language": "en"}).text
    assert html.index("head/boot.js") < html.index("react")
    assert html.index("vendor/bootstrap/bootstrap.min.css") < html.index("assets/theme.css")
    for path in (
        "head/boot.js",
        "head/evorag.svg",
        "vendor/bootstrap/bootstrap.min.css",
        "vendor/bootstrap-icons/icons.css",
    ):
        assert client.get(f"/assets/{path}").status_code == 200


def test_page_api_and_guide_name_the_very_types_that_are_accepted(client: FlaskClient) -> None:
    told = client.get("/api/v1/file-types").get_json()
    assert [extension for kind in told["kinds"] for extension in kind["extensions"]] == list(EXTENSIONS)
    assert told["archives"] == list(ARCHIVES)
    guide = Path("docs/guide.md").read_text(encoding="utf-8")
    for kind in told["kinds"]:
        assert f"| {' '.join(kind['extensions'])} |" in guide
