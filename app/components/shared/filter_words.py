"""The words of a list that can be searched, in the language of the request."""

from __future__ import annotations

from dash import dcc

from app.i18n import t


def dropdown_words() -> dcc.Dropdown.Labels:
    """Return what ``dcc.Dropdown`` takes as its labels."""
    return {
        "search": t("filter.search"),
        "select_all": t("filter.select_all"),
        "deselect_all": t("filter.deselect_all"),
        "selected_count": t("filter.selected_count"),
        "clear_search": t("filter.clear_search"),
        "clear_selection": t("filter.clear_selection"),
        "no_options_found": t("filter.no_options_found"),
    }
