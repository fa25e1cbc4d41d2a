"""Conversations: questions that follow each other, each the own of whoever began it."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import TYPE_CHECKING

from core.access import needs
from core.errors import Conflict, EvoRAGError, InvalidInput
from core.model import Conversation, Query, Role, Trace, Turn, WritingStep
from core.model.codec import to_dict
from core.query.conversations.follow_up import Earlier
from core.query.conversations.markdown import as_markdown
from core.query.conversations.rewrite import StandaloneRewriter
from core.query.understand.understanding import StandaloneQuestion
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog import Catalog

MOST_LISTED = 10_000
MOST_TURNS = 1_000
TITLE_CHARS = 200
FORMS = ("md", "json")
_LAST = 8

Several = list[Conversation]
Turns = list[Turn]


class Conversations:
    """The conversations of one catalogue; everyone sees their own, administrators see all."""

    def __init__(self, catalog: Catalog, rewriter: StandaloneRewriter) -> None:
        self._catalog = catalog
        self._rewriter = rewriter

    @needs(Role.READER)
    def list(self, limit: int = 100, before: str = "", search: str = "") -> Several:
        """Return conversations, those that were gone on with last first, from the one after ``before`` on.

        Each word of ``search`` stands in the title, or all of them in one of the questions. Raises: ``NotFound`` where
        there is no conversation ``before`` any more.
        """
        return self._catalog.conversations.list(min(max(limit, 0), MOST_LISTED), before, search)

    @needs(Role.READER)
    def get(self, conversation_id: str) -> Conversation:
        """Raises: ``NotFound``."""
        return self._catalog.conversations.get(conversation_id)

    @needs(Role.READER)
    def turns(self, conversation_id: str) -> Turns:
        """Return the questions of a conversation, oldest first. Raises: ``NotFound``."""
        return self._catalog.conversations.turns(conversation_id)

    @needs(Role.READER)
    def create(self, title: str = "") -> Conversation:
        """Begin a conversation; one without a title is named after its first question. Raises: ``InvalidInput``."""
        return self._catalog.conversations.create(_title(title))

    @needs(Role.READER)
    def begin(self, trace_id: str) -> Conversation:
        """Begin a conversation with a question that was asked by itself, or return the one that it belongs to.

        Raises: ``NotFound``.
        """
        return self._catalog.conversations.begin(trace_id)

    @needs(Role.READER)
    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Raises: ``NotFound``; ``InvalidInput`` for a title that is empty or too long."""
        named = _title(title)
        if not named:
            raise InvalidInput("A conversation has a name.", remedy="Type one.")
        return self._catalog.conversations.rename(conversation_id, named)

    @needs(Role.READER)
    def delete(self, conversation_id: str) -> None:
        """Forget a conversation; its questions stay in the history without it. Raises: ``NotFound``."""
        self._catalog.conversations.delete(conversation_id)

    @needs(Role.READER)
    def export(self, conversation_id: str, form: str = "md") -> str:
        """Return a conversation with its answers and what they cite, as Markdown or JSON.

        Raises: ``NotFound``, ``InvalidInput`` for another form.
        """
        if form not in FORMS:
            raise InvalidInput(f"A conversation is exported as {' or '.join(FORMS)}.")
        conversation = self.get(conversation_id)
        told = [(turn, self._trace(turn)) for turn in self.turns(conversation_id)]
        if form == "md":
            return as_markdown(conversation, told)
        turns = [
            {
                **to_dict(turn.summary),
                "number": turn.number,
                "standalone": turn.standalone,
                "is_purged": turn.is_purged,
                "citations": to_dict(trace.answer.citations) if trace else [],
            }
            for turn, trace in told
        ]
        return json.dumps({"conversation": to_dict(conversation), "turns": turns}, ensure_ascii=False, indent=2)

    def standalone(self, query: Query) -> Generator[WritingStep, None, StandaloneQuestion | None]:
        """Return the question of a query as it stands without its conversation; None where it does already.

        Yields what ``StandaloneRewriter.standalone`` yields. Raises: ``NotFound``; ``Conflict`` where the conversation
        is somebody else's or takes no further question.
        """
        self._catalog.conversations.check_own(query.conversation_id)
        turns = self._catalog.conversations.turns(query.conversation_id, _LAST)
        if turns and turns[-1].number >= MOST_TURNS:
            raise Conflict(f"A conversation has at most {MOST_TURNS:,} questions.", remedy="Begin a new one.")
        if not turns:
            return None
        earlier = [Earlier(turn.summary.question, turn.standalone) for turn in turns[:-1]]
        trace = self._trace(turns[-1])
        titles = dict.fromkeys(_titles(trace)) if trace is not None else {}
        earlier.append(Earlier(turns[-1].summary.question, turns[-1].standalone, tuple(titles)))
        return (yield from self._rewriter.standalone(query.text, earlier))

    def _trace(self, turn: Turn) -> Trace | None:
        if turn.is_purged:
            return None
        try:
            return self._catalog.questions.get(turn.summary.id)
        except EvoRAGError:
            return None


def _titles(trace: Trace) -> list[str]:
    """Return what the cited documents are called: their titles, or the names of their files without the ending."""
    named = {hit.placed.doc_key: hit.placed.title or hit.placed.name.rpartition(".")[0] for hit in trace.hits}
    return [named[cited.doc_key] for cited in trace.answer.citations if named.get(cited.doc_key)]


def _title(given: str) -> str:
    title = " ".join(given.replace("\0", " ").split()) if isinstance(given, str) else ""
    if len(title) > TITLE_CHARS or not is_storable(title) or not isinstance(given, str):
        raise InvalidInput(f"A conversation's name is a text of at most {TITLE_CHARS} characters.")
    return title
