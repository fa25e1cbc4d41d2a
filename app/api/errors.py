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
    421: "forbidden",
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


def answer_errors(blueprint: flask.Blueprint) -> None:
    """Turn everything that the routes of ``blueprint`` raise into a problem."""

    @blueprint.errorhandler(EvoRAGError)
    def known(error: EvoRAGError) -> flask.Response:
        return problem(error_words(error), error.status)

    @blueprint.errorhandler(HTTPException)
    def refused(error: HTTPException) -> flask.Response:
        status = error.code or 500
        code = CODES.get(status, "error")
        return problem(error_words({"code": code, "message": error.description or ""}), status)

    @blueprint.errorhandler(Exception)
    def unknown(error: Exception) -> flask.Response:
        return problem(error_words(unknown_error(error)), 500)
