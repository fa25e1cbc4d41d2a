"""Errors as ``application/problem+json`` (RFC 9457) with our code and remedy, and never a stack trace."""

from __future__ import annotations

import flask
from dash.exceptions import CallbackException
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from app.api.description.describe import operation_of
from app.components.shared.states import error_words, one_text, unknown_error
from app.entrance_page import entrance_page, error_said
from app.i18n import t
from app.security.public_paths import safe_path
from app.security.refusals import refusals_of
from core.errors import DiskFull, EvoRAGError, is_for_want_of_room

CODES = {
    400: "invalid_input",
    401: "unauthorized",
    403: "cross_site",
    404: "not_found",
    405: "method_not_allowed",
    408: "invalid_input",
    411: "invalid_input",
    412: "invalid_input",
    413: "too_large",
    414: "invalid_input",
    415: "invalid_input",
    416: "invalid_input",
    421: "cross_site",
    422: "invalid_input",
    429: "rate_limited",
    431: "invalid_input",
    503: "busy",
}
UNKNOWN_ADDRESS = "unknown_address"
KEPT_HEADERS = ("Allow", "Content-Range", "Retry-After", "WWW-Authenticate")
ADDRESSES = ("/api/", "/health")
AGAIN = Markup('<p><a class="btn btn-primary entrance-button" href="{}">{}</a></p>')


def problem(words: dict[str, str], status: int, **more: str) -> flask.Response:
    """Return an error as the body of an answer."""
    response = flask.jsonify(
        type="about:blank",
        title=words["title"],
        status=status,
        detail=words["detail"],
        code=words["code"],
        remedy=words["remedy"],
        **more,
    )
    response.status_code = status
    response.mimetype = "application/problem+json"
    return response


def answer_errors(server: flask.Flask) -> None:
    """Turn what routes raise, and what guards refuse, into problems; a window gets a page, a file a line of text."""

    @server.errorhandler(EvoRAGError)
    def known(error: EvoRAGError) -> flask.Response:
        return _answer(error_words(error), error.status)

    @server.errorhandler(HTTPException)
    def refused(error: HTTPException) -> flask.typing.ResponseReturnValue:
        status = error.code or 500
        if status < 400:
            return error.get_response()
        words = error_words({"code": CODES.get(status, "error"), "message": error.description or ""})
        response = _answer(words, status)
        for name, value in error.get_headers():
            if name in KEPT_HEADERS:
                response.headers[name] = value
        return response

    @server.errorhandler(Exception)
    def unknown(error: Exception) -> flask.Response:
        if type(error) is CallbackException:
            # What the caller wants written is not what the callback writes; Dash's own errors have kinds below this.
            return _answer(error_words({"code": CODES[400], "message": "No page asks this."}), 400)
        if is_for_want_of_room(error):
            full = DiskFull("There is no room on the disk of the data folder.")
            return _answer(error_words(full), full.status)
        return _answer(error_words(unknown_error(error)), 500)


def _answer(words: dict[str, str], status: int) -> flask.Response:
    refusals_of(flask.current_app).note(status, words["code"])
    if _is_for_programs():
        return problem(words, status)
    if flask.request.method == "GET" and "text/html" in flask.request.accept_mimetypes.values():
        return flask.Response(_page(words), status, mimetype="text/html")
    line = " ".join(words[part] for part in ("title", "detail", "remedy") if words[part])
    return flask.Response(f"{line}\n", status, mimetype="text/plain")


def _page(words: dict[str, str]) -> str:
    here = safe_path(flask.request.full_path.removesuffix("?"))
    said = error_said(one_text(words["detail"], words["remedy"]))
    return entrance_page(words["title"], AGAIN.format(here, t("state.again")), here, said=said)


def _is_for_programs() -> bool:
    """Tell whether the present request came for the interface, by its address or by what its route says of itself."""
    request = flask.request
    if request.path == "/api" or request.path.startswith(ADDRESSES) or flask.g.get("evorag_for_programs"):
        return True
    view = flask.current_app.view_functions.get(request.endpoint or "")
    return operation_of(view) is not None
