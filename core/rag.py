"""EvoRAG: questions over a knowledge base, under the names of the seed system and our own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.access import acting, current, needs
from core.errors import Conflict, InvalidInput, NotFound
from core.model import (
    Answer,
    AnswerComparison,
    AnswerType,
    AskStep,
    DoneStep,
    Filters,
    Hit,
    Impact,
    IndexHit,
    Query,
    Role,
    SavedQuestion,
    Task,
    Trace,
    Upload,
    VersionRef,
)
from core.model.codec import to_dict
from core.query.search.fuse import cosine

if TYPE_CHECKING:
    from core.knowledge_base import KnowledgeBase
    from core.ports import Progress

PREVIEW_CHARS = 200


class AnswerText(str):
    """The text of an answer that also carries the answer: what wrote it, what it cites, how sure it is."""

    answer: Answer

    def __new__(cls, answer: Answer) -> AnswerText:
        text = super().__new__(cls, answer.text)
        text.answer = answer
        return text


class Passage(str):
    """The text of a retrieved passage that also carries its hit."""

    hit: Hit

    def __new__(cls, hit: Hit) -> Passage:
        passage = super().__new__(cls, hit.placed.chunk.text)
        passage.hit = hit
        return passage


class EvoRAG:
    """Answers questions from a knowledge base; without one, from that of the environment.

    ``llm_type`` writes the answers of questions that choose nothing. Empty, the generator of the settings writes where
    extraction is unsure (``Settings.sure_confidence``) or the question asks for a form that only writing has.
    Raises: ``InvalidInput`` for a name that is none of them.
    """

    def __init__(self, llm_type: str = "", kb: KnowledgeBase | None = None) -> None:
        if kb is None:
            from core.bootstrap import default_knowledge_base

            kb = default_knowledge_base()
        if llm_type:
            kb.generators.chosen(Task.ANSWER, llm_type)
        self.llm_type = llm_type
        self.kb = kb

    @needs(Role.READER)
    def ask(self, query: Query | str, *, keep: bool = True) -> Trace:
        """Search and answer; the trace is kept in the history unless ``keep`` is false.

        A question of a conversation becomes its next turn. Where the same was asked before of the same documents, the
        kept answer is given (``Trace.cache``), unless the query is ``fresh`` or not to be kept.
        """
        steps = self.kb.asking.steps(self._query(query), keep=keep)
        return next(step.trace for step in steps if isinstance(step, DoneStep))

    @needs(Role.READER)
    def ask_events(self, query: Query | str, *, keep: bool = True) -> Generator[AskStep, None, None]:
        """Answer as ``ask`` does, and yield each step at once.

        ``AnalysisStep``, ``PassagesStep``, a ``WritingStep`` for every piece that a generator writes (``""`` while it
        goes on without a word, also first of all), the pieces of the answer as ``AnswerStep``, and ``DoneStep`` with
        the trace, which the history has kept unless ``keep`` is false. Closing the iterator before the first
        ``AnswerStep`` stops the generator, and nothing is kept.
        """
        who = current()

        def told() -> Generator[AskStep, None, None]:
            with closing(self.kb.asking.steps(self._query(query), keep=keep)) as steps:
                # Whoever reads the steps may do so in another thread, after the request has ended.
                while True:
                    with acting(who):
                        step = next(steps, None)
                    if step is None:
                        return
                    yield step

        return told()

    @needs(Role.READER)
    def search(self, query: Query | str) -> Trace:
        """Search without answering; the history does not keep it, and no conversation goes on with it."""
        return self.kb.asking.search(self._query(query))

    def _query(self, query: Query | str) -> Query:
        if not isinstance(query, Query):
            settings = self.kb.settings.search
            query = Query(query, top_k=settings.top_k, depth=settings.search_depth)
        if query.generator or query.record or not self.llm_type:
            return query
        return replace(query, generator=self.llm_type)

    # ---- what another version changes in the answers

    @needs(Role.READER)
    def compare_answers(
        self, question: str, old: VersionRef, new: VersionRef, *, alone: bool = True, top_k: int | None = None
    ) -> AnswerComparison:
        """Ask one question of two versions; ``alone`` of nothing else, otherwise beside all other documents as shown.

        Both sides search the same rows with the same statistics, so that only the versions differ; the history keeps
        neither. Raises: ``NotFound``, and ``Conflict`` for a version that is not indexed.
        """
        return self._compare(self._query(question), old, new, alone=alone, top_k=top_k)

    @needs(Role.READER)
    def impact(
        self, key: str, version: int, questions: Sequence[SavedQuestion], progress: Progress | None = None
    ) -> Iterator[Impact]:
        """Yield what publishing the version would change in the answers, against what the document shows now.

        An answer is changed only where the two show different passages of this document: others change nothing.

        Raises: ``NotFound``, and ``Conflict`` for a version that is not indexed.
        """
        new = VersionRef(key, version)
        self.kb.catalog.visibility.version_of(new)
        shown = self.kb.document(key).published_version
        old = None if shown is None else VersionRef(key, shown)

        who = current()

        def compared() -> Iterator[Impact]:
            for done, question in enumerate(questions):
                if progress is not None:
                    progress(done, len(questions))
                with acting(who):
                    found = self._compare(self._query(question.text), old, new, alone=False, only_this=True)
                yield Impact(question, found)
            if progress is not None:
                progress(len(questions), len(questions))

        return compared()

    def _compare(
        self,
        query: Query,
        old: VersionRef | None,
        new: VersionRef,
        *,
        alone: bool,
        top_k: int | None = None,
        only_this: bool = False,
    ) -> AnswerComparison:
        from core.versions.answers import compare_traces, touches, unchanged

        # Whatever is published between the two questions changes neither.
        sequence = self.kb.sequence()

        def asked(ref: VersionRef | None) -> Trace:
            filters = Filters(doc_keys=(ref.doc_key,)) if alone and ref else Filters()
            limited = replace(query, as_of=ref, filters=filters, top_k=query.top_k if top_k is None else top_k)
            return self.kb.queries.run(limited, answering=True, whole=True, sequence=sequence)

        before, after = asked(old), asked(new)
        if only_this and not touches(before, after, new.doc_key):
            return unchanged(before, after, query.text)
        return compare_traces(
            query.text,
            before,
            after,
            in_old=self.kb.queries.seen_by(before, after.hits),
            in_new=self.kb.queries.seen_by(after, before.hits),
        )

    # ---- the names of the seed system

    @needs(Role.READER)
    def retrieve(
        self, query: str, top_k: int = 3, return_debug_info: bool = False
    ) -> list[Passage] | tuple[list[Passage], dict[str, Any]]:
        """Return the best passages, and what happened on the way where ``return_debug_info`` is set."""
        trace = self.search(replace(self._query(query), top_k=top_k))
        passages = [Passage(hit) for hit in trace.hits]
        return (passages, debug_info(trace)) if return_debug_info else passages

    @needs(Role.READER)
    def generate(self, query: str, docs: list[Passage]) -> AnswerText:
        """Return the answer that the passages from ``retrieve`` support, with ``[n]`` marks, or say that none does.

        ``llm_type`` writes it, and the guard holds it against the passages, as ``ask`` does. ``answer.generator`` of
        the text says what wrote it. Raises: ``InvalidInput`` for no question.
        """
        return AnswerText(self.kb.queries.answer_from(self._query(query), [doc.hit for doc in docs]))

    @needs(Role.READER)
    def rag(self, query: str, return_debug_info: bool = False) -> dict[str, Any]:
        """Return ``answer``, ``answer_type``, ``documents`` and ``citations``, and ``debug_info`` where asked for.

        ``generator`` says what wrote the answer, ``none`` for extraction; ``other_answer`` is None, or what was written
        or extracted besides and says something else. ``generator_failure`` is None, or says why a generator did not
        write the answer. ``is_tentative`` tells an answer that is not certain.
        """
        return _told(self.ask(query), return_debug_info)

    @needs(Role.READER)
    def rag_with_vis(
        self, query: str, path: Path | str = "rag_neuron_data.pt", return_debug_info: bool = False
    ) -> dict[str, Any]:
        """Do what ``rag`` does with spiking neurons, and write what they did to the file ``path``.

        The result also has ``recording_id`` (of ``KnowledgeBase.recordings``) and ``neuron_data_path``; both are empty,
        and the file is left as it was, where nothing was to be written or recorded. Raises: ``InvalidInput`` for a path
        that no file can have.
        """
        target = Path(path).expanduser().absolute()
        if target.is_dir() or not target.parent.is_dir():
            raise InvalidInput("The recording cannot be written there.", remedy="Name a file in a folder that exists.")
        trace = self.ask(replace(self._query(query), generator="", record=True))
        result = _told(trace, return_debug_info) | {"recording_id": "", "neuron_data_path": ""}
        recording_id = trace.generation.get("recording", {}).get("id", "")
        if recording_id:
            self.kb.recordings.write(recording_id, target)
            result |= {"recording_id": recording_id, "neuron_data_path": str(target)}
        return result

    @needs(Role.EDITOR)
    def add_user_text(self, text: str, source: str = "user text") -> int:
        """Add a text entry, wait until it can be found, and return its document id."""
        upload = self.kb.add_text(source, text)
        self._finished(upload)
        return self.kb.document(upload.doc_key).id

    @needs(Role.READER)
    def get_all_data(self) -> list[dict[str, Any]]:
        """Return id, text, source and version of every document that is shown."""
        return [
            {
                "id": document.id,
                "text": text,
                "source": f"{document.name}#v{document.published_version}",
                "doc_key": document.doc_key,
                "version": document.published_version,
            }
            for document, text in self.kb.texts()
        ]

    @needs(Role.EDITOR)
    def update_document(self, doc_id: int | str, text: str) -> int:
        """Make ``text`` the next version of a document, wait until it can be found, and return the version's number."""
        document = self.kb.document(self._doc_key(doc_id))
        if document.extension not in ("txt", "md", "markdown"):
            raise Conflict(
                f"“{document.name}” is no text; its next version is another file of that name.",
                remedy="Upload the new file under the same name.",
            )
        if document.owner and document.owner != current().name:
            raise Conflict(
                f"“{document.name}” is the private document of “{document.owner}”.",
                remedy="Only its owner adds versions to it.",
            )
        upload = self.kb.add_text(document.name, text, private=bool(document.owner))
        self._finished(upload)
        return upload.version

    @needs(Role.EDITOR)
    def delete_document(self, doc_id: int | str) -> None:
        """Take a document out of every answer; ``KnowledgeBase.restore`` brings it back."""
        self.kb.delete(self._doc_key(doc_id))

    def _doc_key(self, doc_id: int | str) -> str:
        text = str(doc_id)
        if isinstance(doc_id, int) or text.isdecimal():
            if len(text) > 18:
                raise NotFound(f"There is no document with the id {text[:32]}.")
            return self.kb.catalog.documents.key_of(int(text))
        return text

    def _finished(self, upload: Upload) -> None:
        if not upload.is_indexed:
            self.kb.finish(upload.job_id)


def _told(trace: Trace, return_debug_info: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "answer": trace.answer.text,
        "answer_type": trace.answer.type.value,
        "documents": [hit.placed.chunk.text for hit in trace.hits],
        "citations": to_dict(trace.answer.citations),
        "generator": trace.answer.generator,
        "other_answer": to_dict(trace.answer.other),
        "is_tentative": trace.answer.is_tentative,
        "generator_failure": to_dict(trace.answer.generator_failure),
        "trace_id": trace.id,
    }
    if return_debug_info:
        result["debug_info"] = debug_info(trace)
    return result


def debug_info(trace: Trace) -> dict[str, Any]:
    """Return the trace as the seed system's debug dictionary, and more."""
    texts = {hit.placed.id: hit.placed.chunk.text for hit in trace.candidates}
    for hit in trace.candidates:
        texts.update(dict.fromkeys(hit.merged, hit.placed.chunk.text))

    def results(hits: tuple[IndexHit, ...]) -> list[dict[str, Any]]:
        return [
            {
                "doc_id": str(hit.chunk_id),
                "score": hit.score,
                "text_preview": texts.get(hit.chunk_id, "")[:PREVIEW_CHARS],
                "terms": to_dict(hit.terms),
            }
            for hit in hits
        ]

    vector_results = results(trace.vector.hits)
    for result in vector_results:
        result["cosine"] = cosine(result["score"])
        del result["terms"]
    return {
        "query_analysis": to_dict(trace.analysis),
        "vector_results": vector_results,
        "keyword_results": results(trace.keyword.hits),
        "rrf_scores": {str(hit.placed.id): hit.score for hit in trace.candidates},
        "fusion": [
            {
                "rank": hit.rank,
                "doc_id": str(hit.placed.id),
                "source": f"{hit.placed.name}#v{hit.placed.version}",
                "score": hit.score,
                "vector": to_dict(hit.vector),
                "keyword": to_dict(hit.keyword),
            }
            for hit in trace.candidates
        ],
        "generation": {
            **trace.generation,
            "answer_type": AnswerType(trace.answer.type).value,
            "confidence": trace.answer.confidence,
            "prompt": trace.prompt,
        },
        "timings_ms": dict(trace.timings_ms),
        "degraded": list(trace.degraded),
    }


def add_user_text(text: str, source: str = "user text") -> int:
    """Add a text entry, wait until it can be found, and return its document id."""
    return EvoRAG().add_user_text(text, source)


def get_all_data() -> list[dict[str, Any]]:
    """Return id, text, source and version of every document that is shown."""
    return EvoRAG().get_all_data()


def update_document(doc_id: int | str, text: str) -> int:
    """Make ``text`` the next version of a document and return the version's number."""
    return EvoRAG().update_document(doc_id, text)


def delete_document(doc_id: int | str) -> None:
    """Take a document out of every answer."""
    EvoRAG().delete_document(doc_id)
