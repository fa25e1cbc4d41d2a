"""What a killed process was writing is removed at the next start; what the catalogue never noted is not."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from pathlib import Path

import pytest

import core
from core.blobs.orphans import UnclaimedBlobs
from core.catalog import FileKind
from core.errors import InvalidInput, StoreUnavailable
from tests.builders import add, knowledge_base


def put(kb: core.KnowledgeBase, folder: Path, data: bytes, *, announced: bool = True) -> str:
    source, sha256 = folder / "source", hashlib.sha256(data).hexdigest()
    source.write_bytes(data)
    if announced:
        unclaimed(kb).announce([sha256])
    kb._blobs.put(source, sha256)
    return sha256


def unclaimed(kb: core.KnowledgeBase) -> UnclaimedBlobs:
    return UnclaimedBlobs(kb.catalog, kb._blobs, kb._pins)


def swept(kb: core.KnowledgeBase) -> int:
    return unclaimed(kb).sweep(threading.Event())


def kept(kb: core.KnowledgeBase, sha256: str) -> bool:
    return sha256 in kb._blobs.names()


def test_what_a_killed_process_was_writing_is_removed_at_the_next_start(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        add(kb, "a", "Second text.")
        orphan = put(kb, tmp_path, b"nobody's")
    with knowledge_base(tmp_path) as kb:
        assert not kept(kb, orphan)
        assert [kb.text_of("a.txt", number) for number in (1, 2)] == ["First text.", "Second text."]
        assert swept(kb) == 0


def test_what_the_catalogue_never_noted_stays_and_is_listed(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        stranger = put(kb, tmp_path, b"somebody's original", announced=False)
        (tmp_path / "data" / "transfers" / "half").write_bytes(b"half of an upload")
        (tmp_path / "data" / "recordings" / "spikes.pt").write_bytes(b"a recording")
    for _ in range(2):
        with knowledge_base(tmp_path) as kb:
            assert swept(kb) == 0 and kept(kb, stranger)
            found = kb.check_files()
            assert [(each.kind, each.name, each.size_bytes) for each in found.unnamed_files] == [
                ("blob", stranger, 19),
                ("transfer", "half", 17),
                ("recording", "spikes", 11),
            ]
            assert (found.unnamed, found.missing, found.is_sound) == (3, 0, True)


def test_original_that_was_there_before_outlives_an_upload_of_the_same_bytes_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        stranger = put(kb, tmp_path, b"The text of an older catalogue.", announced=False)

        def refusing(*_: object) -> None:
            raise InvalidInput("It is not taken.")

        monkeypatch.setattr(kb.catalog.documents, "claim_many", refusing)
        with pytest.raises(InvalidInput):
            kb.add_text("a", "The text of an older catalogue.")
        assert kept(kb, stranger)
        with pytest.raises(InvalidInput):
            kb.add_text("b", "Another text.")
        assert set(kb._blobs.names()) == {stranger}
        assert kb.catalog.leftovers.noted(FileKind.BLOB) == set()


def test_what_an_upload_holds_stays(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        held = put(kb, tmp_path, b"about to be claimed")
        with kb._pins.held(held):
            assert swept(kb) == 0 and kept(kb, held)
        assert swept(kb) == 1 and not kept(kb, held)


def test_what_is_claimed_is_no_leftover(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "Shown once.")
        kb.add_texts([(f"t{at}", "", f"Text {at}.") for at in range(100)])
        kb.add_file("b.txt", io.BytesIO(b"A file."))
        assert kb.catalog.leftovers.noted(FileKind.BLOB) == set()


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


def test_missing_originals_are_named(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "First text.")
        kb.original("a.txt", 1)[0].unlink()
        found = kb.check_files()
        assert [(each.doc_key, each.version) for each in found.missing_files] == [("a.txt", 1)]
        assert (found.expected, found.missing, found.is_sound) == (1, 1, False)


def test_originals_that_cannot_be_listed_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knowledge_base(tmp_path) as kb:

        def away() -> None:
            raise StoreUnavailable("The store of the originals does not answer.")

        monkeypatch.setattr(kb._blobs, "names", away)
        found = kb.check_files()
        assert found.error == "The store of the originals does not answer." and not found.is_sound
