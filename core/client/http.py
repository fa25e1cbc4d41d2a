"""Requests to a server of EvoRAG: with the key, tried again where that is safe, and errors as those of this package."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from core.errors import EvoRAGError, InvalidInput, ServerUnreachable
from core.model.codec import from_dict

Value = TypeVar("Value")

SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
BUSY = frozenset({502, 503, 504})
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 8.0
LONGEST_WISH_S = 60.0
"""Longest pause that a server may ask for with ``Retry-After``."""
REDIRECTS = 3


def kinds_of_errors() -> dict[str, type[EvoRAGError]]:
    """Return the class of error that introduces each code."""

    def below(kind: type[EvoRAGError]) -> dict[str, type[EvoRAGError]]:
        found: dict[str, type[EvoRAGError]] = {}
        for child in kind.__subclasses__():
            found |= below(child)
        # A class that inherits its code is told apart in its own process only.
        return found | {kind.code: kind}

    return below(EvoRAGError)


def error_of(problem: Mapping[str, Any], status: int) -> EvoRAGError:
    """Return a problem that a server answered as the error that it was there."""
    code = str(problem.get("code") or "error")
    kind = kinds_of_errors().get(code, EvoRAGError)
    message = str(problem.get("detail") or problem.get("title") or f"The server answered {status}.")
    error = kind(message, remedy=str(problem.get("remedy") or kind.remedy), code=code)
    error.status = status  # type: ignore[misc]
    return error


def pause_s(attempt: int) -> float:
    """Return how long to wait before another attempt: longer each time, and never the same for all clients."""
    return min(FIRST_PAUSE_S * 2.0**attempt, LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)


def path_of(*parts: object) -> str:
    """Return a path below ``/api/v1``; a slash stays one only in the key of a private document."""
    return "/api/v1/" + "/".join(quote(str(part), safe="/~" if str(part).startswith("~") else "~") for part in parts)


def values(kind: type[Value], rows: Sequence[Any]) -> list[Value]:
    """Return a list of JSON objects as values."""
    return [from_dict(kind, row) for row in rows]


class Http:
    """One connection pool to one server; ``repr`` and errors never hold the key."""

    def __init__(self, url: str, key: str | None, timeout_s: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise InvalidInput(
                "The address of the server is not understood.", remedy="Write it like http://127.0.0.1:8050."
            )
        if key is not None and not (key.isascii() and key.isprintable() and key):
            raise InvalidInput("The key holds signs that no key has.", remedy="Copy the key anew.")
        self.url = url.rstrip("/")
        self._retries = max(retries, 0)
        headers = {"Accept": "application/json", "User-Agent": "evorag-client"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=httpx.Timeout(timeout_s))

    def close(self) -> None:
        self._client.close()

    def __repr__(self) -> str:
        return f"Http({self.url!r})"

    # ---- one answer

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON that is at a path; parameters that are None or empty are left out."""
        return self.call("GET", path, params=_given(params)).json()

    def post(self, path: str, body: Any = None, *, again: bool = False) -> Any:
        """Return the JSON answer; ``again``: to ask twice is as to ask once."""
        response = self.call("POST", path, json=body, again=again)
        return response.json() if response.content else None

    def call(
        self,
        method: str,
        path: str,
        *,
        again: bool = False,
        accept: tuple[int, ...] = (),
        prepare: Callable[[], dict[str, Any]] | None = None,
        **request: Any,
    ) -> httpx.Response:
        """Return the answer with a status below 400, or one in ``accept``; ``prepare`` makes the body of each attempt.

        Raises: the server's error, or ``ServerUnreachable`` when all attempts have failed.
        """
        may_repeat = again or method in SAFE
        for attempt in range(self._retries + 1):
            is_last = attempt == self._retries
            try:
                response = self._sent(method, path, **(prepare() if prepare else {}), **request)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                if is_last:
                    raise self._unreachable(error) from error
                time.sleep(pause_s(attempt))
            except httpx.TransportError as error:
                if is_last or not may_repeat:
                    raise self._unreachable(error) from error
                time.sleep(pause_s(attempt))
            else:
                is_pushed_back = response.status_code == 429 or (may_repeat and response.status_code in BUSY)
                if is_pushed_back and response.status_code not in accept and not is_last:
                    time.sleep(_wish_s(response, attempt))
                    continue
                return self.checked(response, accept)
        raise AssertionError("the last attempt returns or raises")

    def checked(self, response: httpx.Response, accept: tuple[int, ...] = ()) -> httpx.Response:
        """Return an answer that is none of an error. Raises: the server's error."""
        if response.status_code in accept or response.status_code < 300 or response.status_code == 304:
            return response
        raise error_of(_problem(response), response.status_code)

    def _sent(self, method: str, path: str, **request: Any) -> httpx.Response:
        response = self._client.request(method, path, **request)
        for _ in range(REDIRECTS):
            if not response.has_redirect_location or method not in ("GET", "HEAD"):
                break
            target = httpx.URL(response.url).join(response.headers["Location"])
            if (target.scheme, target.host, target.port) != (response.url.scheme, response.url.host, response.url.port):
                raise ServerUnreachable(
                    f"The server sends clients to another one, at {target.host}.",
                    remedy="Name that server's address if you trust it.",
                )
            response = self._client.request(method, target, headers=request.get("headers"))
        return response

    # ---- answers that go on

    @contextlib.contextmanager
    def streamed(
        self, method: str, path: str, *, read_s: float | None = None, **request: Any
    ) -> Iterator[httpx.Response]:
        """Give an answer whose body is read as it comes; a server that has no room or is not there yet is asked again.

        Raises: the server's error, ``ServerUnreachable``.
        """
        timeout = self._client.timeout if read_s is None else httpx.Timeout(self._client.timeout.connect, read=read_s)
        try:
            with contextlib.ExitStack() as opened:
                for attempt in range(self._retries + 1):
                    is_last = attempt == self._retries
                    try:
                        response = opened.enter_context(self._client.stream(method, path, timeout=timeout, **request))
                    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
                        if is_last:
                            raise
                        time.sleep(pause_s(attempt))
                        continue
                    if response.status_code != 429 or is_last:
                        break
                    opened.close()
                    time.sleep(_wish_s(response, attempt))
                if response.status_code >= 300:
                    response.read()
                yield self.checked(response)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> ServerUnreachable:
        return ServerUnreachable(f"The server at {self.url} does not answer ({type(error).__name__}).")


def events(response: httpx.Response) -> Iterator[tuple[str, str, Any]]:
    """Yield id, name and data of every server-sent event."""
    event_id, name, data = "", "message", ""
    for line in response.iter_lines():
        if line == "":
            if data:
                yield event_id, name, json.loads(data)
            name, data = "message", ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            event_id = value
        elif field == "event":
            name = value
        elif field == "data":
            data += value


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in params.items()}
    return {name: value for name, value in plain.items() if value is not None and value != ""}


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError):
        found = response.json()
        if isinstance(found, dict):
            return found
    return {}


def _wish_s(response: httpx.Response, attempt: int) -> float:
    """How long the server wants us to wait, or what we think."""
    wish = response.headers.get("Retry-After", "")
    return min(float(wish), LONGEST_WISH_S) if wish.isascii() and wish.isdigit() else pause_s(attempt)
