"""The whole contract: a knowledge base with its parts."""

from __future__ import annotations

from typing import Protocol

from core.api.conversations import ConversationsApi
from core.api.documents import DocumentsApi
from core.api.evaluations import EvaluationsApi
from core.api.generators import GeneratorsApi
from core.api.insight import InsightApi
from core.api.jobs import JobsApi
from core.api.questions import HistoryApi
from core.api.recordings import RecordingsApi
from core.api.stores import GenerationsApi, QuarantineApi, StoresApi
from core.api.versions import ReadingsApi, VersionsApi


class KnowledgeBaseApi(DocumentsApi, VersionsApi, JobsApi, HistoryApi, StoresApi, Protocol):
    """A knowledge base that is open in this process or reached at a URL.

    Raises ``Forbidden`` from any operation that the role of the caller does not allow. A client also raises
    ``Unauthorized`` and ``ServerUnreachable``. The server knows who is calling, so a client's ``actor`` has no effect.
    """

    @property
    def conversations(self) -> ConversationsApi: ...

    @property
    def evaluations(self) -> EvaluationsApi: ...

    @property
    def generations(self) -> GenerationsApi: ...

    @property
    def generators(self) -> GeneratorsApi: ...

    @property
    def insight(self) -> InsightApi: ...

    @property
    def quarantine(self) -> QuarantineApi: ...

    @property
    def readings(self) -> ReadingsApi: ...

    @property
    def recordings(self) -> RecordingsApi: ...

    def close(self) -> None:
        """Release what this object holds; a client leaves the server running."""
