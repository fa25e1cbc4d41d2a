"""A conversation as Markdown: every question with its answer and what that cites; nothing in it is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from core.model import AnswerType, Citation, Conversation, Trace, Turn

_MARKUP = re.compile(r"[\\`*<>|~_]|!(?=\[)|(?<=\])[(:\[]")
_BLOCK = re.compile(r"^(\s*)([#+=>-]|\d+(?=[.)]))", re.MULTILINE)
_PURGED = "*The text that this answer quoted was purged; its account is gone.*"
_NOTHING = "*The documents do not tell.*"
_TENTATIVE = "not certain"


def as_markdown(conversation: Conversation, turns: Sequence[tuple[Turn, Trace | None]]) -> str:
    """Return the conversation as a Markdown document."""
    parts = [f"# {plain(conversation.title) or 'Conversation'}", f"{_moment(conversation.created_at)}"]
    for turn, trace in turns:
        summary = turn.summary
        parts.append(f"## {turn.number}. {plain(' '.join(summary.question.split()))}")
        if turn.standalone:
            parts.append(f"*Understood as: {plain(turn.standalone)}*")
        parts.append(plain(summary.answer) if summary.answer else _nothing(summary.answer_type, turn))
        if turn.is_purged and summary.answer:
            parts.append(_PURGED)
        cited = trace.answer.citations if trace is not None else ()
        if cited:
            parts.append("\n".join(_source(citation) for citation in cited))
        told = [_moment(summary.asked_at), summary.answer_type.value, *([_TENTATIVE] if summary.is_tentative else [])]
        parts.append(" · ".join(told))
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Return a text as Markdown that shows it as it is: no markup, no HTML, no link and no image comes of it."""
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", text))


def _nothing(kind: AnswerType, turn: Turn) -> str:
    return _PURGED if turn.is_purged else _NOTHING if kind is AnswerType.INSUFFICIENT else ""


def _source(citation: Citation) -> str:
    return (
        f"- \\[{citation.number}\\] {plain(citation.name)}, version {citation.version}: {plain(_line(citation.text))}"
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")
