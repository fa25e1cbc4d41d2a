"""Where things are: every address that one page gives to another is built here."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

HOME = "/"
UPLOAD = "/upload"
DOCUMENTS = "/documents"
ASK = "/ask"
HISTORY = "/history"
JOBS = "/jobs"
AUDIT = "/audit"
COMPARE = "/compare"


def document(doc_key: str, *, version: int | None = None, chunk: int | None = None) -> str:
    """Return the address of a document's page; ``chunk`` is the position of the chunk to show highlighted."""
    state = {"version": version, "chunk": chunk}
    return f"{DOCUMENTS}/{quote(doc_key, safe='')}" + _search(state)


def ask(question: str | None = None, *, trace: str | None = None) -> str:
    """Return the address that asks ``question``, or that shows the kept ``trace`` again."""
    return ASK + _search({"q": question, "trace": trace})


def ask_as_of(sequence: int) -> str:
    """Return the address that asks of what was shown from the publication ``sequence`` on."""
    return ASK + _search({"asof": sequence})


def audit(doc_key: str | None = None, action: str | None = None) -> str:
    """Return the address of the list of publications, of one document or of one action where given."""
    return AUDIT + _search({"doc": doc_key, "action": action})


def audit_export(kind: str, doc_key: str | None = None, action: str | None = None) -> str:
    """Return the address of the whole list as a download of ``kind`` (``csv`` or ``json``)."""
    return f"/api/v1/audit.{kind}" + _search({"doc": doc_key, "action": action})


def compare(
    doc_key: str | None = None,
    old: int | None = None,
    new: int | None = None,
    *,
    other: str | None = None,
    **state: object,
) -> str:
    """Return the address that compares two versions; ``other`` is the document of ``new`` where it is another one.

    ``state`` is how they are shown: ``mode``, ``folded``, ``view``, ``row``, ``find``.
    """
    return COMPARE + _search({"doc": doc_key, "old": old, "new": new, "other": other, **state})


def comparison(form: str, doc_key: str, old: int, new: int, other: str | None = None) -> str:
    """Return the address of a comparison as a download; ``form`` is ``html``, ``patch`` or ``json``."""
    pair = {"doc": doc_key, "old": old, "new": new, "other": other}
    return f"/api/v1/compare.{form}" + _search(pair)


def image(doc_key: str, version: int, number: int) -> str:
    """Return the address of an image of a version, as PNG."""
    return f"/api/v1/documents/{quote(doc_key, safe='')}/versions/{version}/images/{number}"


def original(doc_key: str, version: int) -> str:
    """Return the address of the bytes that were uploaded as ``version``."""
    return f"/api/v1/documents/{quote(doc_key, safe='')}/versions/{version}/original"


def trace_json(trace_id: str) -> str:
    """Return the address of a trace as a JSON download."""
    return f"/api/v1/traces/{quote(trace_id, safe='')}.json"


def _search(state: Mapping[str, object]) -> str:
    given = {name: value for name, value in state.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
