"""The button that loads the sample, which stands wherever documents are added."""

from __future__ import annotations

from dash import html

from app.components.shared import ids
from app.components.shared.icon import icon
from app.i18n import t


def sample_button(*, again: bool) -> html.Button:
    """Load the sample documents; ``again`` says that others are there already."""
    return html.Button(
        [icon("collection"), t("sample.load_too" if again else "sample.load")],
        id=ids.LOAD_SAMPLE,
        type="button",
        className="btn btn-secondary for-editors",
        title=t("sample.explain"),
    )
