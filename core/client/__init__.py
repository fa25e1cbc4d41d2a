"""EvoRAG on another machine, driven by its REST interface, under the names of the knowledge base and the seed system::

    with RagClient("http://127.0.0.1:8050", key="evo_…") as client:
        client.rag_upload_file("handbook.pdf", tags=["rules"])
        print(client.ask("How many days of leave are there?").answer.text)

Needs nothing of the server's own parts: values, errors and httpx. What it asks is ``core.client.reading``, what it
changes ``core.client.changes``, how it sends files ``core.client.uploads``, how it measures answers
``core.client.evaluations``, what it has recorded of neurons ``core.client.recordings``, and how its stores stand
``core.client.stores``.
"""

from __future__ import annotations

from core.client.changes import DocumentWriter, QuestionClient
from core.client.conversations import RemoteConversations
from core.client.evaluations import RemoteEvaluations
from core.client.explain import RemoteInsight
from core.client.generations import RemoteGenerations
from core.client.generators import RemoteGenerators
from core.client.http import Http
from core.client.quarantine import RemoteQuarantine
from core.client.readings import RemoteReadings
from core.client.recordings import RemoteRecordings
from core.client.stores import StoreClient
from core.client.uploads import RemoteIndexed, RemoteIndexing, UploadClient

__all__ = ["RemoteIndexed", "RemoteIndexing", "RagClient"]

PART_BYTES = 8 * 1024 * 1024


class RagClient(UploadClient, DocumentWriter, StoreClient, QuestionClient):
    """A server of EvoRAG; safe to use from several threads, and to be closed after use.

    ``timeout_s`` is the longest silence of the server; ``retries`` are further attempts, with growing pauses, of what
    can be asked twice; ``part_bytes`` are sent at a time.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: int = 8,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self._http = Http(url, key, timeout_s, retries)
        self.conversations = RemoteConversations(self._http)
        self.evaluations = RemoteEvaluations(self._http)
        self._part_bytes = max(part_bytes, 1)
        self._retries = max(retries, 0)
        self.generations = RemoteGenerations(self._http)
        self.generators = RemoteGenerators(self._http)
        self.quarantine = RemoteQuarantine(self._http)
        self.readings = RemoteReadings(self._http)
        self.insight = RemoteInsight(self._http)
        self.recordings = RemoteRecordings(self._http)

    @property
    def url(self) -> str:
        return self._http.url

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> RagClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RagClient({self.url!r})"
