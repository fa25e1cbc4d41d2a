"""Where things are: every address that one page gives to another is built here."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

HOME = "/"
UPLOAD = "/upload"
DOCUMENTS = "/documents"
ASK = "/ask"
CONVERSATIONS = "/conversations"
HISTORY = "/history"
JOBS = "/jobs"
AUDIT = "/audit"
ACCESS = "/access"
OWN_DATA = "/api/v1/me/data/export"
SETTINGS = "/settings"
STORES = "/stores"
SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
SET_UP = "/second-factor"
COMPARE = "/compare"
EVALUATE = "/evaluate"
ANALYSER = "/analyser"
API_DOCS = "/api-docs"
NEURONS = "/neurons"


def document(doc_key: str, *, version: int | None = None, chunk: int | None = None) -> str:
    """Return the address of a document's page; ``chunk`` is the position of the chunk to show highlighted."""
    state = {"version": version, "chunk": chunk}
    return f"{DOCUMENTS}/{quote(doc_key, safe='')}" + _search(state)


def api_docs(operation: str | None = None) -> str:
    """Return the address of the description of the interface, or of one operation in it."""
    return API_DOCS + _search({"op": operation})


def ask(question: str | None = None, *, trace: str | None = None, conversation: str | None = None) -> str:
    """Return the address that asks ``question``, shows the kept ``trace`` again, or opens a conversation."""
    return ASK + _search({"q": question, "trace": trace, "conversation": conversation})


def conversation_export(conversation_id: str, form: str) -> str:
    """Return the address of a conversation as a download; ``form`` is ``md`` or ``json``."""
    return f"/api/v1/conversations/{quote(conversation_id, safe='')}/export" + _search({"form": form})


def ask_as_of(sequence: int) -> str:
    """Return the address that asks of what was shown from the publication ``sequence`` on."""
    return ASK + _search({"asof": sequence})


def evaluate(set_id: str | None = None, **state: object) -> str:
    """Return the address of a question set, or of what ``state`` names.

    ``run``; ``old`` and ``new``, two runs; ``doc`` and ``version``, a draft; ``make``, a form for a new set.
    """
    return EVALUATE + _search({"set": set_id, **state})


def question_set(set_id: str, form: str) -> str:
    """Return the address of a question set as a download; ``form`` is ``csv`` or ``jsonl``."""
    return f"/api/v1/question-sets/{quote(set_id, safe='')}/export" + _search({"form": form})


def analyser(text: str | None = None, *, saved: bool = False) -> str:
    """Return the address that shows what the analyser makes of ``text``; ``saved`` goes by the words as saved last."""
    return ANALYSER + _search({"text": text, "saved": 1 if saved else None})


def sign_in(after: str | None = None, *, again: bool = False) -> str:
    """Return the address of the sign-in page, which goes on to ``after``, for a known user only with ``again``."""
    return SIGN_IN + _search({"next": after if after != HOME else None, "again": 1 if again else None})


def set_up(after: str | None = None) -> str:
    """Return the address of the page that sets up a second factor which is demanded, and goes on to ``after``."""
    return SET_UP + _search({"next": after if after != HOME else None})


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


def neurons(recording_id: str | None = None) -> str:
    """Return the address that shows a recording, or the newest one."""
    return NEURONS + _search({"recording": recording_id})


def recording_file(recording_id: str) -> str:
    """Return the address of a recording as the file that it is kept in."""
    return f"/api/v1/recordings/{quote(recording_id, safe='')}/file"


def recording_export(recording_id: str, form: str) -> str:
    """Return the address of a recording's spikes as a download; ``form`` is ``csv``, ``neo`` or ``nwb``."""
    return f"/api/v1/recordings/{quote(recording_id, safe='')}/export" + _search({"form": form})


def trace_json(trace_id: str) -> str:
    """Return the address of a trace as a JSON download."""
    return f"/api/v1/traces/{quote(trace_id, safe='')}.json"


def _search(state: Mapping[str, object]) -> str:
    given = {name: value for name, value in state.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
