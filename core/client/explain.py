"""What a client asks about search itself: ``KnowledgeBase.insight`` over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.client.http import path_of
from core.model import AnalysedText, Query, Vocabulary, WhyNot
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.client.http import Http


class RemoteInsight:
    """Insight into a server's search; the methods are those of the knowledge base."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def why_not(self, query: Query, doc_key: str, position: int | None = None, version: int | None = None) -> WhyNot:
        """Return where a passage stands for a question, what keeps it from the answer, and what would bring it up."""
        from core.client.changes import asked

        given = asked(query)
        filters = given.pop("filters")
        place = {"q": given.pop("question"), "doc_key": doc_key, "position": position, "version": version}
        return from_dict(WhyNot, self._http.get(path_of("why-not"), **place, **given, **filters))

    def analyse(self, text: str, *, written: bool = False) -> AnalysedText:
        """Return what the analyser makes of a text."""
        return from_dict(
            AnalysedText, self._http.post(path_of("analyse"), {"text": text, "written": written}, again=True)
        )

    def vocabulary(self) -> Vocabulary:
        """Return the words and synonyms as they were written last."""
        return from_dict(Vocabulary, self._http.get(path_of("vocabulary")))

    def set_vocabulary(self, words: Iterable[Sequence[str]], synonyms: Iterable[Sequence[str]]) -> Vocabulary:
        """Replace the words and the groups of synonyms."""
        given = {"words": [list(word) for word in words], "synonyms": [list(group) for group in synonyms]}
        return from_dict(Vocabulary, self._http.call("PUT", path_of("vocabulary"), json=given).json())

    def reindex_words(self) -> str:
        """Have the vocabulary take effect; return the id of the job that does it."""
        return str(self._http.post(path_of("vocabulary", "reindex"))["job_id"])
