"""Every callback of the pages is called by another editor with what is ann's, in each place that takes a value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import flask
import pytest

from tests.integration.test_attacks import SECRET, Town, told
from tests.integration.test_attacks import town as _town

town = _town
PRESSED = ("n_clicks", "n_submit", "n_intervals", "n_blur")
ADDRESS = "_pages_location"


def values(town: Town) -> dict[str, Any]:
    """What ann's things are called wherever a page may name them."""
    key = f"~ann/{SECRET}.pdf"
    told: dict[str, Any] = {
        name: town.paths[name] for name in ("job", "conversation", "trace", "recording", "set", "run", "saved")
    }
    return {
        **told,
        "key": key,
        "keys": [key],
        "page": f"/documents/{key}",
        "versions": f"?doc={key}&old=1&new=1&version=1&job={told['job']}",
        "conversations": f"?conversation={told['conversation']}&trace={told['trace']}&recording={told['recording']}",
        "sets": f"?set={told['set']}&run={told['run']}&saved={told['saved']}",
        "chosen": {"doc_key": key, "version": 1, "id": told["trace"], "conversation": told["conversation"]},
        "rows": [{"doc_key": key, "key": key, "id": told["job"]}],
    }


def server_of(town: Town) -> flask.Flask:
    found: flask.Flask = town.client.application
    return found


def callbacks(town: Town) -> Iterator[tuple[str, dict[str, Any]]]:
    for spec in town.client.get(
        "/_dash-dependencies", headers={"Authorization": f"Bearer {town.keys['root']}"}
    ).get_json():
        if spec["clientside_function"] is None:
            yield spec["output"], spec


def given(each: dict[str, Any], value: Any) -> Any:
    """Give a property a value, and where its id is a pattern, that of a component that is named by the value."""
    found = 1 if each["property"] in PRESSED else value
    if each["id"] == ADDRESS:
        text = value if isinstance(value, str) else ""
        is_path = each["property"] == "pathname"
        return {**each, "value": text if text.startswith("/" if is_path else "?") else "/" if is_path else ""}
    if not each["id"].startswith("{"):
        return {**each, "value": found}
    pattern = json.loads(each["id"])
    named = {name: value if isinstance(part, list) else part for name, part in pattern.items()}
    one = {"id": named, "property": each["property"], "value": found}
    return [one] if ["ALL"] in pattern.values() else one


def outputs(output: str) -> Any:
    names = [name for name in output.strip(".").split("...") if "." in name]
    made = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
    made = [{**each, "property": each["property"].partition("@")[0]} for each in made]
    return made if output.startswith("..") or not made else made[0]


def changed(spec: dict[str, Any], value: Any) -> list[str]:
    first = spec["inputs"][0]
    if not first["id"].startswith("{"):
        return [f"{first['id']}.{first['property']}"]
    named = {name: value if isinstance(part, list) else part for name, part in json.loads(first["id"]).items()}
    return [f"{json.dumps(named, sort_keys=True, separators=(',', ':'))}.{first['property']}"]


def hidden(town: Town, text: str) -> str:
    """Leave out what the caller has sent, which may come back as it was."""
    for name in (f"~ann/{SECRET}.pdf", f"~ann%2f{SECRET}.pdf", f"{SECRET}.pdf"):
        text = text.replace(name, "…")
    return text


def state_of(town: Town) -> list[str]:
    """What ann sees of all that is hers."""
    paths = ("{doc}", "/jobs/{job}", "/conversations/{conversation}", "/recordings/{recording}", "/question-sets/{set}")
    lists = ("/conversations", "/recordings", "/question-sets")
    return [told(town.ask("ann", "GET", path)) for path in (*paths, *lists)]


@pytest.mark.long
def test_no_callback_tells_another_editor_or_lets_them_change_what_is_anns(town: Town) -> None:
    before = state_of(town)
    headers = {"Authorization": f"Bearer {town.keys['bob']}"}
    answered, leaks, broken = 0, [], []
    for output, spec in callbacks(town):
        for name, value in values(town).items():
            body = {
                "output": output,
                "outputs": outputs(output),
                "inputs": [given(each, value) for each in spec["inputs"]],
                "state": [given(each, value) for each in spec["state"]],
                "changedPropIds": changed(spec, value),
            }
            answer = town.client.post("/_dash-update-component", json=body, headers=headers)
            broken += [(output, name)] * (answer.status_code >= 500)
            answered += answer.status_code in (200, 204)
            text = hidden(town, told(answer))
            # A word that was sent may come back by itself, as from the analyser.
            signs = [sign for sign in (SECRET, "cloves", "pemba") if sign not in json.dumps(value)]
            leaks += [(output, name, sign) for sign in signs if sign in text]
    assert (leaks, broken) == ([], [])
    assert answered > 300
    assert state_of(town) == before
