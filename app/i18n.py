"""Texts in the language of the present request.

The language is the cookie ``evorag_lang`` (set by the switch in the header), else the best of ``Accept-Language``, else
English. Layouts and callbacks both run inside a request, so ``t("area.key")`` is all that a page needs. An address with
``?lang=ja`` sets the cookie and is answered by a redirect to itself without it, so links in a language can be shared.

A message is a template for ``str.format``; values are formatted for the language: whole numbers get their group signs
and moments become dates. A message that depends on a number is an object ``{"one": …, "other": …}`` chosen by the
value ``count``; Japanese has only ``other``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import flask

from core.model import zone_named

LANGUAGES = {"en": "English", "ja": "日本語"}
COOKIE = "evorag_lang"
ZONE_COOKIE = "evorag_zone"
YEAR_S = 365 * 24 * 3600
FOLDER = Path(__file__).parent / "locales"

Message = str | dict[str, str]


@cache
def messages(lang: str) -> dict[str, Message]:
    """Return every message of a language."""
    loaded: dict[str, Message] = json.loads((FOLDER / f"{lang}.json").read_text(encoding="utf-8"))
    return loaded


def language() -> str:
    """Return the language of the present request, or English outside of one."""
    if not flask.has_request_context():
        return "en"
    chosen = flask.request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    return flask.request.accept_languages.best_match(list(LANGUAGES)) or "en"


def reader_zone() -> str:
    """Return the name of the browser's time zone, which every page keeps in a cookie; empty where it is not known."""
    given = flask.request.cookies.get(ZONE_COOKIE, "")
    return given if zone_named(given) is not None else ""


def register(server: flask.Flask) -> None:
    """Answer addresses with ``?lang=`` by setting the cookie and going to the same address without it."""

    def choose() -> flask.typing.ResponseReturnValue | None:
        chosen = flask.request.args.get("lang", "")
        if (
            flask.request.method != "GET"
            or chosen not in LANGUAGES
            or flask.request.path.startswith(("/api/", "/_dash"))
        ):
            return None
        rest = [(name, value) for name, value in flask.request.args.items(multi=True) if name != "lang"]
        path = quote("/" + flask.request.path.lstrip("/"))
        response = flask.redirect(f"{path}?{urlencode(rest)}" if rest else path)
        response.set_cookie(COOKIE, chosen, max_age=YEAR_S, samesite="Lax", path="/")
        return response

    server.before_request(choose)


def has(key: str) -> bool:
    """Say whether a message exists."""
    return key in messages("en")


def t(key: str, lang: str | None = None, /, **values: Any) -> str:
    """Return the message ``key``, with ``values`` filled in as the language writes them.

    Raises: ``KeyError`` for a key that no locale has; a test keeps the locales complete.
    """
    lang = lang or language()
    message = messages(lang)[key]
    if isinstance(message, dict):
        form = "one" if lang == "en" and values.get("count") == 1 else "other"
        message = message[form]
    return message.format(**{name: _written(value, lang) for name, value in values.items()}) if values else message


def number(value: int | float, lang: str | None = None, digits: int = 0) -> str:
    """Return a number with group signs; both languages write 12,345.6."""
    return f"{value:,.{digits}f}"


def size(size_bytes: int) -> str:
    """Return a size in bytes as file managers show it: ``1.4 MB`` (steps of 1,024)."""
    amount = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1023.5 or unit == "GB":
            break
        amount /= 1024
    return f"{amount:,.0f} {unit}" if unit == "B" or amount >= 99.5 else f"{amount:,.1f} {unit}"


def seconds(duration_s: float, lang: str | None = None) -> str:
    """Return a duration: ``340 ms``, ``2.4 s`` or ``3 min 20 s``."""
    if duration_s < 1:
        return t("unit.ms", lang, value=round(duration_s * 1000))
    if duration_s < 90:
        return t("unit.s", lang, value=f"{duration_s:.1f}" if duration_s < 10 else f"{duration_s:.0f}")
    minutes, rest = divmod(round(duration_s), 60)
    return t("unit.min_s", lang, minutes=minutes, seconds=rest)


def moment(at: datetime, lang: str | None = None) -> str:
    """Return a moment to the minute; the browser replaces it by the user's own zone where it can."""
    lang = lang or language()
    if lang == "ja":
        return f"{at.year}年{at.month}月{at.day}日 {at:%H:%M} UTC"
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def day(at: datetime, lang: str | None = None) -> str:
    """Return the day of a moment, without the year if it is this one; the browser writes the reader's own."""
    is_lately = at.year == datetime.now(UTC).year
    if (lang or language()) == "ja":
        return f"{at.month}月{at.day}日" if is_lately else f"{at.year}年{at.month}月{at.day}日"
    return f"{at.day} {at:%b}" if is_lately else f"{at.day} {at:%b %Y}"


def _written(value: Any, lang: str) -> str:
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, int):
        return number(value, lang)
    if isinstance(value, float):
        return number(value, lang, 1)
    return moment(value, lang) if isinstance(value, datetime) else str(value)
