"""History: every question that was asked, with its kept answer, to open or to ask again."""

from __future__ import annotations

from typing import Any

from dash import dcc, html, register_page

from app import links
from app.components.ask.question_list import question_list
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t

PAGE_QUESTIONS = 50
MOST_QUESTIONS = 500

register_page(__name__, path=links.HISTORY, title=tab_title("history.title"))


@shows_errors
def layout(limit: str = "", **_: Any) -> html.Div:
    """The newest questions; ``limit`` says how many."""
    count = min(int(limit), MOST_QUESTIONS) if limit.isascii() and limit.isdigit() else PAGE_QUESTIONS
    questions = kb().history(count + 1)
    if not questions:
        action = link_button(t("history.ask"), links.ASK, "chat-square-text", primary=True)
        return named_page("history", empty("clock-history", t("history.empty_title"), t("history.empty_text"), action))
    more = None
    if len(questions) > count and count < MOST_QUESTIONS:
        href = f"{links.HISTORY}?limit={count + PAGE_QUESTIONS}"
        more = dcc.Link(t("history.more"), href=href, className="btn btn-secondary")
    return named_page("history", [html.Div(question_list(questions[:count]), className="card-plain"), more])
