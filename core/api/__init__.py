"""What a knowledge base can do, in this process or on a server: the contract of ``KnowledgeBase`` and ``RagClient``.

Code that works with either takes a ``KnowledgeBaseApi``. ``tests/contracts/test_congruence.py`` runs every operation on
both and compares the results. Both may do more than the contract says, and take more arguments.
"""

from __future__ import annotations

from core.api.conversations import ConversationsApi
from core.api.documents import DocumentsApi
from core.api.evaluations import EvaluationsApi
from core.api.generators import GeneratorsApi
from core.api.insight import InsightApi
from core.api.jobs import JobsApi
from core.api.knowledge_base import KnowledgeBaseApi
from core.api.questions import AnswersApi, HistoryApi
from core.api.recordings import RecordingsApi
from core.api.stores import GenerationsApi, StoresApi
from core.api.versions import ComparisonApi, ReadingsApi, VersionsApi

__all__ = [
    "AnswersApi",
    "ComparisonApi",
    "ConversationsApi",
    "DocumentsApi",
    "EvaluationsApi",
    "GenerationsApi",
    "GeneratorsApi",
    "HistoryApi",
    "InsightApi",
    "JobsApi",
    "KnowledgeBaseApi",
    "ReadingsApi",
    "RecordingsApi",
    "StoresApi",
    "VersionsApi",
]
