"""The five doors of the application, in the rail, and the pages behind each of them, as a second level above the page.

``assets/modules/shell/frame.js`` marks where the address is, and shows the tabs of that door alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.i18n import t


@dataclass(frozen=True, slots=True)
class Place:
    """A page behind a door; ``also`` are other addresses under which it is found."""

    name: str
    path: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Door:
    """An entry of the rail, which leads to the first of its pages."""

    name: str
    symbol: str
    places: tuple[Place, ...]

    @property
    def path(self) -> str:
        """Where the door leads."""
        return self.places[0].path


DOORS = (
    Door(
        "ask",
        "chat-square-text",
        (
            Place("ask", links.HOME, (links.ASK,)),
            Place("conversations", links.CONVERSATIONS),
            Place("history", links.HISTORY),
        ),
    ),
    Door(
        "documents",
        "files",
        (
            Place("documents", links.DOCUMENTS, ("/document",)),
            Place("upload", links.UPLOAD),
            Place("jobs", links.JOBS),
        ),
    ),
    Door("compare", "file-diff", (Place("compare", links.COMPARE),)),
    Door(
        "quality",
        "bar-chart",
        (
            Place("evaluate", links.EVALUATE),
            Place("analyser", links.ANALYSER),
            Place("neurons", links.NEURONS),
            Place("stores", links.STORES),
        ),
    ),
    Door(
        "settings",
        "gear",
        (
            Place("models", links.SETTINGS),
            Place("access", links.ACCESS),
            Place("audit", links.AUDIT),
            Place("api", links.API_DOCS),
        ),
    ),
)


def rail_links() -> list[dcc.Link]:
    """One entry a door."""
    return [
        dcc.Link(
            [icon(door.symbol), html.Span(t(f"nav.{door.name}"), className="rail-word")],
            id=f"door-{door.name}",
            href=door.path,
            className="rail-link",
            title=t(f"nav.{door.name}"),
        )
        for door in DOORS
    ]


def tabs() -> html.Div:
    """The pages behind each door that has several; hidden until the address is behind it."""
    return html.Div([_tabs(door) for door in DOORS], className="door-tabs")


def _tabs(door: Door) -> html.Nav:
    pages = [
        html.Span(
            dcc.Link(t(f"nav.{place.name}"), href=place.path, className="door-tab"),
            **dataset(paths=" ".join((place.path, *place.also))),
        )
        for place in door.places
    ]
    return html.Nav(
        html.Div(pages, className="door-tabs-row"),
        hidden=True,
        **aria(label=t(f"nav.{door.name}")),
        **dataset(door=door.name, alone=len(door.places) == 1),
    )
