"""Refused attempts in the log: who tried what from where, by the names that the server has for it, and not without end.

Nothing that the caller sent is repeated: an address is told as its route is written.
"""

from __future__ import annotations

import logging
import threading
from time import monotonic

import flask

from core.access import current

log = logging.getLogger(__name__)

REFUSED = frozenset({401, 403, 421, 429})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
MOST = 60
WITHIN_S = 60.0
"""So many lines, and then one that counts the others."""


class Refusals:
    """Writes the lines of one application."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0.0
        self._count = 0

    def note(self, status: int, code: str) -> None:
        """Say that the present request is refused, where that is worth a line."""
        request = flask.request
        if status not in REFUSED or (status == 401 and "Authorization" not in request.headers):
            # Whoever has no key and no session yet is led to the sign-in page, which is no attempt at anything.
            return
        left_out, is_told = self._turn()
        if left_out:
            log.warning("%d more attempts were refused", left_out)
        if is_told:
            rule = request.url_rule.rule if request.url_rule is not None else "an unknown address"
            who = current().name or "nobody"
            method = request.method if request.method in METHODS else "an unknown method"
            address = request.remote_addr or "an unknown host"
            log.warning("refused: %s %s to %s from %s (%d %s)", method, rule, who, address, status, code)

    def _turn(self) -> tuple[int, bool]:
        """Return how many lines were left out in the minute before, and whether there is one now."""
        now, left_out = monotonic(), 0
        with self._lock:
            if now - self._begun >= WITHIN_S:
                left_out, self._begun, self._count = max(self._count - MOST, 0), now, 0
            self._count += 1
            return left_out, self._count <= MOST


def refusals_of(server: flask.Flask) -> Refusals:
    found: Refusals = server.extensions.setdefault("evorag-refusals", Refusals())
    return found
