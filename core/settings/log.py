"""The lines of the log, as text or as JSON; of an error its place and its kind, never what it was raised for."""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import TypeAlias

from core.errors import EvoRAGError

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class DiscreetFormatter(logging.Formatter):
    """Writes errors without their messages: these repeat what callers have sent, and what documents say.

    Moments are those of UTC, in the form of RFC 3339, so that lines of several hosts can be laid side by side.
    """

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Return the moment of a line."""
        moment = datetime.fromtimestamp(record.created, UTC)
        return moment.strftime(datefmt) if datefmt else f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; what another formatter has made of the error is neither taken nor left."""
        told, record.exc_text = record.exc_text, None
        try:
            return super().format(record)
        finally:
            record.exc_text = told

    def formatException(self, ei: ExcInfo) -> str:
        """Return the frames and kinds of an error and of those that led to it."""
        return "".join(_told(ei[1], set())).rstrip("\n") if ei[1] is not None else ""


class JsonFormatter(DiscreetFormatter):
    """Writes a line as one JSON object: ``time``, ``level``, ``logger``, ``message``, and ``error`` where there is."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; it says what the line of text says."""
        told = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = self.formatException(record.exc_info)
        if record.stack_info:
            told["stack"] = record.stack_info
        return json.dumps(told)


def formatter_of(log_format: str) -> DiscreetFormatter:
    """Return what writes the lines of a format, ``text`` or ``json``."""
    return JsonFormatter() if log_format == "json" else DiscreetFormatter(LOG_FORMAT)


def begin_log(log_format: str = "text") -> None:
    """Write what is a warning or worse to stderr, and no value of a caller with it."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter_of(log_format))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    if log_format == "json":
        # Python writes its own warnings over several lines.
        logging.captureWarnings(True)


def kind_of(error: BaseException) -> str:
    """Return what may be said of an error: its kind, with the code or the words of the system where it has them."""
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    if isinstance(error, EvoRAGError):
        return f"{kind}: {error.code}"
    if isinstance(error, OSError):
        return f"{kind}: {error.strerror or error.errno or ''}"
    if isinstance(error, sqlite3.Error):
        # SQLite names tables and columns, which are ours, and no values.
        return f"{kind}: {error}"
    return kind


def _told(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _told(before, seen)
        yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{kind_of(error)}\n"
