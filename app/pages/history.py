"""History: every question that was asked, with its kept answer, to open or to ask again; searched by the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Input, Output, callback, html, register_page

from app import links
from app.components.ask.question_list import question_list
from app.components.shared.paged_list import asked, list_place, nothing_fits, older, search_asked, search_field
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core.errors import NotFound

PAGE_QUESTIONS = 50

register_page(__name__, path=links.HISTORY, title=tab_title("history.title"), script="history/page.js")


@shows_errors
def layout(q: str = "", before: str = "", **_: Any) -> html.Div:
    """The newest questions that hold the words ``q``, or those asked before the one with the id ``before``."""
    query = {name: str(value) for name, value in (("q", q), ("before", before)) if value}
    listed = _listed(query)
    if not listed and not query:
        action = link_button(t("history.ask"), links.ASK, "chat-square-text", primary=True)
        return named_page("history", empty("clock-history", t("history.empty_title"), t("history.empty_text"), action))
    field = html.Div(search_field("history", query.get("q", ""), t("history.search")), className="toolbar")
    place = html.Div(listed or nothing_fits(links.HISTORY), id="history-list")
    return named_page("history", list_place("history", [field, place, asked("history", query)]))


def _listed(query: Mapping[str, str]) -> list[Any]:
    """The questions that the address asks for, and the way to older ones; nothing where none fits."""
    search = search_asked(query)
    try:
        found = kb().history(PAGE_QUESTIONS + 1, query.get("before", ""), search)
    except NotFound:
        # It was forgotten since the address was written.
        found = kb().history(PAGE_QUESTIONS + 1, search=search)
    if not found:
        return []
    following = found[PAGE_QUESTIONS - 1].id if len(found) > PAGE_QUESTIONS else ""
    questions = html.Div(question_list(found[:PAGE_QUESTIONS]), className="card-plain")
    return [questions, *older(links.HISTORY, query, following)]


@callback(Output("history-list", "children"), Input("history-asked", "data"), prevent_initial_call=True)
def show_list(query: dict[str, str]) -> list[Any]:
    """Show what the address asks for now."""
    return _listed(query) or nothing_fits(links.HISTORY)
