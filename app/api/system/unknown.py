"""What is answered to programs where no route is: 404, and 405 with the methods that there are.

The pages take every other address for one of theirs, so the routes of the interface are kept in a map of their own.
"""

from __future__ import annotations

import threading

import flask
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.exceptions import NotFound as NoRoute
from werkzeug.routing import Map

from app.api.description.describe import operation_of
from app.api.system.errors import UNKNOWN_ADDRESS
from core.errors import NotFound

_KEPT = "evorag-api-map"


def refuse_unknown(server: flask.Flask) -> None:
    """Refuse addresses below ``/api/`` that no route has, and methods that a described route has not."""
    collecting = threading.Lock()

    @server.before_request
    def check() -> flask.Response | None:
        request = flask.request
        if request.url_rule is not None and request.url_rule.websocket:
            return None
        # Requests that come first together wait for one of them: Python 3.11 fails where threads compile side by side.
        with collecting:
            described = _routes(server)
        routes = described.bind("", path_info=request.path)
        try:
            routes.match(method=request.method)
        except MethodNotAllowed as refused:
            flask.g.evorag_for_programs = True
            raise MethodNotAllowed(sorted(refused.valid_methods or ())) from None
        except NoRoute:
            if request.path.startswith("/api/") or request.path == "/api":
                raise NotFound(
                    "There is nothing at this address.",
                    code=UNKNOWN_ADDRESS,
                    remedy="Look it up at /api/v1, which says what there is.",
                ) from None
            return None
        rule = request.url_rule
        if request.method == "OPTIONS" and (rule is None or getattr(rule, "provide_automatic_options", False)):
            answer = flask.Response(status=204)
            answer.allow.update(routes.allowed_methods())
            return answer
        return None


def _routes(server: flask.Flask) -> Map:
    """The described routes, collected at the first request, when all have been added."""
    if _KEPT not in server.extensions:
        rules = [
            rule.empty()
            for rule in server.url_map.iter_rules()
            if not rule.websocket and operation_of(server.view_functions.get(rule.endpoint)) is not None
        ]
        server.extensions[_KEPT] = Map(rules, converters=server.url_map.converters, merge_slashes=False)
    found: Map = server.extensions[_KEPT]
    return found
