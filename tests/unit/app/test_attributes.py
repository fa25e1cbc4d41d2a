"""Attributes that no keyword of Dash names."""

from __future__ import annotations

import json

from dash import html
from plotly.utils import PlotlyJSONEncoder

from app.components.attributes import aria, dataset


def test_attributes_reach_the_element_by_their_names_in_html() -> None:
    element = html.Button("x", **aria(label="Close", pressed=False), **dataset(compare_row=3, open=True))
    assert json.loads(json.dumps(element, cls=PlotlyJSONEncoder))["props"] == {
        "children": "x",
        "aria-label": "Close",
        "aria-pressed": "false",
        "data-compare-row": 3,
        "data-open": "true",
    }
