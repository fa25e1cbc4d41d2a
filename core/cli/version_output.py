"""How versions, publications and what they change in the answers are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from core.cli import output
from core.model import Evidence, Impact, Publication, SavedQuestion, Version

_ANSWER_CHARS = 80


def print_versions(versions: Iterable[Version]) -> None:
    """Write one line a version: whether it is shown, how it differs from the one before, who made it and when."""
    header = (
        *("version", "state", "label", "bytes", "chunks", "kept", "new", "gone", "stored", "by", "publish at", "note"),
    )
    output.print_rows(header, map(_version_row, versions))


def end_version(version: Version, *, as_json: bool) -> None:
    """Print the one version that a command changed."""
    if as_json:
        return output.print_json(version)
    print_versions([version])


def _version_row(version: Version) -> list[object]:
    counts = (version.chunk_count, version.chunks_kept, version.chunks_added, version.chunks_removed)
    times = (_time(version.created_at), version.actor or "-", _time(version.publish_at))
    return [version.number, _state(version), version.label or "-", version.size_bytes, *counts, *times, version.note]


def _state(version: Version) -> str:
    """Return the one word that matters of a version."""
    if version.is_published:
        return "shown"
    return "draft" if version.is_draft and version.state == "ready" else version.state


def in_words(version: Version) -> str:
    """Return a version in one line of words."""
    label = f" “{version.label}”" if version.label else ""
    return (
        f"version {version.number}{label} ({_state(version)}), {version.file_name}, {version.size_bytes:,} bytes, "
        f"chunks: {version.chunk_count:,}, stored {_time(version.created_at)}"
    )


def print_publications(publications: Iterable[Publication]) -> None:
    """Write one line a publication."""
    header = ("sequence", "at", "document", "action", "shows version", "about version", "by", "note")
    output.print_rows(header, map(_publication_row, publications))


def _publication_row(done: Publication) -> list[object]:
    versions = (done.version or "-", done.subject or "-")
    return [done.seq, _time(done.at), done.doc_key, done.action, *versions, done.actor or "-", done.note]


def end_publication(done: Publication, *, as_json: bool) -> None:
    """Print the one publication that a command made."""
    if as_json:
        return output.print_json(done)
    print_publications([done])


def print_questions(questions: Iterable[SavedQuestion]) -> None:
    """Write one line a saved question."""
    rows = (
        [
            question.id,
            _time(question.created_at),
            question.owner or "-",
            "all" if question.is_shared else "owner",
            question.text,
        ]
        for question in questions
    )
    output.print_rows(("question", "saved", "owner", "seen by", "text"), rows)


def print_impacts(impacts: Sequence[Impact]) -> None:
    """Write one line a question: whether its answer changes, both answers, and how much of the evidence does."""
    header = ("answer", "question", "now", "then", "evidence")
    output.print_rows(header, map(_impact_row, impacts))
    changed = sum(impact.comparison.is_changed for impact in impacts)
    output.note(f"{changed} of {len(impacts)} answers would change.")


def _impact_row(impact: Impact) -> list[object]:
    comparison = impact.comparison
    answers = [" ".join(trace.answer.text.split())[:_ANSWER_CHARS] for trace in (comparison.old, comparison.new)]
    counts = [(kind, sum(change.evidence is kind for change in comparison.evidence)) for kind in Evidence]
    evidence = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    return ["changes" if comparison.is_changed else "stays", impact.question.text, *answers, evidence or "-"]


def _time(moment: datetime | None) -> str:
    return "-" if moment is None else moment.isoformat(timespec="seconds")
