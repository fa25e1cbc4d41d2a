"""Lists that the server searches and pages: the field, the choices and the pager, all of which the address holds.

``assets/modules/shared/lists.js`` writes into the address what is typed and chosen here, and hands the address to the
callback of the page through the store that ``asked`` makes. The links of the pager are addresses, which can be opened
beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.states import empty
from app.i18n import t

LONGEST_SEARCH = 200
EVERY = " "
"""The value of the choice that narrows nothing: an empty one would not be drawn, and no tag is a blank."""


def words_asked(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of a search, each of which is to be found somewhere; blanks of any width part them."""
    return tuple(query.get("q", "")[:LONGEST_SEARCH].split())


def search_asked(query: Mapping[str, str]) -> str:
    """Return the search as one text, for what parts it into words itself."""
    return " ".join(words_asked(query))


def page_asked(query: Mapping[str, str]) -> int:
    """Return the number of the page that an address names, from 1 on."""
    told = query.get("page", "")
    return max(1, int(told)) if told.isascii() and told.isdigit() and len(told) < 10 else 1


def asked(name: str, query: Mapping[str, str]) -> dcc.Store:
    """Return the store ``<name>-asked``, which has the query of the address whenever it changes."""
    return dcc.Store(id=f"{name}-asked", data=dict(query))


def list_place(name: str, children: Any, **props: Any) -> html.Div:
    """Return what the list and its fields stand in, for the browser to know them."""
    return html.Div(children, **props, **dataset(list=name))


def search_field(name: str, value: str, label: str) -> html.Div:
    """Return the field that searches a list; its id is ``<name>-search``."""
    component_id = f"{name}-search"
    field = dbc.Input(
        id=component_id, type="search", value=value, placeholder=label, maxLength=LONGEST_SEARCH, autocomplete="off"
    )
    return html.Div(
        [icon("search"), html.Label(label, htmlFor=component_id, className="visually-hidden"), field],
        className="search-box",
        **dataset(list_field="q"),
    )


def choice(name: str, field: str, value: str, label: str, every: str, options: Iterable[tuple[str, str]]) -> html.Div:
    """Return a choice that narrows a list; ``every`` says that it does not. Its id is ``<name>-<field>``."""
    component_id = f"{name}-{field}"
    offered = [{"value": EVERY, "label": every}, *({"value": each, "label": words} for each, words in options)]
    if value and all(option["value"] != value for option in offered):
        offered.append({"value": value, "label": value})
    return html.Div(
        [
            html.Label(label, htmlFor=component_id, className="visually-hidden"),
            dbc.Select(id=component_id, value=value or EVERY, options=offered),
        ],
        className="list-choice",
        **dataset(list_field=field),
    )


def pager(path: str, query: Mapping[str, str], total: int, size: int) -> list[Any]:
    """Return which of how many are shown, and the links to the other pages; nothing where there is one page."""
    last = max(1, -(-total // size))
    if last == 1:
        return []
    here = min(page_asked(query), last)
    first = (here - 1) * size + 1
    told = t("list.range", first=first, last=min(here * size, total), total=total)
    return [
        html.Nav(
            [
                _to(path, query, 1, here, t("list.number", number=1), t("list.first")),
                _to(path, query, max(1, here - 1), here, icon("chevron-left"), t("list.previous")),
                html.Span(told, className="pager-range numbers", role="status"),
                _to(path, query, min(last, here + 1), here, icon("chevron-right"), t("list.next")),
                _to(path, query, last, here, t("list.number", number=last), t("list.last")),
            ],
            className="pager",
            **aria(label=t("list.pages")),
        )
    ]


def older(path: str, query: Mapping[str, str], following: str) -> list[Any]:
    """Return the ways to the newest and to what follows ``following``, of a list that is not counted."""
    links = []
    if query.get("before"):
        newest = address(path, {**query, "before": ""})
        links.append(html.A(t("list.newest"), href=newest, className="btn btn-secondary", **dataset(list_to=0)))
    if following:
        href = address(path, {**query, "before": following})
        links.append(html.A(t("list.older"), href=href, className="btn btn-secondary", **dataset(list_to=1)))
    return [html.Nav(links, className="pager", **aria(label=t("list.pages")))] if links else []


def nothing_fits(path: str) -> list[Any]:
    """Return what stands in place of a list in which nothing is as it was asked for, with the way to everything."""
    everything = html.A(t("list.everything"), href=path, className="btn btn-secondary", **dataset(list_to=0))
    return [empty("search", t("list.nothing"), t("list.nothing_text"), everything)]


def _to(path: str, query: Mapping[str, str], page: int, here: int, sign: Any, label: str) -> Any:
    """A link to a page; where it would lead nowhere, its sign alone, which keeps the others in place."""
    if page == here:
        return html.Span(sign, className="btn btn-secondary btn-quiet pager-to disabled", **aria(hidden=True))
    return html.A(
        sign,
        href=address(path, {**query, "page": "" if page == 1 else str(page)}),
        title=label,
        className="btn btn-secondary btn-quiet pager-to",
        # A number is its own name.
        **({} if isinstance(sign, str) else aria(label=label)),
        **dataset(list_to=page),
    )


def address(path: str, query: Mapping[str, str]) -> str:
    """Return the address of a list with a query, without what is empty."""
    told = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{told}" if told else path
