"""The states that every list and page shares: empty, loading, error; and the notice at the foot of the window."""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import flask
from dash import dcc, html, set_props

from app import links
from app.components.attributes import aria, dataset
from app.components.shared import ids
from app.components.shared.error_sentences import as_said, in_language
from app.components.shared.icon import icon
from app.components.shell.frame import page
from app.i18n import has, language, t
from core.errors import EvoRAGError, NotFound

logger = logging.getLogger(__name__)

AGAIN = f"{links.sign_in(links.ACCESS)}&again=1"
MEANINGS = {
    "ok": "check-circle-fill",
    "working": "arrow-repeat",
    "warning": "exclamation-triangle-fill",
    "error": "x-circle-fill",
    "neutral": "dash-circle",
}

WIDE_ENDINGS = ("。", "！", "？", "：")
ENDINGS = (".", "!", "?", "…", ":", *WIDE_ENDINGS)


def _usual_remedies(kind: type[EvoRAGError]) -> dict[str, str]:
    below = [_usual_remedies(child) for child in kind.__subclasses__()]
    return {code: remedy for found in below for code, remedy in found.items()} | {kind.code: kind.remedy}


USUAL_REMEDIES = _usual_remedies(EvoRAGError)
"""What each kind of error advises by itself; an error with other advice knows better than the translation."""


def badge(meaning: str, word: str, title: str | None = None) -> html.Span:
    """Return one of the four meanings (or ``neutral``) as an icon with its word."""
    return html.Span([icon(MEANINGS[meaning]), html.Span(word)], className=f"meaning meaning-{meaning}", title=title)


def empty(symbol: str, title: str, text: str, action: Any = None) -> html.Div:
    """Return what stands in place of a list that holds nothing yet: what belongs there, and the first step."""
    return html.Div(
        [
            icon(symbol, "state-icon"),
            html.H2(title, className="state-title"),
            html.P(text, className="state-text"),
            html.Div(action, className="state-action") if action is not None else None,
        ],
        className="state state-empty",
    )


def loading(height_px: int = 160, lines: int = 4) -> html.Div:
    """Return grey lines of the size of what is being loaded."""
    return html.Div(
        [
            html.Span(t("state.loading"), className="visually-hidden"),
            *[html.Div(className="skeleton-line", **aria(hidden=True)) for _ in range(lines)],
        ],
        className="state-loading",
        style={"minHeight": f"{height_px}px"},
        role="status",
    )


def error_words(error: EvoRAGError | Mapping[str, Any]) -> dict[str, str]:
    """Return ``code``, ``title``, ``detail`` and ``remedy`` of an error in the language of the request.

    ``error`` is an error of ours or the mapping that jobs, legs and versions carry (``as_dict``).
    """
    data = error.as_dict() if isinstance(error, EvoRAGError) else dict(error)
    code = str(data.get("code", "error"))
    given = _advice(data)
    is_special = given != "" and given != USUAL_REMEDIES.get(code)
    usual = t(f"remedy.{code}") if has(f"remedy.{code}") else given
    message = str(data.get("message", ""))
    return {
        "code": code,
        "title": t(f"error.{code}" if has(f"error.{code}") else "error.error"),
        "detail": as_said(message),
        "remedy": _remedy(given, usual) if is_special else usual,
    }


def _remedy(given: str, usual: str) -> str:
    """Return a remedy in the language of the request, or the usual one where it is known in English only."""
    # Pages give remedies in the language of the request, and those in Japanese end as Japanese does.
    is_said = language() == "en" or given.endswith(WIDE_ENDINGS)
    return in_language(given) or (given if is_said else usual)


def _advice(error: EvoRAGError | Mapping[str, Any]) -> str:
    """Return the remedy as the core says it, or nothing."""
    return str((error.remedy if isinstance(error, EvoRAGError) else error.get("remedy")) or "")


def one_text(*sentences: str) -> str:
    """Return sentences as one running text, each ended as the language ends it; empty ones are left out."""
    stop = "。" if language() == "ja" else "."
    ended = [part if part.endswith(ENDINGS) else part + stop for part in map(str.strip, sentences) if part]
    return "".join(part if part.endswith(WIDE_ENDINGS) else part + " " for part in ended).rstrip()


def error_state(error: EvoRAGError | Mapping[str, Any], *, again: Any = None) -> html.Div:
    """Return an error as a person needs it: what happened, the remedy, the code, "try again".

    ``again`` replaces the button, which loads the page anew. A remedy that names the list of documents leads there.
    """
    words = error_words(error)
    if again is None:
        again = [
            html.Button(
                [icon("arrow-clockwise"), t("state.again")],
                type="button",
                className="btn btn-secondary",
                **dataset(action="reload"),
            )
        ]
        if _advice(error) == NotFound.remedy:
            again.insert(0, link_button(t("shell.not_found_documents"), links.DOCUMENTS, "files", primary=True))
    return html.Div(
        [
            icon(MEANINGS["error"], "state-icon"),
            html.H2(words["title"], className="state-title"),
            html.P(words["detail"], className="state-text"),
            html.P(words["remedy"], className="state-text"),
            html.P(html.Code(words["code"]), className="state-code"),
            html.Div(again, className="state-action"),
        ],
        className="state state-error",
        role="alert",
    )


def error_line(error: EvoRAGError | Mapping[str, Any]) -> html.Div:
    """Return an error in one or two lines, for a place inside a page."""
    words = error_words(error)
    return html.Div(
        [
            icon(MEANINGS["error"]),
            html.Span([html.Strong(one_text(words["title"])), " ", one_text(words["detail"], words["remedy"]), " "]),
            html.Code(words["code"]),
            html.A(t("sign_in.again"), href=AGAIN, className="ms-2") if words["code"] == "password_needed" else None,
        ],
        className="error-line",
        role="alert",
    )


def unknown_error(error: Exception) -> dict[str, str]:
    """Log an error that nobody foresaw under an id, and return it as an error that shows only the id."""
    error_id = secrets.token_hex(4)
    logger.error("error %s", error_id, exc_info=error)
    return {"code": "internal", "message": t("error.internal.id", id=error_id), "remedy": t("remedy.internal")}


def shows_errors(layout: Callable[..., Any]) -> Callable[..., Any]:
    """Make a page's layout answer with an error state where it would raise."""

    @functools.wraps(layout)
    def guarded(**parameters: Any) -> Any:
        try:
            return layout(**parameters)
        except EvoRAGError as error:
            return page(t("state.error_page"), "", error_state(error))
        except Exception as error:
            return page(t("state.error_page"), "", error_state(unknown_error(error)))

    return guarded


def notice(meaning: str, text: str, action: Any = None) -> html.Div:
    """Return a short message for the foot of the window; it goes away by itself unless it is an error."""
    return html.Div(
        [
            icon(MEANINGS[meaning]),
            html.Span(text),
            action,
            html.Button(
                icon("x-lg"),
                type="button",
                className="notice-close",
                **aria(label=t("shell.close")),
                **dataset(action="dismiss"),
            ),
        ],
        className=f"notice notice-{meaning}",
        **dataset(notice=secrets.token_hex(4), lasting=meaning == "error" or action is not None),
    )


def notify(meaning: str, text: str, action: Any = None) -> None:
    """Show a notice from inside a callback."""
    set_props(ids.NOTICE, {"children": notice(meaning, text, action)})


def report_callback_error(error: Exception) -> None:
    """Show an error that a callback raised as a notice, and let the browser show it where it was caused."""
    words = error_words(error if isinstance(error, EvoRAGError) else unknown_error(error))
    said = one_text(words["title"], words["detail"], words["remedy"])
    flask.g.evorag_callback_failed = said
    notify("error", said)


def link_button(text: str, href: str, symbol: str | None = None, *, primary: bool = False) -> dcc.Link:
    """Return a link that looks like a button."""
    return dcc.Link(
        [icon(symbol) if symbol else None, text],
        href=href,
        className="btn btn-primary" if primary else "btn btn-secondary",
    )
