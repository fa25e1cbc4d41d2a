"""No model embeds a text twice: not for another document, version or upload, and not for what is built beside."""

from __future__ import annotations

import io
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

import core
from core.adapters.embedding.hash_embedder import HashEmbedder
from core.catalog.documents.embeddings import Embeddings
from core.catalog.schema import chunks
from core.cli.transfer import import_from
from core.indexes import projector
from core.model import GenerationState, JobState
from core.ports import Progress, Vector
from tests.builders import add, begin, knowledge_base, settings
from tests.indexes import assert_indexes_follow_the_catalogue

OTHER = "hash:64"
SECTIONS = [f"# Gate {number}\n\n" + f"turquoise{number} " * 120 for number in range(90)]
Before = Callable[[str, Sequence[str]], None]


class Embedded:
    """Counts what each model embeds as passages, and calls ``before`` each time with the model and the texts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times: Counter[tuple[str, str]] = Counter()
        self.before: Before = lambda model, texts: None
        embed = HashEmbedder.embed_passages

        def counting(own: HashEmbedder, texts: Sequence[str], progress: Progress | None = None) -> Vector:
            self.before(own.id, texts)
            self.times.update((own.id, text) for text in texts)
            return embed(own, texts, progress)

        monkeypatch.setattr(HashEmbedder, "embed_passages", counting)

    def by(self, model: str) -> int:
        return sum(count for (each, _), count in self.times.items() if each == model)

    def twice(self) -> list[tuple[str, str]]:
        return [what for what, count in self.times.items() if count > 1]


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedded]:
    yield Embedded(monkeypatch)


def upload(kb: core.KnowledgeBase, name: str, sections: Sequence[str]) -> str:
    return str(kb.add_file(name, io.BytesIO("\n\n".join(sections).encode())).job_id)


def test_what_documents_versions_and_uploads_share_is_embedded_once(kb: core.KnowledgeBase, embedded: Embedded) -> None:
    for sections in (SECTIONS[:40], SECTIONS[10:50], SECTIONS[:40]):
        upload(kb, "gates.md", sections)
        kb.work_off()
    upload(kb, "doors.md", SECTIONS[:50])
    kb.work_off()
    kb.delete("gates.md")
    upload(kb, "gates.md", SECTIONS[5:45])
    kb.work_off()
    # The title is in the text that is embedded: only documents of one title share any.
    kb.add_text("first", "\n\n".join(SECTIONS[:20]), title="Gates")
    kb.work_off()
    before = len(embedded.times)
    kb.add_text("second", "\n\n".join(SECTIONS[:20]), title="Gates")
    kb.work_off()
    assert len(embedded.times) == before and not embedded.twice()
    assert embedded.by("hash-384") == len(embedded.times)
    assert_indexes_follow_the_catalogue(kb)


def test_what_is_restored_from_a_backup_is_not_embedded_again(tmp_path: Path, embedded: Embedded) -> None:
    with knowledge_base(tmp_path / "one") as kb:
        upload(kb, "gates.md", SECTIONS)
        kb.work_off()
        archive = b"".join(kb.backup())
    before = len(embedded.times)
    begin(tmp_path / "two" / "data")
    import_from(settings(tmp_path / "two"), io.BytesIO(archive))
    with knowledge_base(tmp_path / "two") as restored:
        upload(restored, "gates.md", SECTIONS[10:])
        restored.work_off()
        assert_indexes_follow_the_catalogue(restored)
    assert before >= len(SECTIONS)
    assert len(embedded.times) == before and not embedded.twice()


def test_a_document_that_a_switch_meets_half_embedded_is_not_embedded_by_two_at_once(
    kb: core.KnowledgeBase, embedded: Embedded
) -> None:
    add(kb, "hours", "The museum opens at nine.")
    kb.generations.build(OTHER)
    kb.work_off()
    writing: list[threading.Thread] = []

    def meanwhile(model: str, texts: Sequence[str]) -> None:
        if model == "hash-384":
            if kb.generations.list()[1].state is GenerationState.READY:
                kb.generations.switch(2)
        elif not writing and any(("hash-384", text) in embedded.times for text in texts):
            # The lane begins with what the former model has embedded, and rows of this wait to be written as well.
            writing.append(threading.Thread(target=kb._projector.flush))
            writing[0].start()
            writing[0].join(1.0)
            assert writing[0].is_alive(), "nobody waits for what the lane embeds"

    embedded.before = meanwhile
    job_id = upload(kb, "gates.md", SECTIONS)
    kb.work_off()
    writing[0].join(30.0)
    assert kb.job(job_id).state is JobState.DONE
    assert not embedded.twice()
    assert_indexes_follow_the_catalogue(kb)


def test_what_somebody_else_never_gives_up_is_embedded_for_a_generation_in_the_end(
    kb: core.KnowledgeBase, embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projector, "LOOK_AGAIN_S", 0.01)
    monkeypatch.setattr(projector, "PATIENCE_S", 0.2)
    add(kb, "hours", "The museum opens at nine.")
    with kb.catalog.database.read() as tx:
        hashes = list(tx.scalars(select(chunks.c.content_hash)))
    assert len(hashes) == 1
    with Embeddings(kb.catalog.database).claimed("hash-64", hashes):
        kb.generations.build(OTHER)
        kb.work_off()
    assert kb.generations.list()[1].state is GenerationState.READY
    assert embedded.by("hash-64") == 1
