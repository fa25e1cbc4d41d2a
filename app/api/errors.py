"""Errors as ``application/problem+json`` (RFC 9457) with our code and remedy, and never a stack trace."""

from __future__ import annotations

import flask
from werkzeug.exceptions import HTTPException

from app.components.states import error_words, unknown_error
from core.errors import EvoRAGError

CODES = {
    400: "invalid_input",
    403: "forbidden",
    404: "not_found",
    405: "invalid_input",
    413: "too_large",
    415: "invalid_input",
    421: "forbidden",
    503: "busy",
}


def problem(words: dict[str, str], status: int) -> flask.Response:
    """Return an error as the body of an answer."""
    response = flask.jsonify(
        type="about:blank",
        title=words["title"],
        status=status,
        detail=words["detail"],
        code=words["code"],
        remedy=words["remedy"],
    )
    response.status_code = status
    response.mimetype = "application/problem+json"
    return response


def answer_errors(server: flask.Flask) -> None:
    """Turn what the routes raise, and what the guards refuse, into problems; pages get a line of text instead."""

    @server.errorhandler(EvoRAGError)
    def known(error: EvoRAGError) -> flask.Response:
        return _answer(error_words(error), error.status)

    @server.errorhandler(HTTPException)
    def refused(error: HTTPException) -> flask.typing.ResponseReturnValue:
        status = error.code or 500
        if status < 400:
            return error.get_response()
        return _answer(error_words({"code": CODES.get(status, "error"), "message": error.description or ""}), status)

    @server.errorhandler(Exception)
    def unknown(error: Exception) -> flask.Response:
        return _answer(error_words(unknown_error(error)), 500)


def _answer(words: dict[str, str], status: int) -> flask.Response:
    if flask.request.path.startswith(("/api/", "/health")):
        return problem(words, status)
    line = " ".join(words[part] for part in ("title", "detail", "remedy") if words[part])
    return flask.Response(f"{line}\n", status, mimetype="text/plain")
