"""What a killed process had put down without a name is removed at the next start, and nothing else is."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from pathlib import Path

import core
from core.ingest.orphans import remove_orphans
from tests.builders import add, knowledge_base


def put(kb: core.KnowledgeBase, folder: Path, data: bytes) -> str:
    source, sha256 = folder / "source", hashlib.sha256(data).hexdigest()
    source.write_bytes(data)
    kb._blobs.put(source, sha256)
    return sha256


def swept(kb: core.KnowledgeBase) -> int:
    return remove_orphans(kb.catalog, kb._blobs, kb._purge._holds, threading.Event())


def kept(kb: core.KnowledgeBase, sha256: str) -> bool:
    return sha256 in kb._blobs.names()


def test_an_orphan_is_removed_at_the_next_start(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        add(kb, "a", "Second text.")
        orphan = put(kb, tmp_path, b"nobody's")
    with knowledge_base(tmp_path) as kb:
        assert not kept(kb, orphan)
        assert [kb.text_of("a.txt", number) for number in (1, 2)] == ["First text.", "Second text."]
        assert swept(kb) == 0


def test_what_an_upload_holds_stays(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        held = put(kb, tmp_path, b"about to be claimed")
        with kb._purge._holds.held(held):
            assert swept(kb) == 0 and kept(kb, held)
        assert swept(kb) == 1 and not kept(kb, held)


def test_what_a_draft_and_a_deleted_document_have_stays(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "Shown once.")
        kb.add_text("b", "Never shown.", draft=True)
        kb.work_off()
        kb.delete("a.txt")
        assert swept(kb) == 0
        kb.restore("a.txt")
        assert kb.text_of("b.txt", 1) == "Never shown."


def test_the_bytes_of_an_archive_that_waits_stay(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("member.txt", "A member.")
    with knowledge_base(tmp_path) as kb:
        kb.add_archive("all.zip", io.BytesIO(packed.getvalue()))
        assert swept(kb) == 0
        kb.work_off()
        assert kb.text_of("member.txt") == "A member."
