"""Upload: add documents and watch each of them through every stage."""

from __future__ import annotations

from typing import Any

import dash
from dash import html

from app import links
from app.components.document.upload_panel import upload_panel
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core import access
from core.model import Role
from core.model.file_types import EXTENSIONS

dash.register_page(__name__, path=links.UPLOAD, title=tab_title("upload.title"))


@shows_errors
def layout(**_: Any) -> html.Div:
    """Return the page; the rows are drawn by the browser."""
    limits = kb().settings.limits
    who = access.current()
    if not who.role.includes(Role.EDITOR):
        return named_page("upload", empty("eye", t("upload.readers.title"), t("upload.readers")))
    is_somebody = who.user_id is not None
    return named_page(
        "upload",
        upload_panel(EXTENSIONS, limits.max_upload_bytes, limits.upload_part_bytes, private=is_somebody),
        action=link_button(t("nav.documents"), links.DOCUMENTS, "files"),
    )
