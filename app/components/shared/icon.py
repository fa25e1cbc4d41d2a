"""Icons of the vendored Bootstrap Icons subset, drawn in the colour of the text beside them."""

from __future__ import annotations

from dash import html

from app.components.attributes import aria
from core.model.file_types import ARCHIVES, KIND_OF

_KIND_ICONS = {
    "pdf": "file-earmark-pdf",
    "word": "file-earmark-word",
    "sheet": "file-earmark-excel",
    "slides": "file-earmark-slides",
    "web": "file-earmark-code",
    "markdown": "filetype-md",
    "mail": "send",
    "book": "journal-text",
    "data": "file-earmark-code",
    "code": "file-earmark-code",
}
FILE_ICONS = {
    **{extension: _KIND_ICONS.get(kind, "file-earmark-text") for extension, kind in KIND_OF.items()},
    "csv": "filetype-csv",
    "txt": "filetype-txt",
    **dict.fromkeys((ending.rpartition(".")[2] for ending in ARCHIVES), "file-earmark-zip"),
}
"""The icon of each file type; scripts read them from ``data-file-icons``."""


def icon(name: str, extra_class: str = "") -> html.Span:
    """Return an icon that screen readers pass over; the word beside it carries the meaning."""
    return html.Span(className=f"icon icon-{name} {extra_class}".rstrip(), **aria(hidden=True))


def file_icon(extension: str) -> html.Span:
    """Return the icon of a file type."""
    return icon(FILE_ICONS.get(extension.lower().lstrip("."), "file-earmark-text"), "file-icon")
