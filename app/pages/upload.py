"""Upload: add documents and watch each of them through every stage."""

from __future__ import annotations

from typing import Any

import dash
from dash import Input, Output, callback, html

from app import links
from app.components.document.upload_panel import upload_panel
from app.components.shared import ids
from app.components.shared.sample import sample_button
from app.components.shared.states import empty, notify, one_text, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core import access
from core.model import Role
from core.model.file_types import EXTENSIONS

dash.register_page(__name__, path=links.UPLOAD, title=tab_title("upload.title"), script="upload/page.js")


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
        action=sample_button(again=kb().counts().documents > 0),
    )


@callback(
    Output(ids.LOAD_SAMPLE, "disabled"),
    Input(ids.LOAD_SAMPLE, "n_clicks"),
    prevent_initial_call=True,
    running=[(Output(ids.LOAD_SAMPLE, "disabled"), True, True)],
)
def load_sample(clicks: int | None) -> bool:
    """Add the sample documents and say that they are being indexed."""
    if not clicks:
        return False
    added = sum(1 for receipt in kb().load_sample() if receipt.pending_job)
    left_out = kb().sample_left_out()
    said = t("sample.started", count=added) if added else t("sample.unchanged")
    if left_out:
        said = one_text(said, t("sample.left_out", names=", ".join(each.name for each in left_out)))
    notify("warning" if left_out else "ok", said)
    return True
