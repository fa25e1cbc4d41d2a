"""Routes of pages as they look: their sizes, pictures, the places of their text, and where something stands."""

from __future__ import annotations

from functools import partial

import flask

from app.api.description.describe import obj, operation, whole, words
from app.api.description.reading import arguments, path_number
from app.context import kb
from core.errors import ParserLimit, Purged, UnreadableDocument
from core.model import PageSize, PageText, to_dict

pages = flask.Blueprint("pages", __name__, url_prefix="/api/v1/documents/<doc_key:doc_key>/versions/<number>")

_page = partial(operation, tag="versions")
REFUSALS = (Purged, UnreadableDocument, ParserLimit)
WIDEST = 2400
OFFSET = partial(whole, low=0, high=2**63 - 1)


@pages.get("/has-pages")
@_page("Whether a version has pages", answers={200: obj(has_pages=bool)}, errors=(Purged,))
def tell_pages(doc_key: str, number: str) -> flask.Response:
    """Tell whether a version can be shown as pages here; office files can where LibreOffice is installed."""
    return flask.jsonify(has_pages=kb().has_pages(doc_key, path_number(number)))


@pages.get("/pages")
@_page("Pages of a version", answers={200: obj(pages=[PageSize])}, errors=REFUSALS)
def list_pages(doc_key: str, number: str) -> flask.Response:
    """Answer the sizes of the pages of a PDF or picture, or of what LibreOffice lays out, which takes a while once."""
    return flask.jsonify(pages=[to_dict(size) for size in kb().pages(doc_key, path_number(number))])


@pages.get("/pages/find")
@_page(
    "Pages that hold a text",
    query={"text": words("Literal text; blanks and hyphens do not count.", most=1_000, required=True)},
    answers={200: obj(pages=[int])},
    errors=REFUSALS,
)
def find_on_pages(doc_key: str, number: str) -> flask.Response:
    """Answer the numbers of the pages that hold the text, at most 500."""
    return flask.jsonify(pages=kb().find_on_pages(doc_key, path_number(number), arguments()["text"]))


@pages.get("/pages/<page>")
@_page(
    "A page as a picture",
    query={"width": whole("At least so many pixels wide.", low=1, high=WIDEST)},
    answers={200: "image/webp", 206: "image/webp", 304: None},
    answer_headers={"ETag": ""},
    errors=REFUSALS,
)
def show_page(doc_key: str, number: str, page: str) -> flask.Response:
    """Send a page as it looks; whatever is in the document, the browser is told that it is a WebP picture."""
    width = arguments()["width"] or 1200
    path = kb().page_image(doc_key, path_number(number), path_number(page, "page"), width=width)
    return flask.send_file(path.resolve(), mimetype="image/webp", conditional=True)


@pages.get("/pages/<page>/text")
@_page(
    "Where the text of a page stands",
    query={
        "start": OFFSET("Mark the passage from this character of the parsed text on."),
        "end": OFFSET("Up to, not including, this one."),
        "reading": whole("The reading in which they count; by default the one in use.", low=1),
    },
    answers={200: PageText},
    errors=REFUSALS,
)
def show_page_text(doc_key: str, number: str, page: str) -> flask.Response:
    """Answer the words of a page with their places, and the areas that a passage covers."""
    given = arguments()
    span = {name: given[name] for name in ("start", "end", "reading")}
    found = kb().page_text(doc_key, path_number(number), path_number(page, "page"), **span)
    return flask.jsonify(to_dict(found))
