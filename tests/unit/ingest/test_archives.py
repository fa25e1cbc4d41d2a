"""Archives become documents, whole or not at all; what is hostile in them is refused by what really comes out."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import core
from core.access import acting
from core.errors import ArchiveLimit, BadFilename, EmptyDocument, Encrypted, EvoRAGError, ParserFailed, TypeMismatch
from core.ingest.archives import archive_kind, child, store_archive
from core.ingest.archives.members import plan
from core.model import Job, JobKind, JobState, Principal, Role, Stage
from core.platform import failpoints
from tests import programs
from tests.builders import knowledge_base
from tests.unit.ingest import archive_files as made
from tests.unit.ingest.archive_files import TEXT, entry, tar_of, tarred, zipped

MANUALS = programs.place("/usr/share/debian-reference")


def unpacked(kb: core.KnowledgeBase, name: str, content: bytes, **filing: object) -> Job:
    upload = kb.add_archive(name, io.BytesIO(content), **filing)
    kb.work_off()
    return kb.job(str(upload.job_id))


def names(kb: core.KnowledgeBase) -> list[str]:
    return sorted(document.name for document in kb.documents())


def blobs(folder: Path) -> set[str]:
    return {path.name for path in (folder / "data" / "blobs").rglob("*") if path.is_file()}


@pytest.fixture
def quiet_points() -> Iterator[None]:
    yield
    failpoints.on_failpoint(None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manuals.zip", zipped({"pump.txt": TEXT, "valve.md": b"# Valve\n\n" + TEXT})),
        ("manuals.tar", tarred({"pump.txt": TEXT, "valve.md": b"# Valve\n\n" + TEXT}, "w:")),
        ("manuals.tgz", tarred({"pump.txt": TEXT, "valve.md": b"# Valve\n\n" + TEXT}, "w:gz")),
        ("Manuals.TAR.BZ2", tarred({"pump.txt": TEXT, "valve.md": b"# Valve\n\n" + TEXT}, "w:bz2")),
        ("manuals.tar.xz", tarred({"pump.txt": TEXT, "valve.md": b"# Valve\n\n" + TEXT}, "w:xz")),
    ],
)
def test_an_archive_becomes_documents_with_jobs_of_their_own(kb: core.KnowledgeBase, name: str, content: bytes) -> None:
    job = unpacked(kb, name, content, tags=("pumps",), note="from the maker")
    assert (job.kind, job.state, job.stage, job.done, job.total) == (
        JobKind.UNPACK, JobState.DONE, Stage.UNPACKING, 2, 2,
    )  # fmt: skip
    assert names(kb) == ["pump.txt", "valve.md"]
    assert kb.document("pump.txt").tags == ("pumps",)
    assert kb.versions("valve.md")[0].note == "from the maker"
    children = [each for each in kb.jobs() if each.parent_id == job.id]
    assert {child.state for child in children} == {JobState.DONE}
    assert len(children) == job.stage_counts["filed"] == 2


def test_the_bytes_of_an_archive_go_once_its_documents_are_there(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    unpacked(kb, "manuals.zip", zipped({"pump.txt": TEXT}))
    kept = {kb.versions("pump.txt")[0].sha256}
    assert kept < blobs(tmp_path)
    assert len(blobs(tmp_path)) == 2  # its bytes and its parsed text


def test_the_bytes_of_an_archive_stay_where_a_document_has_the_same(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    content = zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>", "pump.txt": TEXT})
    kb.add_file("same.docx", io.BytesIO(content))
    unpacked(kb, "same.zip", content)
    original, _ = kb.original("same.docx", 1)
    assert original.read_bytes() == content


def test_the_same_archive_again_changes_nothing(kb: core.KnowledgeBase) -> None:
    content = zipped({"pump.txt": TEXT, "valve.txt": TEXT * 2})
    unpacked(kb, "manuals.zip", content)
    again = unpacked(kb, "manuals.zip", content)
    assert (again.stage_counts["filed"], again.stage_counts["unchanged"]) == (0, 2)
    assert [len(kb.versions(name)) for name in names(kb)] == [1, 1]


def test_an_archive_that_waits_is_not_queued_twice(kb: core.KnowledgeBase) -> None:
    content = zipped({"pump.txt": TEXT})
    first, second = (kb.add_archive("manuals.zip", io.BytesIO(content)) for _ in range(2))
    assert first.job_id == second.job_id


def test_an_archive_that_waits_and_is_sent_to_be_published_after_all_is_published(kb: core.KnowledgeBase) -> None:
    content = zipped({"pump.txt": TEXT})
    first, second = (kb.add_archive("manuals.zip", io.BytesIO(content), draft=draft) for draft in (True, False))
    assert first.job_id != second.job_id
    kb.work_off()
    assert [(document.latest_version, document.published_version) for document in kb.documents()] == [(1, 1)]


def test_what_is_no_document_is_counted_and_named_in_the_log(kb: core.KnowledgeBase) -> None:
    job = unpacked(
        kb,
        "manuals.zip",
        zipped({
            "pump.txt": TEXT, "__MACOSX/._pump.txt": b"\x00\x05", "a/.DS_Store": b"x", "a/Thumbs.db": b"x",
            "program.exe": b"MZ", "inner.zip": zipped({"deep.txt": TEXT}), "empty.md": b"", "lie.pdf": b"no pdf",
            "bad\u202ename.txt": TEXT,
        }),
    )  # fmt: skip
    counts = job.stage_counts
    assert (job.state, counts["members"], counts["filed"]) == (JobState.DONE, 9, 1)
    assert (counts["skipped"], counts["refused"]) == (4, 4)
    told = {event.values["member"]: event.values["reason"] for event in kb.job_log(job.id) if "member" in event.values}
    assert told == {4: "unsupported_type", 5: "nested_archive", 6: "empty_document", 7: "type_mismatch",
                    8: "bad_filename"}  # fmt: skip


def test_files_of_one_name_get_their_folders_in_front(kb: core.KnowledgeBase) -> None:
    unpacked(kb, "m.zip", zipped({"install/guide.txt": TEXT, "use/en/Guide.txt": TEXT * 2, "other/alone.txt": TEXT}))
    assert names(kb) == ["alone.txt", "install - guide.txt", "use - en - Guide.txt"]


def test_names_stay_apart_whatever_the_folders_are_called() -> None:
    paths = ["a/b.txt", "a - b.txt", "c/b.txt", "./a/b.txt", "日本/b.txt", "x" * 200 + "/b.txt"]
    members = plan([(path, 1) for path in paths], 10)
    assert [member.name for member in members][:5] == [
        "a - b (2).txt", "a - b.txt", "c - b.txt", "a - b (3).txt", "日本 - b.txt",
    ]  # fmt: skip
    long = plan([("é" * 125 + "/b.txt", 1), ("é" * 125 + "/c/b.txt", 1)], 10)
    assert [member.name for member in long][1] == "c - b.txt"
    assert not any(member.refusal for member in members + long)


@pytest.mark.parametrize("encoding", ["cp932", "utf-8"])
def test_japanese_names_are_read_in_what_they_were_written_in(kb: core.KnowledgeBase, encoding: str) -> None:
    content = made.zip_in(
        encoding, {"手順/表とソース.txt": TEXT, "ポンプ取扱説明書.txt": TEXT * 2, "plain.txt": TEXT * 3}
    )
    unpacked(kb, "資料.zip", content)
    assert names(kb) == ["plain.txt", "ポンプ取扱説明書.txt", "表とソース.txt"]


@pytest.mark.long
def test_names_with_the_utf8_flag_and_western_ones_are_read(kb: core.KnowledgeBase) -> None:
    unpacked(kb, "a.zip", zipped({"取扱説明書.txt": TEXT}))
    unpacked(kb, "b.zip", made.zip_in("cp437", {"Größe der Düse.txt": TEXT * 2}))
    unpacked(kb, "c.tar.gz", tarred({"索引.txt": TEXT * 3}))
    assert names(kb) == ["Größe der Düse.txt", "取扱説明書.txt", "索引.txt"]


def test_an_archive_has_one_kind_by_its_name() -> None:
    assert [archive_kind(name) for name in ("a.ZIP", "b.tar.gz", "c.tgz", "d.txz", "e.docx", "f.gz", ".zip")] == [
        "zip", "gz", "gz", "xz", "", "", "",
    ]  # fmt: skip


@pytest.mark.long
@programs.needs("/usr/share/debian-reference")
def test_manuals_of_debian_are_unpacked(kb: core.KnowledgeBase) -> None:
    pages = [MANUALS / name for name in ("ch01.en.html", "ch02.en.html", "ch01.ja.html")]
    job = unpacked(kb, "debian.tar.gz", tarred({f"debian/{page.name}": page.read_bytes() for page in pages}))
    assert (job.state, names(kb)) == (JobState.DONE, sorted(page.name for page in pages))
    assert kb.document("ch01.ja.html").language == "ja"


LINK = tar_of([(entry("a.txt", len(TEXT)), TEXT), (entry("b.txt", 0, tarfile.SYMTYPE, "/etc/passwd"), b"")])
HARD_LINK = tar_of([(entry("a.txt", len(TEXT)), TEXT), (entry("b.txt", 0, tarfile.LNKTYPE, "a.txt"), b"")])
DEVICE = tar_of([(entry("a.txt", len(TEXT)), TEXT), (entry("b.txt", 0, tarfile.CHRTYPE), b"")], "w:")
BOMB = zipped({"bomb.txt": bytes(70 * 1024 * 1024)})

HOSTILE: list[tuple[str, str, Callable[[], bytes], type[EvoRAGError]]] = [
    ("place above", "a.zip", lambda: zipped({"ok.txt": TEXT, "../../x.txt": TEXT}), ArchiveLimit),
    ("place above, Windows", "a.zip", lambda: zipped({"ok.txt": TEXT, "..\\..\\x.txt": TEXT}), ArchiveLimit),
    ("absolute", "a.zip", lambda: zipped({"/etc/cron.d/x.txt": TEXT}), ArchiveLimit),
    ("drive", "a.zip", lambda: zipped({"C:\\x.txt": TEXT}), ArchiveLimit),
    ("folder above", "a.zip", lambda: zipped({"../": b"", "ok.txt": TEXT}), ArchiveLimit),
    ("link", "a.zip", made.zip_with_link, ArchiveLimit),
    ("link", "a.tar.gz", lambda: LINK, ArchiveLimit),
    ("hard link", "a.tar.gz", lambda: HARD_LINK, ArchiveLimit),
    ("device", "a.tar", lambda: DEVICE, ArchiveLimit),
    ("place above", "a.tar", lambda: tarred({"../x.txt": TEXT}, "w:"), ArchiveLimit),
    ("absolute", "a.tgz", lambda: tarred({"/x.txt": TEXT}), ArchiveLimit),
    ("overlap", "a.zip", made.overlapping, ArchiveLimit),
    ("bomb", "a.zip", lambda: BOMB, ArchiveLimit),
    ("bomb that tells of ten bytes", "a.zip", lambda: made.with_size(BOMB, 10), ArchiveLimit),
    ("bomb", "a.tar.gz", lambda: tarred({"bomb.txt": bytes(70 * 1024 * 1024)}), ArchiveLimit),
    ("huge file that is not there", "a.tar.gz", lambda: huge_header(), ArchiveLimit),
    ("too many entries", "a.zip", lambda: zipped({f"{n}.txt": b"x" for n in range(101)}), ArchiveLimit),
    ("too many entries", "a.tar", lambda: tarred({f"{n}.txt": b"x" for n in range(101)}, "w:"), ArchiveLimit),
    ("million entries", "a.zip", lambda: made.zip64_end(1_000_000), ArchiveLimit),
    ("hidden entries", "a.zip", lambda: made.many_entries(50_000, 10), ArchiveLimit),
    ("password", "a.zip", lambda: made.encrypted(zipped({"a.txt": TEXT})), Encrypted),
    ("shorter than it tells", "a.zip", lambda: made.with_size(zipped({"a.txt": TEXT}), 999), ParserFailed),
    ("cut off", "a.zip", lambda: zipped({"a.txt": TEXT})[:-30], ParserFailed),
    ("cut off", "a.tar.gz", lambda: tarred({"a.txt": TEXT})[:-30], ParserFailed),
    ("cut off", "a.tar", lambda: tarred({"a.txt": TEXT * 99}, "w:")[:2048], ParserFailed),
    ("damaged in the middle", "a.tar", lambda: damaged_tar(), ParserFailed),
    ("no documents", "a.zip", lambda: zipped({"a.exe": b"MZ", "b.zip": b"PK"}), EmptyDocument),
    ("another thing", "a.zip", lambda: b"%PDF-1.7 " + TEXT, TypeMismatch),
    ("another thing", "a.tar.gz", lambda: zipped({"a.txt": TEXT}), TypeMismatch),
    ("another thing", "a.tar", lambda: TEXT * 20, TypeMismatch),
    ("bad name", "a\0.zip", lambda: zipped({"a.txt": TEXT}), BadFilename),
]  # fmt: skip


def huge_header() -> bytes:
    info = entry("a.txt", 1 << 40)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        assert archive.fileobj is not None
        archive.fileobj.write(info.tobuf())
    return buffer.getvalue()


def damaged_tar() -> bytes:
    content = bytearray(tarred({"a.txt": TEXT, "b.txt": TEXT}, "w:"))
    content[1024 + 10] ^= 0xFF
    return bytes(content)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "build", "kind"), [row[1:] for row in HOSTILE], ids=[" ".join(r[:2]) for r in HOSTILE]
)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str, build: Callable[[], bytes], kind: type[EvoRAGError]
) -> None:
    with knowledge_base(tmp_path, archive_members=100) as kb:
        with pytest.raises(kind):
            kb.add_archive(name, io.BytesIO(build()))
        kb.work_off()
        assert (kb.documents(), kb.jobs(), blobs(tmp_path)) == ([], [], set())
    assert not list((tmp_path / "data" / "incoming").iterdir())
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(("x", "passwords", "b.txt"))]


def test_a_lie_found_only_while_unpacking_files_nothing(
    kb: core.KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{number}.txt": TEXT * 10_000 for number in range(4)}
    content = made.with_size(zipped({**files, "last.txt": TEXT}, zipfile.ZIP_STORED), 10)
    monkeypatch.setattr(store_archive, "_LOOK_S", -1.0)
    monkeypatch.setattr(child, "_SLICE_S", 0.0)
    job = unpacked(kb, "a.zip", content)
    assert job.error is not None
    assert (job.state, job.error["code"], job.error["status"]) == (JobState.FAILED, "archive_limit", 422)
    assert (kb.documents(), blobs(tmp_path)) == ([], set())


@pytest.mark.long
def test_an_archive_that_a_killed_process_left_goes_on_where_it_stood(tmp_path: Path, quiet_points: None) -> None:
    content = zipped({f"{number:02}.txt": TEXT * (number + 1) for number in range(40)})
    with knowledge_base(tmp_path) as kb:
        upload = kb.add_archive("many.zip", io.BytesIO(content), tags=("pumps",))
        failpoints.on_failpoint(die_at("archives.members.filed", 2))
        with pytest.raises(KeyboardInterrupt):
            kb.work_off()
        failpoints.on_failpoint(None)
        assert kb.job(str(upload.job_id)).state is JobState.RUNNING
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        job = kb.job(str(upload.job_id))
        assert (job.state, job.done, job.stage_counts["filed"]) == (JobState.DONE, 40, 40)
        assert {len(kb.versions(document.doc_key)) for document in kb.documents()} == {1}
        assert len(kb.documents()) == 40


def die_at(name: str, times: int) -> Callable[[str], None]:
    left = times

    def act(reached: str) -> None:
        nonlocal left
        left -= reached == name
        if not left:
            raise KeyboardInterrupt

    return act


def test_cancelling_files_no_more_and_removes_the_bytes(
    kb: core.KnowledgeBase, tmp_path: Path, quiet_points: None
) -> None:
    content = zipped({f"{number:02}.txt": TEXT * (number + 1) for number in range(70)})
    upload = kb.add_archive("many.zip", io.BytesIO(content))
    failpoints.on_failpoint(lambda name: kb.cancel(str(upload.job_id)) if name == "archives.step.written" else None)
    kb.work_off()
    failpoints.on_failpoint(None)
    job = kb.job(str(upload.job_id))
    assert (job.state, job.done) == (JobState.CANCELLED, 32)
    assert len(kb.documents()) <= 32
    assert hashlib.sha256(content).hexdigest() not in blobs(tmp_path)


def test_documents_that_are_being_filed_when_their_archive_is_cancelled_leave_nothing(
    kb: core.KnowledgeBase, tmp_path: Path, quiet_points: None
) -> None:
    upload = kb.add_archive(
        "many.zip", io.BytesIO(zipped({f"{number}.txt": TEXT * (number + 1) for number in range(4)}))
    )
    reached = 0

    def act(name: str) -> None:
        nonlocal reached
        reached += name == "intake.blob.put"
        if name == "intake.blob.put" and reached == 3:
            kb.cancel(str(upload.job_id))

    failpoints.on_failpoint(act)
    kb.work_off()
    failpoints.on_failpoint(None)
    assert [job.state for job in kb.jobs()] == [JobState.CANCELLED]
    assert (kb.documents(include_deleted=True), blobs(tmp_path)) == ([], set())


def test_an_archive_that_waits_is_cancelled_at_once(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    upload = kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT})))
    assert kb.cancel(str(upload.job_id)).state is JobState.CANCELLED
    kb.work_off()
    assert kb.documents() == []


def test_bytes_of_a_cancelled_archive_are_gone_after_a_restart(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.cancel(str(kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT}))).job_id))
    with knowledge_base(tmp_path) as kb:
        assert blobs(tmp_path) == set()
        job = kb.jobs()[0]
        kb.retry(job.id)
        kb.work_off()
        assert (kb.job(job.id).error or {})["code"] == "not_found"


def test_private_documents_of_an_archive_belong_to_who_sent_it(kb: core.KnowledgeBase) -> None:
    ann, ben = (Principal(name, Role.EDITOR, number) for number, name in enumerate(("ann", "ben"), 1))
    with acting(ann):
        upload = kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT})), private=True)
    kb.work_off()
    with acting(ann):
        assert kb.job(str(upload.job_id)).state is JobState.DONE
        assert kb.document("~ann/a.txt").owner == "ann" or kb.document("~ann/a.txt").name == "a.txt"
    with acting(ben), pytest.raises(EvoRAGError):
        kb.job(str(upload.job_id))


def test_drafts_and_priorities_of_an_archive_are_its_documents(kb: core.KnowledgeBase) -> None:
    upload = kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT})), draft=True, priority=4)
    kb.work_off()
    assert kb.versions("a.txt")[0].is_draft
    assert {job.priority for job in kb.jobs()} == {4}
    assert kb.job(str(upload.job_id)).state is JobState.DONE


def test_an_archive_stops_where_the_process_ends(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT})))
    stop = threading.Event()
    failpoints.on_failpoint(lambda name: stop.set() if name == "archives.surveyed" else None)
    kb._worker._stop = stop  # type: ignore[attr-defined]
    kb._worker.work_off()
    failpoints.on_failpoint(None)
    assert kb.documents() == []
    assert kb.jobs()[0].state in (JobState.RUNNING, JobState.QUEUED)


def test_a_zip_by_a_method_that_is_not_read_says_so(kb: core.KnowledgeBase) -> None:
    with pytest.raises(ParserFailed, match="method"):
        kb.add_archive("m.zip", io.BytesIO(zipped({"a.txt": TEXT}, zipfile.ZIP_LZMA)))
