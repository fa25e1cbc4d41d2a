"""The frames of the plots of the Neurons page; ``assets/modules/neurons/`` draws into them."""

from __future__ import annotations

from typing import Any

from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.i18n import t

FORMS = (("png", "file-earmark-text"), ("svg", "vector-pen"), ("csv", "filetype-csv"))


def figure_frame(name: str, *, tools: Any = None) -> html.Section:
    """The frame ``neurons-<name>``: its title, a sentence of what it holds, the menu of downloads, room for the plot.

    The sentence describes the plot to screen readers as well; the script keeps it current.
    """
    downloads = [
        html.Li(
            html.Button(
                [icon(symbol), t(f"neurons.save.{form}")],
                type="button",
                className="dialog-link",
                **dataset(neurons_save=form, figure=name),
            )
        )
        for form, symbol in FORMS
    ]
    label = t("neurons.save", name=t(f"neurons.{name}.title"))
    menu = html.Details(
        [
            html.Summary(icon("download"), className="btn btn-quiet btn-sm", title=label, **aria(label=label)),
            html.Ul(downloads),
        ],
        className="menu",
    )
    head = html.Header(
        [
            html.H2(t(f"neurons.{name}.title"), id=f"neurons-{name}-title", className="section-title"),
            html.Div([tools, menu], className="neurons-tools"),
        ],
        className="neurons-figure-head",
    )
    plot = html.Div(
        html.Div(className="skeleton-line", **aria(hidden=True)),
        id=f"neurons-{name}",
        className=f"neurons-plot neurons-plot-{name}",
        role="img",
        **aria(labelledby=f"neurons-{name}-title", describedby=f"neurons-{name}-said", busy=True),
    )
    said = html.P(t("state.loading"), id=f"neurons-{name}-said", className="neurons-said")
    return html.Section([head, said, plot], className="card-plain neurons-figure")
