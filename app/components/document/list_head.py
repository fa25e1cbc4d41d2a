"""Above the list of documents: what searches and narrows it, and what is done with the chosen ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dash import dcc, html

from app import links
from app.components.document.grid import STATES, language_word
from app.components.shared.icon import icon
from app.components.shared.paged_list import address, choice, search_field
from app.i18n import t

NOT_ASKED_FOR = ("scheduled", "deleted", "purged")
"""States that no choice offers: a plan beside the state, and those that are listed on demand."""
MOST_TAGS = 200
"""Tags that a choice offers; where there are more, searching finds them."""


def list_head(query: Mapping[str, str], languages: Sequence[str], tags: Sequence[str]) -> html.Div:
    """Return the fields and the buttons; what the address holds is in them."""
    with_deleted = bool(query.get("deleted"))
    states = [(state, t(f"document.state.{state}")) for state in STATES if state not in NOT_ASKED_FOR]
    fields = [
        search_field("documents", query.get("q", ""), t("documents.search")),
        choice("documents", "state", query.get("state", ""), t("documents.state"), t("documents.any_state"), states),
    ]
    if len(languages) > 1 or query.get("language"):
        spoken = [(code, language_word(code)) for code in languages]
        fields.append(
            choice(
                "documents",
                "language",
                query.get("language", ""),
                t("documents.language"),
                t("documents.any_language"),
                spoken,
            )
        )
    if tags or query.get("tag"):
        offered = [(tag, tag) for tag in tags] if len(tags) <= MOST_TAGS else []
        fields.append(
            choice("documents", "tag", query.get("tag", ""), t("documents.tags"), t("documents.any_tag"), offered)
        )
    acts = html.Div(
        [
            html.Span(id="documents-count", className="documents-count", role="status"),
            dcc.Link(
                [
                    icon("eye-slash" if with_deleted else "eye"),
                    t("documents.hide_deleted" if with_deleted else "documents.show_deleted"),
                ],
                href=address(links.DOCUMENTS, {} if with_deleted else {"deleted": "1"}),
                className="btn btn-secondary btn-quiet",
            ),
            html.Button(
                [icon("arrow-counterclockwise"), t("documents.restore")],
                id="documents-restore",
                type="button",
                className="btn btn-secondary for-editors",
                disabled=True,
                hidden=not with_deleted,
            ),
            html.Button(
                [icon("trash"), t("documents.delete")],
                id="documents-delete",
                type="button",
                className="btn btn-secondary for-editors",
                disabled=True,
            ),
        ],
        className="toolbar",
    )
    return html.Div([html.Div(fields, className="toolbar"), acts])
