"""Reads what a page drew, and presses its buttons as the browser would: through the callbacks of the application."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import dash
from dash import Dash
from dash.development.base_component import Component
from flask.testing import FlaskClient


def parts(drawn: Any, kind: type | None = None) -> Iterator[Component]:
    """Every component below ``drawn``, itself included, in reading order."""
    if isinstance(drawn, list | tuple):
        for below in drawn:
            yield from parts(below, kind)
    elif isinstance(drawn, Component):
        if kind is None or isinstance(drawn, kind):
            yield drawn
        yield from parts(getattr(drawn, "children", None), kind)


def text(drawn: Any) -> str:
    """All text below ``drawn``, in reading order."""
    if isinstance(drawn, list | tuple):
        return " ".join(text(below) for below in drawn)
    if isinstance(drawn, Component):
        return text(getattr(drawn, "children", None))
    return "" if drawn is None else str(drawn)


def by_class(drawn: Any, name: str) -> list[Component]:
    return [part for part in parts(drawn) if name in str(getattr(part, "className", "")).split()]


def by_id(drawn: Any, component_id: Any) -> Component:
    return next(part for part in parts(drawn) if getattr(part, "id", None) == component_id)


def open_page(window: Dash, address: str, lang: str = "en") -> Component:
    """What the page at ``address`` draws, its query parameters read as Dash Pages reads them."""
    where = urlsplit(address)
    values: dict[str, Any] = {}
    for name, value in parse_qsl(where.query):
        values[name] = [*values[name], value] if isinstance(values.get(name), list) else value
    folder, _, name = where.path.rpartition("/")
    page = next(page for page in dash.page_registry.values() if where.path == page["path"] or _holds(page, folder))
    if page["path_template"]:
        values["doc_key"] = name
    with window.server.test_request_context(headers={"Accept-Language": lang}):
        return page["layout"](**values)


def _holds(page: Any, folder: str) -> bool:
    return bool(folder) and page["path_template"] == f"{folder}/<doc_key>"


def press(window: Dash, client: FlaskClient, changed: str, values: dict[str, Any], output: str = "") -> dict[str, Any]:
    """Send the change of ``changed`` (``id.property``) with ``values`` of the page, and return what comes back.

    ``output`` names one output of the wanted callback where several listen to the change.
    """
    spec = _only(
        spec
        for spec in client.get("/_dash-dependencies").get_json()
        if any(_name(each) == changed for each in spec["inputs"]) and output in spec["output"]
    )
    inputs = [{**each, "value": values.get(_name(each))} for each in spec["inputs"]]
    return _send(client, spec, inputs, values, changed)


def press_one_of(client: FlaskClient, button: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Click the button whose id is the mapping ``button``, as the only one of its type on the page."""
    spec = _only(
        spec
        for spec in client.get("/_dash-dependencies").get_json()
        if any(f'"type":"{button["type"]}"' in each["id"] for each in spec["inputs"])
    )
    inputs = [[{"id": button, "property": "n_clicks", "value": 1}]]
    name = json.dumps(button, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _send(client, spec, inputs, values, f"{name}.n_clicks")


def _send(
    client: FlaskClient, spec: dict[str, Any], inputs: list[Any], values: dict[str, Any], changed: str
) -> dict[str, Any]:
    body = {
        "output": spec["output"],
        "outputs": _outputs(spec["output"]),
        "inputs": inputs,
        "state": [{**each, "value": values.get(_name(each))} for each in spec["state"]],
        "changedPropIds": [changed],
    }
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code in (200, 204), answer.text
    return answer.get_json() if answer.status_code == 200 else {}


def _only(specs: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """The one server callback among ``specs``; each application of a test run lists it once more."""
    found = {spec["output"]: spec for spec in specs if spec["clientside_function"] is None}
    assert len(found) == 1, list(found)
    return next(iter(found.values()))


def _name(each: dict[str, Any]) -> str:
    return f"{each['id']}.{each['property']}"


def _outputs(output: str) -> Any:
    """The outputs that the name of a callback lists; one that only sets properties lists none."""
    names = [name for name in output.strip(".").split("...") if "." in name]
    outputs = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
    return outputs if output.startswith("..") or not outputs else outputs[0]
