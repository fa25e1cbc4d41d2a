"""The star that keeps a question, so that its answer can be watched from version to version."""

from __future__ import annotations

from dash import html

from app.components.attributes import aria
from app.components.shared.icon import icon
from app.i18n import t


def save_button(is_saved: bool) -> html.Button:
    """Say whether the question is saved; pressing it changes that."""
    return html.Button(
        [icon("star-fill" if is_saved else "star"), t("ask.is_saved" if is_saved else "ask.save")],
        id="ask-save",
        type="button",
        className="btn btn-secondary btn-sm save-question for-editors",
        title=t("ask.forget_explain" if is_saved else "ask.save_explain"),
        **aria(pressed=is_saved),
    )
