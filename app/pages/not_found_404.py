"""What is shown at an address where no page is."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from dash import html, register_page

from app import links
from app.components.attributes import dataset
from app.components.shared.states import empty, link_button
from app.components.shell.frame import asked_for, page, tab_title
from app.i18n import t

register_page(__name__, path="/not-found-404", title=tab_title("shell.not_found"))


def layout(**_: Any) -> html.Div:
    """Say what is not there, and the ways on."""
    ways = [
        link_button(t("shell.not_found_ask"), links.HOME, "chat-square-text", primary=True),
        link_button(t("shell.not_found_documents"), links.DOCUMENTS, "files"),
        html.Button(t("palette.open"), type="button", className="btn btn-secondary", **dataset(action="palette")),
    ]
    path, _values = asked_for()
    text = t("shell.not_found_text", path=unquote(path))
    return page(t("shell.not_found"), "", empty("question-circle", "404", text, ways))
