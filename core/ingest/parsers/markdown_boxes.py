"""What site generators add to Markdown: boxes with a title, tabs and tags of templates.

``!!! note "Title"`` and ``=== "Tab"`` have their content indented (Python-Markdown, Material for MkDocs), ``::: tip``
has it between marks (Docusaurus, VuePress); read as plain Markdown the first is code, and the marks are text.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin

_TAB = re.compile(r'([ \t]*)===[+!]? +"(.*)"[ \t]*$')
_ALERT = re.compile(r"([ \t]*>[ \t]*)\[!\w+\][ \t]*$")
_TAG_ALONE = re.compile(r"[ \t]*(?:\{%.*%\}|\{\{[%<].*[%>]\}\})[ \t]*$")
_TAG_IN_TARGET = re.compile(r"""\]\(\{%-?\s*\w+\s+["']?([^"'%\s]*)["']?[^%]*%\}|\]\(\{\{[^}]*\}\}""")
_ANCHOR = re.compile(r"(#{1,6} .*?)[ \t]*\{#[\w-]+\}[ \t]*$")
_NAMED = re.compile(r"""\{.*?\b(?:label|title|summary)\s*=\s*["'](.*?)["'].*?\}|\[(.*)\]""")
_ATTRIBUTES = re.compile(r"\{.*?\}")


def add_boxes(markdown: MarkdownIt) -> MarkdownIt:
    """Have a reader of Markdown take boxes for what they are."""
    markdown.use(admon_plugin)
    return markdown.use(container_plugin, name="box", validate=lambda params, _: bool(params.strip()))


def without_templates(line: str) -> str:
    """Return a line of Markdown, outside code, as it is without the marks that only a generator of sites knows."""
    if "{" in line:
        line = _TAG_IN_TARGET.sub(lambda match: f"]({match[1] or ''}", line)
        return "\n" if _TAG_ALONE.match(line.rstrip("\n")) else _ANCHOR.sub(r"\1", line)
    if "===" in line:
        return _TAB.sub(r'\1!!! tab "\2"', line)
    return _ALERT.sub(r"\1", line) if "[!" in line else line


def is_box(token: Token) -> bool:
    return token.type.startswith(("admonition_", "container_box_"))


def title_of(token: Token) -> str:
    """Return the title that was written for a box which opens here; the name of its kind is none."""
    if token.type == "admonition_open":
        return "" if token.content.casefold() == token.meta["tag"] else token.content
    named = _NAMED.search(token.info)
    if named:
        return (named[1] or named[2] or "").strip()
    return _ATTRIBUTES.sub("", token.info).strip().partition(" ")[2].strip()
