"""Upload: add documents and watch each of them through every stage."""

from __future__ import annotations

from typing import Any

import dash
from dash import html

from app import links
from app.components.frame import named_page, tab_title
from app.components.states import link_button, shows_errors
from app.components.upload_panel import EXTENSIONS, upload_panel
from app.context import kb
from app.i18n import t

dash.register_page(__name__, path=links.UPLOAD, title=tab_title("upload.title"))


@shows_errors
def layout(**_: Any) -> html.Div:
    """Return the page; the rows are drawn by the browser."""
    return named_page(
        "upload",
        upload_panel(EXTENSIONS, kb().settings.max_upload_bytes),
        action=link_button(t("nav.documents"), links.DOCUMENTS, "files"),
    )
