"""The interface for programs, to be read: the list of operations, and one of them with all that it takes and answers.

Everything comes from the OpenAPI document; its texts are English, the words around them in the language of the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.i18n import t

Schema = Mapping[str, Any]

REFERENCE = "#/components/schemas/"
LONGEST_ENUM = 12
DEEPEST = 4


def operations_of(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Yield path, method and description of every operation."""
    for path, methods in document["paths"].items():
        for method, entry in methods.items():
            yield path, method, entry


def operation_list(document: Schema, chosen: str) -> html.Nav:
    """Return all operations by tag as links; the chosen one is marked."""
    groups = []
    for tag in document["tags"]:
        entries = [
            html.Li(
                dcc.Link(
                    [_method(method), html.Span(entry["summary"], className="api-summary")],
                    href=links.api_docs(entry["operationId"]),
                    className="api-link",
                    title=path,
                ),
                **(aria(current=True) if entry["operationId"] == chosen else {}),
            )
            for path, method, entry in operations_of(document)
            if entry["tags"][0] == tag["name"]
        ]
        groups += [
            html.H2(tag["name"], className="api-tag", title=tag["description"]),
            html.Ul(entries, className="api-links"),
        ]
    return html.Nav(groups, className="api-nav", **aria(label=t("api.operations")))


def overview(document: Schema, base: str) -> html.Section:
    """Return how to begin: address, key, a first request, what holds for all operations."""
    first = f"curl {base}/api/v1/documents \\\n  -H 'Authorization: Bearer evo_…'"
    return html.Section(
        [
            html.H2(t("api.begin"), className="section-title"),
            html.P(t("api.begin_text")),
            _code(first),
            *[html.P(_marked(part)) for part in document["info"]["description"].split("\n\n")],
            html.P(html.A(t("api.download"), href="/api/v1/openapi.json", className="btn btn-secondary")),
        ],
        className="card-plain api-detail",
    )


def operation_detail(document: Schema, path: str, method: str, entry: Schema, base: str) -> html.Section:
    """Return one operation: what it does, parameters, body, an example, answers, errors, and the schemas they name."""
    body = entry.get("requestBody")
    answers = {status: answer for status, answer in entry["responses"].items() if status < "400"}
    refusals = {status: answer for status, answer in entry["responses"].items() if status >= "400"}
    health = {
        status: answer for status, answer in refusals.items() if "application/problem+json" not in answer["content"]
    }
    answers |= health
    parts: list[Any] = [
        html.Div([_method(method), html.Code(path, className="api-path")], className="api-head"),
        html.H2(entry["summary"], className="section-title", id="api-operation"),
        *[html.P(_marked(part)) for part in entry["description"].split("\n\n")],
        html.P([t("api.role"), " ", html.Strong(t(f"api.role.{entry['x-role']}"))], className="muted"),
    ]
    if entry["parameters"]:
        parts += [_title("parameters"), _parameters(entry["parameters"])]
    if body:
        parts += [_title("body"), *_content(body["content"], document)]
    parts += [_title("example"), _code(example(document, path, method, entry, base)), _title("answers")]
    for status, answer in answers.items():
        parts += [
            html.P([html.Code(status), " ", answer["description"]]),
            *_content(answer.get("content", {}), document),
        ]
    rows = [
        html.Tr([html.Td(html.Code(status)), html.Td(_marked(answer["description"].removeprefix("Refused: ")))])
        for status, answer in refusals.items()
        if status not in health
    ]
    parts += [_title("errors"), html.Table(html.Tbody(rows), className="api-table")]
    named = _named(document, [body, answers])
    if named:
        parts += [_title("schemas"), *[_component(name, document) for name in named]]
    return html.Section(parts, className="card-plain api-detail", **aria(labelledby="api-operation"))


def example(document: Schema, path: str, method: str, entry: Schema, base: str) -> str:
    """Return a request by curl that the server would understand."""
    places = {each["name"]: _sample(each["schema"], document) for each in entry["parameters"] if each["in"] == "path"}
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    asked = [each for each in entry["parameters"] if each["in"] == "query" and each["required"]]
    query = "&".join(f"{each['name']}={quote(str(_sample(each['schema'], document)))}" for each in asked)
    lines = [f"curl {'' if method == 'get' else f'-X {method.upper()} '}'{base}{path}{f'?{query}' if query else ''}'"]
    lines.append("-H 'Authorization: Bearer evo_…'")
    lines += [
        f"-H '{each['name']}: {_sample(each['schema'], document)}'"
        for each in entry["parameters"]
        if each["in"] == "header" and each["required"]
    ]
    content = entry.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        sent = json.dumps(_sample(content["application/json"]["schema"], document), ensure_ascii=False)
        lines += ["-H 'Content-Type: application/json'", f"-d '{sent}'"]
    elif "multipart/form-data" in content:
        lines.append("-F file=@handbook.pdf")
    elif content:
        lines += [f"-H 'Content-Type: {next(iter(content))}'", "--data-binary @handbook.pdf"]
    return " \\\n  ".join(lines)


def _sample(schema: Schema, document: Schema, depth: int = 0) -> Any:
    """A value that a schema allows, short and telling."""
    if "$ref" in schema:
        return _sample(document["components"]["schemas"][schema["$ref"].removeprefix(REFERENCE)], document, depth + 1)
    for known in ("examples", "enum"):
        if schema.get(known):
            return schema[known][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" and depth < DEEPEST:
        fields = schema.get("properties", {})
        wanted = schema.get("required") or list(fields)[:1]
        return {name: _sample(fields[name], document, depth + 1) for name in wanted}
    if kind == "array":
        return [_sample(schema.get("items", {}), document, depth + 1)] if depth < DEEPEST else []
    plain = {"integer": max(1, schema.get("minimum", 1)), "number": 0.5, "boolean": True, "object": {}}
    return schema.get("default", plain.get(kind, "text"))


def _parameters(parameters: list[Schema]) -> html.Table:
    rows = [
        html.Tr(
            [
                html.Td([html.Code(each["name"]), _required(each["required"])]),
                html.Td(t(f"api.in.{each['in']}"), className="muted"),
                html.Td(
                    [*_type(each["schema"]), *_about({**each["schema"], "description": each.get("description", "")})]
                ),
            ]
        )
        for each in parameters
    ]
    return html.Table(html.Tbody(rows), className="api-table")


def _content(content: Schema, document: Schema) -> list[Any]:
    found: list[Any] = []
    for media, inner in content.items():
        schema = inner.get("schema", {})
        found.append(
            html.P([html.Code(media), " ", *(_type(schema) if "$ref" in schema else [])], className="api-media")
        )
        if schema.get("properties"):
            found.append(_fields(schema))
    return found


def _fields(schema: Schema) -> html.Table:
    required = schema.get("required", [])
    rows = [
        html.Tr([html.Td([html.Code(name), _required(name in required)]), html.Td([*_type(inner), *_about(inner)])])
        for name, inner in schema["properties"].items()
    ]
    return html.Table(html.Tbody(rows), className="api-table")


def _component(name: str, document: Schema) -> html.Section:
    schema = document["components"]["schemas"][name]
    parts: list[Any] = [html.H4(name, className="api-name")]
    parts += [html.P(_marked(part)) for part in schema.get("description", "").split("\n\n") if part]
    if "properties" in schema:
        parts.append(_fields(schema))
    elif "enum" in schema:
        parts.append(html.P([item for value in schema["enum"] for item in (html.Code(str(value)), " ")]))
    return html.Section(parts, id=f"schema-{name}", className="api-component")


def _type(schema: Schema) -> list[Any]:
    """What kind of value a schema describes; names of components are links to them."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        return [html.A(name, href=f"#schema-{name}")]
    if "anyOf" in schema:
        kinds = [_type(each) for each in schema["anyOf"]]
        return [item for place, kind in enumerate(kinds) for item in ([" | "] if place else []) + kind]
    if schema.get("type") == "array" and "items" in schema:
        return [t("api.list_of"), " ", *_type(schema["items"])]
    kind = schema.get("type", "const" if "const" in schema else "any")
    word = " | ".join(kind) if isinstance(kind, list) else kind
    return [html.Span(f"{word} · {schema['format']}" if "format" in schema else word, className="api-type")]


def _about(schema: Schema) -> list[Any]:
    """What else is said of a value: its words, its values, its limits."""
    said: list[Any] = []
    if schema.get("description"):
        said.append(html.Div(_marked(schema["description"])))
    if "enum" in schema and len(schema["enum"]) <= LONGEST_ENUM:
        said.append(html.Div([item for value in schema["enum"] for item in (html.Code(str(value)), " ")]))
    limits = [f"{word} {schema[key]:,}" for key, word in (("minimum", "≥"), ("maximum", "≤")) if key in schema]
    if "default" in schema:
        limits.append(f"{t('api.default')} {json.dumps(schema['default'], ensure_ascii=False)}")
    return [*said, html.Div(" · ".join(limits), className="muted")] if limits else said


def _named(document: Schema, shown: Any) -> list[str]:
    """The components that a description names, and those that these name, in that order."""
    found: dict[str, None] = {}

    def look(value: Any) -> None:
        if isinstance(value, Mapping):
            name = str(value.get("$ref", "")).removeprefix(REFERENCE)
            if name and name not in found:
                found[name] = None
                look(document["components"]["schemas"][name])
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(shown)
    return list(found)


def _marked(text: str) -> list[Any]:
    """A text whose parts in backticks are code."""
    return [html.Code(part) if place % 2 else part for place, part in enumerate(re.split(r"`([^`]+)`", text)) if part]


def _method(method: str) -> html.Span:
    return html.Span(method.upper(), className=f"api-method api-{method}")


def _required(is_required: bool) -> html.Span | None:
    return html.Span(t("api.required"), className="api-required") if is_required else None


def _title(name: str) -> html.H3:
    return html.H3(t(f"api.{name}"), className="api-title")


def _code(text: str) -> html.Pre:
    return html.Pre(html.Code(text), className="api-code", tabIndex=0)
