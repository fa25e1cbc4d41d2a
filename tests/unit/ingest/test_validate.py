"""What is checked of a file before anything of it is stored (HOSTILE 1 to 6 and 9 to 11)."""

from __future__ import annotations

import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import (
    ArchiveLimit,
    BadFilename,
    EmptyDocument,
    Encrypted,
    EvoRAGError,
    TypeMismatch,
    UnreadableDocument,
    UnsupportedType,
)
from core.ingest.validate import check_type, clean_name, doc_key
from core.model.file_types import EXTENSIONS
from tests.unit.ingest import documents

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def checked(folder: Path, name: str, content: bytes) -> str:
    path = folder / "upload"
    path.write_bytes(content)
    return check_type(name, content[:8192], path)


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("../../etc/cron.d/x", "x"),
        ("..\\..\\windows\\win.ini", "win.ini"),
        ("C:\\x.txt", "x.txt"),
        ("C:x.txt", "x.txt"),
        ("//host/share/a.txt", "a.txt"),
        ("/etc/passwd.txt", "passwd.txt"),
        ("....//....//a.txt", "a.txt"),
        ("%2e%2e%2fa.txt", "%2e%2e%2fa.txt"),
        ("報告書 2024.pdf", "報告書 2024.pdf"),
        ("  a.txt. ", "a.txt"),
        (".profile.txt", ".profile.txt"),
        ("conference.txt", "conference.txt"),
    ],
)
def test_only_the_last_part_of_a_name_is_kept(given_name: str, shown: str) -> None:
    assert clean_name(given_name) == shown


@pytest.mark.parametrize(
    "name",
    [
        "a.txt\0.pdf", "a\r\nb.txt", "a\nb.txt", "gpj.\u202etxt", "a\u200b.txt", "a\u2066b.txt", "\ufeffa.txt",
        "a\u2028b.txt",         "a\ud800.txt",
        "", ".", "..", "...", "/", "a/", ".txt", "CON.txt", "con", "NUL", "lpt1.pdf", "  ", " . .", "C:",
        "x" * 5000 + ".txt", "\U0001f600" * 300 + ".txt",
    ],
)  # fmt: skip
def test_a_name_that_deceives_or_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadFilename):
        clean_name(name)


def test_composed_and_decomposed_forms_of_a_name_are_one_document() -> None:
    composed = "ガイドブック.PDF"
    decomposed = unicodedata.normalize("NFD", composed)
    assert composed != decomposed
    assert clean_name(decomposed) == composed
    assert doc_key(decomposed) == doc_key(composed) == "ガイドブック.pdf"


@given(st.text(max_size=80))
def test_a_cleaned_name_is_clean_and_its_key_is_stable(name: str) -> None:
    try:
        shown = clean_name(name)
    except BadFilename:
        return
    assert "/" not in shown and "\\" not in shown and shown not in ("", ".", "..")
    assert clean_name(shown) == shown
    assert doc_key(doc_key(shown)) == doc_key(shown)


@pytest.mark.parametrize("extension", ["txt", "md", "markdown", "csv", "html", "htm", "gdoc"])
def test_text_is_accepted_under_every_text_extension(tmp_path: Path, extension: str) -> None:
    assert checked(tmp_path, f"a.{extension.upper()}", "<p>Hello 日本</p>".encode()) == extension


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp932", "euc_jp", "iso2022_jp"])
def test_text_is_accepted_in_every_encoding_that_is_read(tmp_path: Path, encoding: str) -> None:
    assert checked(tmp_path, "a.txt", "日本語の文章と English を混ぜたもの。\n".encode(encoding)) == "txt"


def test_office_documents_are_known_by_what_is_inside(tmp_path: Path) -> None:
    made = {
        "docx": documents.docx(tmp_path / "a.docx", documents.paragraph("x")),
        "xlsx": documents.xlsx(tmp_path / "a.xlsx", "<sheetData/>"),
        "pptx": documents.pptx(tmp_path / "a.pptx", documents.slide_text("x")),
    }
    for extension, path in made.items():
        content = path.read_bytes()
        assert checked(tmp_path, f"a.{extension}", content) == extension
        for other in made.keys() - {extension}:
            with pytest.raises(TypeMismatch, match=extension):
                checked(tmp_path, f"a.{other}", content)
    assert checked(tmp_path, "a.xlsm", made["xlsx"].read_bytes()) == "xlsx"
    with pytest.raises(TypeMismatch, match=r"ends in \.docm"):
        checked(tmp_path, "a.docm", made["xlsx"].read_bytes())


@pytest.mark.parametrize(
    ("extension", "stream"), [("doc", "WordDocument"), ("xls", "Workbook"), ("ppt", "PowerPoint Document")]
)
def test_old_office_documents_are_known_by_their_streams(tmp_path: Path, extension: str, stream: str) -> None:
    content = OLE + stream.encode("utf-16-le") + bytes(64)
    assert checked(tmp_path, f"a.{extension}", content) == extension
    wrong = "xls" if extension != "xls" else "doc"
    with pytest.raises(TypeMismatch):
        checked(tmp_path, f"a.{wrong}", content)


PDF = documents.pdf(documents.text_pdf())
ELF = b"\x7fELF\x02\x01\x01" + bytes(100)
HTML = b"<!DOCTYPE html><html><body>hi</body></html>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", ELF), ("a.pdf", HTML), ("a.pdf", b"PK\x03\x04" + bytes(100)), ("a.pdf", b"just text"),
        ("a.txt", ELF), ("a.txt", PDF), ("a.md", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        ("a.csv", b"PK\x03\x04" + bytes(60)),
        ("a.html", OLE), ("a.docx", PDF), ("a.docx", HTML), ("a.xlsx", b"a,b\n1,2\n"), ("a.doc", PDF), ("a.xls", HTML),
        ("a.ppt", b"text"), ("a.txt", b"\x1f\x8b\x08" + bytes(40)), ("a.txt", bytes(range(256)) * 20),
        ("a.txt", b"{\\rtf1 text}"),
    ],
)  # fmt: skip
def test_content_that_belies_the_extension_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(TypeMismatch) as caught:
        checked(tmp_path, name, content)
    assert caught.value.status == 415


def test_a_pdf_that_is_also_a_page_is_a_pdf_only_by_its_name(tmp_path: Path) -> None:
    both = b"<!-- " + PDF + b" --><html>hi</html>"
    assert checked(tmp_path, "a.pdf", both) == "pdf"
    assert checked(tmp_path, "a.html", both) == "html"
    with pytest.raises(TypeMismatch):
        checked(tmp_path, "a.html", PDF + b"<html>hi</html>")


@pytest.mark.parametrize("name", ["a.exe", "a.docb", "a.xlsb", "a.dll", "a.zip", "a.svg", "a.tar.gz", "a.pt"])
def test_types_that_are_not_read_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedType) as caught:
        checked(tmp_path, name, b"text")
    assert caught.value.code == "unsupported_type"
    assert name.rpartition(".")[2] not in EXTENSIONS


@pytest.mark.parametrize(
    ("content", "extension"), [(b"plain words", "txt"), (PDF, "pdf"), (HTML, "html"), ("日本語。".encode(), "txt")]
)
def test_a_file_without_extension_gets_that_of_its_content(tmp_path: Path, content: bytes, extension: str) -> None:
    assert checked(tmp_path, "x", content) == extension


def test_a_file_without_extension_and_without_known_content_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedType):
        checked(tmp_path, "x", ELF)


@pytest.mark.parametrize(
    "content", [b"", b" \t\r\n\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf \n", b"\n" * 3_000_000]
)
@pytest.mark.parametrize("name", ["a.txt", "a.pdf", "a.docx", "x"])
def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(EmptyDocument):
        checked(tmp_path, name, content)


def test_a_file_that_begins_with_much_white_space_is_not_empty(tmp_path: Path) -> None:
    assert checked(tmp_path, "a.txt", b"\n" * 20_000 + b"text") == "txt"


def test_a_pointer_to_google_drive_is_refused_with_the_way_out(tmp_path: Path) -> None:
    pointer = b'{"url": "https://docs.google.com/open?id=abc", "doc_id": "abc", "email": "a@b.c"}'
    with pytest.raises(UnsupportedType) as caught:
        checked(tmp_path, "plan.gdoc", pointer)
    assert "Download" in caught.value.remedy


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.doc"])
def test_an_encrypted_office_document_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(Encrypted):
        checked(tmp_path, name, OLE + "EncryptedPackage".encode("utf-16-le") + bytes(64))


def test_a_random_compound_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument):
        checked(tmp_path, "a.doc", OLE + bytes(range(256)) * 8)


def test_a_zip_with_too_many_entries_is_refused_without_reading_its_directory(tmp_path: Path) -> None:
    local, directory = documents.deflated_entry("word/a", b"\x03\x00", 0, 0)
    content = documents.archive_of([(local, directory)])
    lying = content[:-14] + (65_535).to_bytes(2, "little") * 2 + content[-10:]
    with pytest.raises(EvoRAGError) as caught:
        checked(tmp_path, "a.docx", lying)
    assert isinstance(caught.value, ArchiveLimit)


@pytest.mark.parametrize("entry", ["../../x", "/etc/x", "word/../../x", "C:/x", "..\\x"])
def test_a_zip_entry_that_points_outside_is_refused(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "slip.docx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in documents.docx_parts(documents.paragraph("x")).items():
            archive.writestr(name, content)
        archive.writestr(entry, "x")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ArchiveLimit):
        checked(tmp_path, "a.docx", path.read_bytes())
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "upload"])


def test_a_zip_entry_that_is_a_link_is_refused(tmp_path: Path) -> None:
    path = documents.docx(tmp_path / "a.docx", documents.paragraph("x"))
    link = zipfile.ZipInfo("word/link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(ArchiveLimit):
        checked(tmp_path, "b.docx", path.read_bytes())
