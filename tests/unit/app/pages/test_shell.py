"""The frame: pages are found, follow the language, and show errors as errors."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dash
import pytest
from dash import Dash, dcc
from dash.development.base_component import Component
from flask.testing import FlaskClient

import core
from app import context, i18n, links
from app.components.shared.states import WIDE_ENDINGS, error_state, error_words
from app.components.shell.doors import DOORS
from app.components.shell.shell import shell
from app.i18n import t
from core.errors import EmptyDocument, InvalidInput, NotFound, ParserFailed, StoreUnavailable, TypeMismatch
from core.ingest.parsers import legacy
from core.model.file_types import ARCHIVES, EXTENSIONS
from tests.unit.app.drawn import open_page, parts, press
from tests.unit.app.drawn import text as text_of

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


def test_every_page_is_behind_exactly_one_door(window: Dash) -> None:
    paths = {page["path"] for page in dash.page_registry.values() if not page["path_template"]}
    behind = [path for door in DOORS for place in door.places for path in (place.path, *place.also)]
    assert sorted(behind) == sorted(paths - {"/not-found-404"})
    assert len(DOORS) == 5


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(("name", "path"), [("ask", "/"), ("ask", "/ask"), ("upload", "/upload"), ("jobs", "/jobs")])
def test_page_speaks_the_language_of_the_request(window: Dash, name: str, path: str, lang: str) -> None:
    assert i18n.t(f"{name}.title", lang) in shown(window, path, lang)
    assert i18n.t(f"{name}.purpose", lang) in shown(window, path, lang)


def test_tab_title_names_the_page(window: Dash) -> None:
    page = next(page for page in dash.page_registry.values() if page["path"] == "/upload")
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert page["title"]() == "アップロード · EvoRAG"


def test_tab_title_names_the_document_and_the_question(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    kb.add_text("hours", "The museum opens at nine.")
    kb.work_off()

    def title(address: str) -> str:
        return re.findall("<title>(.*)</title>", client.get(address, headers={"Accept-Language": "en"}).text)[0]

    assert title("/documents/hours.txt") == "hours.txt · Document · EvoRAG"
    assert title("/document?key=hours.txt") == "hours.txt · Document · EvoRAG"
    assert title("/compare?doc=hours.txt&old=1&new=1") == "hours.txt · Compare · EvoRAG"
    assert title("/ask?q=When%3F") == "When? · Ask · EvoRAG"
    assert title("/documents/gone.txt") == "Document · EvoRAG"
    assert title("/ask?q=%3Cscript%3E") == "&lt;script&gt; · Ask · EvoRAG"


@pytest.mark.parametrize(
    ("lang", "says", "loads"),
    [
        ("en", "There is no page here", "Loading the page…"),
        ("ja", "このページはありません", "ページを読み込んでいます…"),
    ],
)
def test_unknown_address_is_answered_in_the_readers_language(
    window: Dash, client: FlaskClient, lang: str, says: str, loads: str
) -> None:
    answer = client.get("/no/such/page", headers={"Accept-Language": lang})
    assert answer.status_code == 404 and says in answer.text and loads in answer.text
    assert client.get("/").status_code == client.get("/documents/anything").status_code == 200
    page = shown(window, "/not-found-404", lang)
    assert says in page and "404" in page


def test_empty_knowledge_base_offers_the_sample(window: Dash) -> None:
    assert "Load the sample documents" in shown(window, "/")
    assert "Upload documents" in shown(window, "/")


@pytest.mark.parametrize("has_libreoffice", [True, False])
def test_sample_says_what_was_left_out_and_is_no_error(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, has_libreoffice: bool
) -> None:
    monkeypatch.setattr(legacy, "PROGRAMS", ("true",) if has_libreoffice else ("no-such-program",))
    told = str(press(window, client, "load-sample.n_clicks", {"load-sample.n_clicks": 1}))
    assert "sample files are being indexed." in told and "notice-error" not in told
    assert ("Left out" in told) is ("company-overview.ppt" in told) is ("notice-warning" in told) is not has_libreoffice
    assert {"ppt", "doc"}.isdisjoint(job.name.rpartition(".")[2] for job in kb.jobs()) is not has_libreoffice


def test_sample_is_loaded_beside_other_documents_and_says_when_it_is_there(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    kb.add_text("note", "The pump is checked every 14 days.")
    kb.work_off()
    assert "Load the sample too" in shown(window, "/upload")
    press(window, client, "load-sample.n_clicks", {"load-sample.n_clicks": 1})
    kb.work_off()
    assert kb.counts().documents > 20
    versions = kb.counts().versions
    told = str(press(window, client, "load-sample.n_clicks", {"load-sample.n_clicks": 1}))
    assert "all here already" in told and kb.counts().versions == versions


def test_start_page_shows_last_answers_and_no_details_of_the_operator(window: Dash, kb: core.KnowledgeBase) -> None:
    kb.add_text("note", "The pump is checked every 14 days.")
    kb.work_off()
    core.EvoRAG(kb=kb).ask("How often is the pump checked?")
    text = shown(window, "/")
    assert "How often is the pump checked?" in text
    assert "chunk" not in text and "Stores" not in text
    assert "1 document" in shown(window, "/stores")


def test_a_question_that_was_asked_again_stands_once_among_the_last_answers(
    window: Dash, kb: core.KnowledgeBase
) -> None:
    kb.add_text("note", "The pump is checked every 14 days. The seal is replaced once a year.")
    kb.work_off()
    for question in ("How often is the pump checked?", "When is the seal replaced?", "How often is the pump checked?"):
        core.EvoRAG(kb=kb).ask(question)
    text = shown(window, "/")
    assert text.count("How often is the pump checked?") == 1
    assert text.index("How often is the pump checked?") < text.index("When is the seal replaced?")


def test_start_page_says_what_is_being_indexed(window: Dash, kb: core.KnowledgeBase) -> None:
    kb.add_text("note", "The pump is checked every 14 days.")
    text = shown(window, "/")
    assert "1 file is being indexed" in text and "note.txt" in text
    kb.work_off()
    assert "being indexed" not in shown(window, "/")


def test_examples_are_headings_of_the_documents_that_are_there(window: Dash, kb: core.KnowledgeBase) -> None:
    kb.add_file("faq.md", io.BytesIO(b"# Answers\n\n## Is the pump loud?\n\nNo.\n"))
    kb.add_file("oven.md", io.BytesIO(b"# Oven\n\n## 2. Cleaning\n\nWipe it.\n"))
    kb.add_file("規程.md", io.BytesIO("# 規程\n\n## 第2章 休暇\n\n20日です。\n".encode()))
    kb.add_file("plain.txt", io.BytesIO(b"No heading at all."))
    kb.work_off()
    text = shown(window, "/")
    assert "Is the pump loud?" in text
    assert "about cleaning?" in text
    assert "休暇について何と書かれていますか？" in text
    of_one = text_of(open_page(window, "/ask?doc=oven.md"))
    assert "about cleaning?" in of_one and "Is the pump loud?" not in of_one
    japanese = shown(window, "/", "ja")
    assert japanese.index("休暇について") < japanese.index("about cleaning?")


def test_headings_that_any_document_has_are_no_examples(window: Dash, kb: core.KnowledgeBase) -> None:
    for name, heading in (("paper.md", "Abstract"), ("team.md", "Ada Byron, Grace Hopper"), ("pump.md", "Seals")):
        kb.add_file(name, io.BytesIO(f"# {name[:-3].title()}\n\n## {heading}\n\nReplace them.\n".encode()))
    kb.add_file("規程.md", io.BytesIO("# 規程\n\n## はじめに\n\n定めます。\n".encode()))
    kb.work_off()
    text = shown(window, "/")
    assert "about seals?" in text
    assert "bstract" not in text and "Byron" not in text and "はじめに" not in text


def test_page_that_cannot_be_made_shows_code_remedy_and_try_again(window: Dash) -> None:
    class Down:
        def history(self, *_: object, **__: object) -> None:
            raise StoreUnavailable("The catalogue does not answer.")

    window.server.config[context.KB_KEY] = Down()
    text = shown(window, "/history")
    assert "store_unavailable" in text
    assert "The catalogue does not answer." in text
    assert "Try again" in text


def test_page_with_an_unforeseen_error_shows_only_an_id(window: Dash) -> None:
    class Broken:
        def history(self, _: int) -> None:
            raise RuntimeError("secret detail")

    window.server.config[context.KB_KEY] = Broken()
    text = shown(window, "/history")
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


def test_error_of_a_page_keeps_its_own_remedy_in_japanese(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        own = t("settings.server_tick")
        assert error_words(InvalidInput("It is inside.", remedy=own))["remedy"] == own
        foreign = InvalidInput("It is wrong.", remedy="Do as nobody translated.")
        assert error_words(foreign)["remedy"] == t("remedy.invalid_input")


def test_version_that_is_not_there_sends_nobody_to_look_for_the_document(window: Dash) -> None:
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        context.kb().add_text("kept.txt", "One version.")
        with pytest.raises(NotFound) as caught:
            context.kb().version("kept.txt", 9)
        assert error_words(caught.value)["remedy"] == "この文書にある版から選んでください。"


def test_every_remedy_of_a_page_is_known_as_japanese() -> None:
    remedies = {key: text for key, text in i18n.messages("ja").items() if "_remedy" in key}
    remedies["settings.server_tick"] = i18n.messages("ja")["settings.server_tick"]
    assert [key for key, text in remedies.items() if not str(text).endswith(WIDE_ENDINGS)] == []


def test_error_is_said_in_japanese_with_the_names_in_it(window: Dash) -> None:
    lost = NotFound("There is no document “年次報告.txt”.")
    blank = EmptyDocument("The file is empty.", remedy="Choose a file that has something in it.")
    kind = TypeMismatch("The file ends in .pdf, but its content is that of a .docx file.")
    with window.server.test_request_context():
        assert error_words(lost)["detail"] == lost.message
        assert error_words(blank)["remedy"] == blank.remedy
    with window.server.test_request_context(headers={"Accept-Language": "ja"}):
        assert error_words(lost)["detail"] == "文書「年次報告.txt」はありません。"
        assert error_words(blank)["detail"] == "ファイルは空です。"
        assert error_words(blank)["remedy"] == "内容のあるファイルを選んでください。"
        assert error_words(kind)["detail"] == "拡張子は .pdf ですが、内容は .docx ファイルです。"
        assert error_words(NotFound("Nobody wrote this."))["detail"] == "Nobody wrote this."


def test_document_that_is_not_there_leads_to_the_list(window: Dash) -> None:
    with window.server.test_request_context():
        shown = error_state(NotFound("There is no document “x”."))
        assert [part.href for part in parts(shown, dcc.Link)] == [links.DOCUMENTS]
        assert not list(parts(error_state(ParserFailed("No.")), dcc.Link))


def test_address_without_a_page_is_shown_as_it_is_read(window: Dash) -> None:
    with window.server.test_request_context("/%E8%A6%8F%E7%A8%8B%20a"):
        assert "/規程 a" in " ".join(texts(dash.page_registry["app.pages.not_found_404"]["layout"]()))


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
    assert html.index("vendor/bootstrap/bootstrap.min.css") < re.search(r"assets/all-\w+\.css", html).start()
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
