"""The connection to Elasticsearch: attempts with growing waits, bulk writes whose rows may fail one by one, and errors.

What cannot be had is ``StoreUnavailable``; no message holds an address, a key or a text.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from core.errors import IndexLost, StoreUnavailable

Result = TypeVar("Result")

_WRITE_TIMEOUT_S = 120.0
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 5.0
_CONNECTIONS = 32
_BULK_BYTES = 5_000_000
_BULK_ROWS = 1_000
_BUSY = frozenset([429, 502, 503, 504])
"""Statuses of a server that may answer the same request a moment later."""
_REFUSED = frozenset([401, 403])
_LOST = "index_not_found_exception"
_WORD = re.compile("[a-z_]{1,60}")

Operation = tuple[bytes, ...]
"""One line of a bulk request that deletes, or two that write a document."""


def written(alias: str, chunk_id: int, document: Mapping[str, Any]) -> Operation:
    """Return what puts a document in the place of the one with its id."""
    return _line({"index": {"_index": alias, "_id": str(chunk_id)}}), _line(document)


def deleted(alias: str, chunk_id: int) -> Operation:
    """Return what deletes a document."""
    return (_line({"delete": {"_index": alias, "_id": str(chunk_id)}}),)


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


class ElasticServer:
    """A client whose calls are tried ``attempts`` times; nothing is connected before the first call."""

    def __init__(self, url: str, key: str, ca_file: str, timeout_s: float, attempts: int) -> None:
        from elasticsearch import Elasticsearch

        options: dict[str, Any] = {"api_key": key} if key else {}
        if ca_file:
            options["ca_certs"] = ca_file
        try:
            # Attempts are ours: the client's own follow one another without a pause.
            self._client = Elasticsearch(
                url, request_timeout=timeout_s, max_retries=0, connections_per_node=_CONNECTIONS, **options
            )
        except Exception as error:
            raise StoreUnavailable(f"The address of Elasticsearch cannot be used ({type(error).__name__}).") from None
        self._patient = self._client.options(request_timeout=_WRITE_TIMEOUT_S)
        self._attempts = max(attempts, 1)
        self._closed = threading.Event()

    def read(self, action: Callable[[Any], Result]) -> Result:
        """Return what a request gives that somebody waits for; a slow answer is not asked for again."""
        return self._tried(lambda: action(self._client), again_when_slow=False)

    def write(self, action: Callable[[Any], Result]) -> Result:
        """Return what a request gives that may be repeated and may take long."""
        return self._tried(lambda: action(self._patient), again_when_slow=True)

    def bulk(self, operations: Sequence[Operation]) -> None:
        """Carry out every operation, in any order; rows that the server had no time for are sent again."""
        for batch in _batches(operations):
            self._bulk(batch)

    def _bulk(self, batch: Sequence[Operation]) -> None:
        for attempt in range(self._attempts):
            if attempt:
                self._wait(attempt)
            outcomes = self._sent(batch)
            failures = [outcome for outcome in outcomes if "error" in outcome]
            for failure in failures:
                require_there(failure)
                if failure["status"] not in _BUSY:
                    raise StoreUnavailable(f"Elasticsearch refused a row ({_type_of(failure)}).")
            batch = [each for each, outcome in zip(batch, outcomes, strict=True) if "error" in outcome]
            if not batch:
                return
        raise StoreUnavailable(f"Elasticsearch is too busy: {len(batch)} rows were not taken.")

    def _sent(self, batch: Sequence[Operation]) -> list[Mapping[str, Any]]:
        """Send one request and return what became of each operation."""
        lines = [line for operation in batch for line in operation]
        # Without its alias a row is refused: the server would make an index of its own for it.
        reply = self.write(lambda client: client.bulk(operations=lines, require_alias=True))
        return [next(iter(item.values())) for item in reply["items"]]

    def _tried(self, action: Callable[[], Result], again_when_slow: bool) -> Result:
        from elasticsearch import ApiError, ConnectionTimeout, TransportError
        from elasticsearch import ConnectionError as NotReached

        answer: Any = None
        for attempt in range(1, self._attempts + 1):
            if self._closed.is_set():
                raise StoreUnavailable("The keyword index is closed.")
            try:
                return action()
            except ApiError as error:
                answer = error.body
                may_pass = error.status_code in _BUSY
                failure = _told(error.status_code, error.body)
            except ConnectionTimeout:
                may_pass = again_when_slow
                failure = "Elasticsearch did not answer in time."
            except TransportError as error:
                may_pass = type(error) is NotReached
                failure = f"Elasticsearch cannot be reached ({type(error).__name__})."
            except Exception as error:
                may_pass = False
                failure = f"Elasticsearch cannot be used ({type(error).__name__})."
            if not may_pass:
                break
            if attempt < self._attempts:
                self._wait(attempt)
        require_there(answer)
        raise StoreUnavailable(failure)

    def _wait(self, attempt: int) -> None:
        longest = min(_FIRST_WAIT_S * 2 ** (attempt - 1), _LONGEST_WAIT_S)
        self._closed.wait(longest * random.uniform(0.5, 1.0))

    def close(self) -> None:
        """Let go of the connections; whoever waits for another attempt stops waiting."""
        self._closed.set()
        self._client.close()


def _batches(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Yield operations in the sizes of a request; one that is larger by itself goes alone."""
    batch: list[Operation] = []
    size = 0
    for operation in operations:
        length = sum(map(len, operation))
        if batch and (size + length > _BULK_BYTES or len(batch) == _BULK_ROWS):
            yield batch
            batch, size = [], 0
        batch.append(operation)
        size += length
    if batch:
        yield batch


def _told(status: int, body: Any) -> str:
    if status in _REFUSED:
        return f"Elasticsearch does not let EvoRAG in (status {status}): look at its key and what the key may do."
    return f"Elasticsearch failed (status {status}, {_type_of(body)})."


def require_there(body: Any) -> None:
    """Raise ``IndexLost`` where an answer of the server says that the index is not there."""
    if _type_of(body) == _LOST:
        raise IndexLost(f"The keyword index is gone from Elasticsearch ({_LOST}).")


def _type_of(body: Any) -> str:
    """Return the kind of an error in the server's own word; its reason may hold text of a row."""
    error = body.get("error") if isinstance(body, Mapping) else None
    kind = error.get("type") if isinstance(error, Mapping) else None
    return kind if isinstance(kind, str) and _WORD.fullmatch(kind) else "no reason"
