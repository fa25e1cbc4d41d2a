"""Icons of the vendored Bootstrap Icons subset, drawn in the colour of the text beside them."""

from __future__ import annotations

from dash import html

from app.components.attributes import aria

FILE_ICONS = {
    "pdf": "file-earmark-pdf",
    "doc": "file-earmark-word",
    "docx": "file-earmark-word",
    "xls": "file-earmark-excel",
    "xlsx": "file-earmark-excel",
    "csv": "filetype-csv",
    "ppt": "file-earmark-slides",
    "pptx": "file-earmark-slides",
    "html": "file-earmark-code",
    "htm": "file-earmark-code",
    "md": "filetype-md",
    "markdown": "filetype-md",
    "txt": "filetype-txt",
}


def icon(name: str, extra_class: str = "") -> html.Span:
    """Return an icon that screen readers pass over; the word beside it carries the meaning."""
    return html.Span(className=f"icon icon-{name} {extra_class}".rstrip(), **aria(hidden=True))


def file_icon(extension: str) -> html.Span:
    """Return the icon of a file type."""
    return icon(FILE_ICONS.get(extension.lower().lstrip("."), "file-earmark-text"), "file-icon")
