"""The log of gunicorn itself, in the form of all other lines where that is JSON."""

from __future__ import annotations

import logging

from gunicorn.glogging import Logger

from core.settings import formatter_of


class JsonLogger(Logger):  # type: ignore[misc]
    """Writes what gunicorn warns of as JSON, its errors without their messages."""

    def _set_handler(
        self, log: logging.Logger, output: str, fmt: logging.Formatter, stream: object | None = None
    ) -> None:
        super()._set_handler(log, output, formatter_of("json"), stream)


def logger_of(log_format: str) -> type[Logger]:
    """Return the class by which gunicorn writes its log."""
    return JsonLogger if log_format == "json" else Logger
