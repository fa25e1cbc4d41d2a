"""Audit: every publication there was, newest first: what was shown from when on, by whose doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import (
    ClientsideFunction,
    Input,
    Output,
    Patch,
    State,
    callback,
    clientside_callback,
    dcc,
    html,
    register_page,
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.document.audit_list import ACTIONS, audit_filters, audit_rows, audit_table
from app.components.shared.document_options import document_options
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from app.offered_documents import offered_documents
from core.model import Document, Publication

PAGE_ROWS = 40

register_page(__name__, path=links.AUDIT, title=tab_title("audit.title"), script="audit/page.js")


@shows_errors
def layout(doc: str | list[str] = "", action: str | list[str] = "", **_: Any) -> html.Div:
    """The newest publications, of ``doc`` and of ``action`` where the address names them."""
    doc, action = _one(doc), _one(action)
    chosen = action if action in ACTIONS else None
    found, before = _page(doc or None, chosen, None)
    if not found and not doc and not chosen:
        first = link_button(t("nav.upload"), links.UPLOAD, "upload", primary=True)
        return named_page("audit", empty("journal-text", t("audit.empty_title"), t("audit.empty_text"), first))
    content: list[Any] = [
        audit_filters(_offered("", doc), doc or None, chosen),
        dcc.Store(id="audit-next", data={"doc": doc or None, "action": chosen, "before": before}),
        dcc.Store(id="audit-gone"),
    ]
    if found:
        content += [
            html.Div(audit_table(_rows(found)), className="card-plain audit-card"),
            html.Div(
                [
                    html.Button(
                        t("audit.more"),
                        id="audit-more",
                        type="button",
                        className="btn btn-secondary",
                        hidden=before is None,
                    ),
                    html.Span(_count(len(found), before), id="audit-count", className="muted", role="status"),
                ],
                className="button-row",
            ),
        ]
    else:
        everything = link_button(t("audit.everything"), links.AUDIT, "journal-text")
        content.append(empty("funnel", t("audit.none_title"), t("audit.none_text"), everything))
    return named_page("audit", content)


def _offered(search: str | None, chosen: str | None) -> list[Document]:
    """The documents whose names fit, gone ones too, and the chosen one."""
    return offered_documents(search, [chosen] if chosen else (), with_gone=True)


def _one(value: str | list[str]) -> str:
    """A value of the address, the first one where it is given several times."""
    return (value[0] if value else "") if isinstance(value, list) else value


def _page(doc: str | None, action: str | None, before: int | None) -> tuple[list[Publication], int | None]:
    """A page of publications, and where the next one begins if there is one."""
    found = kb().audit(limit=PAGE_ROWS + 1, before=before, key=doc, action=action)
    rest = found[PAGE_ROWS - 1].seq if len(found) > PAGE_ROWS else None
    return found[:PAGE_ROWS], rest


def _rows(publications: Sequence[Publication]) -> list[html.Tr]:
    """Rows that say what each publication replaced."""
    return audit_rows(publications, kb().replaced([publication.seq for publication in publications]))


def _count(shown: int, before: int | None) -> str:
    return t("audit.count", count=shown) if before is None else t("audit.count_newest", count=shown)


@callback(
    Output("audit-rows", "children"),
    Output("audit-next", "data"),
    Output("audit-more", "hidden"),
    Output("audit-count", "children"),
    Input("audit-more", "n_clicks"),
    State("audit-next", "data"),
    prevent_initial_call=True,
    running=[(Output("audit-more", "className"), "btn btn-secondary is-working", "btn btn-secondary")],
)
def load_more(clicks: int | None, place: dict[str, Any]) -> tuple[Any, ...]:
    """Add the next page of rows under those that are shown."""
    if not clicks or place["before"] is None:
        raise PreventUpdate
    found, before = _page(place["doc"], place["action"], place["before"])
    rows = Patch()
    rows.extend(_rows(found))
    shown = int(place.get("shown", PAGE_ROWS)) + len(found)
    return rows, {**place, "before": before, "shown": shown}, before is None, _count(shown, before)


@callback(
    Output("audit-document", "options"),
    Input("audit-document", "search_value"),
    State("audit-document", "value"),
    prevent_initial_call=True,
)
def offer_documents(search: str | None, chosen: str | None) -> list[dict[str, str]]:
    """The documents whose names fit what is written, and the chosen one."""
    return document_options(_offered(search, chosen))


clientside_callback(
    ClientsideFunction("audit", "listen"),
    Output("audit-gone", "data"),
    Input("audit-document", "value"),
    Input("audit-action", "value"),
    prevent_initial_call=True,
)
