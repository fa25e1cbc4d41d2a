"""Originals and parsed texts that are deleted, cut, emptied or flipped: said, never handed out, and whole again."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import core
from core.blobs.scrub import Scrub
from core.cli.transfer import import_from
from core.errors import Damaged, InvalidInput, NotFound
from core.model import FileFault, FilesCheck
from tests.builders import add, knowledge_base, settings

TEXT = "The fee for late return is 12 euros."


def deleted(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


DAMAGES = pytest.mark.parametrize("damage", [deleted, cut, emptied, flipped])
Damage = Callable[[Path], None]


def blob(kb: core.KnowledgeBase, sha256: str) -> Path:
    return kb.settings.data_dir / "blobs" / sha256[:2] / sha256


def original(kb: core.KnowledgeBase, key: str, version: int = 1) -> Path:
    return blob(kb, next(each.sha256 for each in kb.versions(key) if each.number == version))


def parsed(kb: core.KnowledgeBase, key: str) -> Path:
    return blob(kb, str(kb.catalog.documents.parsed_sha256(kb.version(key, 1).id)))


def deep(kb: core.KnowledgeBase) -> FilesCheck:
    job_id = kb.repair(deep=True)
    kb.work_off()
    found = kb.store_report(job_id).files
    assert found is not None
    return found


def originals(kb: core.KnowledgeBase) -> str:
    return next(store.state for store in kb.health().stores if store.name == "originals")


@DAMAGES
def test_damaged_original_is_an_error_and_never_other_bytes(kb: core.KnowledgeBase, damage: Damage) -> None:
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.work_off()
    assert kb.original("fees.md", 1)[0].read_bytes() == TEXT.encode()
    damage(original(kb, "fees.md"))
    with pytest.raises(NotFound) as caught:
        kb.original("fees.md", 1)
    assert "pload" in caught.value.remedy
    with pytest.raises(NotFound):
        kb.download("fees.md", 1, kb.settings.data_dir.parent / "copy")
    assert kb.text_of("fees.md") == TEXT
    assert [hit.placed.name for hit in core.EvoRAG(kb=kb).search("late return fee").hits] == ["fees.md"]


@DAMAGES
def test_right_bytes_heal_every_version_that_has_them(kb: core.KnowledgeBase, damage: Damage) -> None:
    for name in ("fees.md", "copy.md"):
        kb.add_file(name, io.BytesIO(TEXT.encode()))
    kb.work_off()
    damage(original(kb, "copy.md"))
    assert not deep(kb).is_sound
    assert originals(kb) == "damaged"
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.work_off()
    for name in ("fees.md", "copy.md"):
        assert kb.original(name, 1)[0].read_bytes() == TEXT.encode()
        assert len(kb.versions(name)) == 1
    assert originals(kb) == "ok"
    assert deep(kb).is_sound


@DAMAGES
def test_deep_check_names_what_is_damaged(kb: core.KnowledgeBase, damage: Damage) -> None:
    for at in range(4):
        kb.add_file(f"fees{at}.md", io.BytesIO(f"The fee number {at} is {at + 10} euros.".encode()))
    kb.work_off()
    assert (deep(kb).verified, deep(kb).is_sound) == (8, True)
    damage(original(kb, "fees2.md"))
    found = deep(kb)
    if damage is deleted:
        assert [each.doc_key for each in found.missing_files] == ["fees2.md"]
        assert found.damaged == 0
    else:
        assert [(each.doc_key, each.kind, each.fault) for each in found.damaged_files] == [
            ("fees2.md", "original", FileFault.DAMAGED)
        ]
    assert kb.check_files().is_sound is False
    assert originals(kb) == "damaged"


def test_deep_check_of_one_store_is_refused(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        kb.repair("vector", deep=True)


@DAMAGES
def test_damaged_parsed_text_is_made_anew_as_soon_as_somebody_opens_it(kb: core.KnowledgeBase, damage: Damage) -> None:
    kb.add_file("fees.md", io.BytesIO(f"# Fees\n\n{TEXT}".encode()))
    kb.work_off()
    path = parsed(kb, "fees.md")
    before = path.read_bytes()
    damage(path)
    assert TEXT in kb.text_of("fees.md")
    assert path.read_bytes() == before
    damage(path)
    assert [each.kind for each in deep(kb).damaged_files] == ["parsed"]
    job_id = kb.repair(dry_run=False)
    kb.work_off()
    files = kb.store_report(job_id).files
    assert files is not None and files.is_sound
    assert path.read_bytes() == before


def test_parsed_text_whose_original_is_damaged_too_asks_for_the_original(kb: core.KnowledgeBase) -> None:
    content = f"# Fees\n\n{TEXT}".encode()
    kb.add_file("fees.md", io.BytesIO(content))
    kb.work_off()
    flipped(original(kb, "fees.md"))
    flipped(parsed(kb, "fees.md"))
    with pytest.raises(Damaged) as caught:
        kb.text_of("fees.md")
    assert "Upload the same file again" in caught.value.remedy
    kb.add_file("fees.md", io.BytesIO(content))
    assert TEXT in kb.text_of("fees.md")


def scrub(kb: core.KnowledgeBase, share: float = 1.0) -> Scrub:
    return Scrub(kb.catalog, kb._reader._blobs, share, timedelta(days=7), kb.closing)  # type: ignore[arg-type]


@DAMAGES
def test_scrub_finds_damage_makes_texts_anew_and_goes_round_again(kb: core.KnowledgeBase, damage: Damage) -> None:
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.add_file("other.md", io.BytesIO(b"Another text of its own."))
    kb.work_off()
    damage(original(kb, "fees.md"))
    damage(parsed(kb, "other.md"))
    scrub(kb).go_on()
    assert list(kb.catalog.damages.noted()) == [original(kb, "fees.md").name]
    assert originals(kb) == "damaged"
    original(kb, "fees.md").write_bytes(TEXT.encode())
    scrub(kb).go_on()
    assert originals(kb) == "damaged", "a round that has ended is not due again"
    scrub(kb).round()
    assert originals(kb) == "ok"


def test_scrub_rests_for_its_share_of_the_time_and_goes_on_where_it_was(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(kb, "fees", TEXT)
    waits: list[float] = []
    monkeypatch.setattr(kb.closing, "wait", lambda seconds: waits.append(seconds) and False)
    scrub(kb, 0.05)._rest(0.01)
    assert waits == [pytest.approx(0.19)]
    read: list[str] = []
    kb.catalog.damages.scrubbed_to(max(kb._blobs.names()), "2026-01-01T00:00:00+00:00")
    monkeypatch.setattr("core.blobs.scrub.BlobVerifier.verify", lambda _, name, pace: read.append(name))
    scrub(kb).round()
    assert read == []
    scrub(kb).round()
    assert read == sorted(kb._blobs.names())


def test_purged_blob_is_noted_no_longer(kb: core.KnowledgeBase) -> None:
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.work_off()
    flipped(original(kb, "fees.md"))
    deep(kb)
    kb.delete("fees.md")
    kb.purge("fees.md")
    assert originals(kb) == "ok"
    assert deep(kb).is_sound


@pytest.mark.parametrize("damage", [cut, emptied, flipped])
def test_backup_marks_what_it_could_not_read_whole(kb: core.KnowledgeBase, damage: Damage) -> None:
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.work_off()
    path = original(kb, "fees.md")
    damage(path)
    with tarfile.open(fileobj=io.BytesIO(b"".join(kb.backup()))) as archive:
        names = archive.getnames()
        manifest = archive.extractfile(names[-1])
        assert manifest is not None
        assert f'"absent":["{path.name}"]'.encode() in manifest.read()


def test_what_was_found_does_not_travel_in_a_backup(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
    kb.work_off()
    flipped(original(kb, "fees.md"))
    deep(kb)
    assert kb.catalog.damages.noted()
    import_from(settings(tmp_path / "other"), io.BytesIO(b"".join(kb.backup())))
    with knowledge_base(tmp_path / "other") as other:
        assert other.text_of("fees.md") == TEXT
        # That its original did not come is found anew.
        assert set(other.catalog.damages.noted().values()) == {FileFault.MISSING}
        assert [each.doc_key for each in deep(other).missing_files] == ["fees.md"]


def test_damaged_file_is_told_over_http(tmp_path: Path) -> None:
    from app.main import create_app

    with knowledge_base(tmp_path) as kb:
        kb.add_file("fees.md", io.BytesIO(TEXT.encode()))
        kb.work_off()
        flipped(original(kb, "fees.md"))
        client = create_app(kb).server.test_client()
        answer = client.get("/api/v1/documents/fees.md/versions/1/original")
        assert answer.status_code == 404
        assert answer.json["code"] == "damaged"
        assert TEXT.encode() not in answer.data
        health = client.get("/health")
        assert (health.status_code, health.json["status"]) == (200, "degraded")


@pytest.mark.parametrize("name", ["summary.json", "rows.npy", "marks.jsonl", "new.txt"])
@DAMAGES
def test_damaged_comparison_is_made_again(tmp_path: Path, damage: Damage, name: str) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "fees", "The fee is 12 euros.\nThe rest stays as it was.")
        add(kb, "fees", "The fee is 14 euros.\nThe rest stays as it was.")
        before = [str(row) for row in kb.compare("fees.txt", 1, 2).rows(0, 10)]
    [folder] = (tmp_path / "data" / "comparisons").iterdir()
    damage(folder / name)
    with knowledge_base(tmp_path) as kb:
        assert [str(row) for row in kb.compare("fees.txt", 1, 2).rows(0, 10)] == before
