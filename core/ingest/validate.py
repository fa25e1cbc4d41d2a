"""What is checked before a byte is stored: the name that a file may carry and whether its content is what it says."""

from __future__ import annotations

import mmap
import re
import unicodedata
from pathlib import Path

from core.errors import (
    BadFilename,
    EmptyDocument,
    Encrypted,
    ParserFailed,
    TypeMismatch,
    UnreadableDocument,
    UnsupportedType,
)
from core.ingest.parsers.archive import SafeArchive
from core.ingest.parsers.encoding import is_binary
from core.model.file_types import EXTENSIONS, KIND_OF, READ_AS

MAX_NAME_BYTES = 255

_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\Z", re.I)
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})

_PACKAGES = {"docx": "word/", "xlsx": "xl/", "pptx": "ppt/"}
_NAMED_PACKAGES = {
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
}
"""Archives whose first entry, ``mimetype``, says what they are."""
_STREAMS = {
    "doc": ("WordDocument",),
    "xls": ("Workbook", "Book"),
    "ppt": ("PowerPoint Document",),
    "msg": ("__properties_version1.0",),
}
_IMAGES = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpg": rb"\xff\xd8\xff",
    "tif": rb"II\*\x00|MM\x00\*|II\+\x00|MM\x00\+",
    "webp": rb"RIFF.{4}WEBP",
}
_SAME_IMAGE = {"jpeg": "jpg", "tiff": "tif"}
_OLD_SHEETS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00")
"""How workbooks of Excel 2 to 4 begin, which are no compound files yet."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_KNOWN_BINARY = (
    *_ZIP, _OLE, b"%PDF-", b"\x7fELF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"BZh", b"\xfd7zXZ",
    b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"SQLite format 3",
    b"OggS", b"RIFF", b"\x00asm", b"{\\rtf",
)  # fmt: skip
_BLANK = b" \t\r\n\x0b\x0c\x00\xef\xbb\xbf\xff\xfe"
_POINTER = re.compile(rb'\A\s*\{[^<]{0,4000}"(?:doc_id|url|resource_id)"\s*:')


def clean_name(name: str) -> str:
    """Return the name that a file is shown under: its last part, NFC. Raises: ``BadFilename``."""
    if any(unicodedata.category(character) in _FORBIDDEN_CATEGORIES for character in name):
        raise BadFilename("The file name holds characters that cannot be seen.")
    shown = _SEPARATORS.split(unicodedata.normalize("NFC", name))[-1]
    shown = _DRIVE.sub("", shown, count=1) if _DRIVE.match(shown) else shown
    shown = shown.strip().rstrip(". ")
    if not shown or not shown.strip(". "):
        raise BadFilename("The file has no name.")
    if shown.startswith(".") and "." not in shown[1:]:
        raise BadFilename("The file has no name before its extension.")
    if _RESERVED.match(shown.partition(".")[0].strip()):
        raise BadFilename("The file name is one that some systems reserve for devices.")
    if len(shown.encode()) > MAX_NAME_BYTES:
        raise BadFilename(f"The file name is longer than {MAX_NAME_BYTES} bytes.")
    return shown


def doc_key(name: str) -> str:
    """Return what a document of this name is known by: NFC, lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())


def check_type(name: str, head: bytes, path: Path) -> str:
    """Return the type that a file is kept as, an extension without its dot, once its content has been found to agree.

    ``head`` is the start of the file, at least 4 KiB where it has as many. A file without an extension gets the one
    that its content calls for.
    Raises: ``UnsupportedType``, ``TypeMismatch``, ``EmptyDocument``, ``Encrypted``, ``ArchiveLimit``.
    """
    if not head.strip(_BLANK) and _is_blank(path):
        raise EmptyDocument("The file is empty.", remedy="Choose a file that has something in it.")
    stem, dot, extension = name.rpartition(".")
    extension = extension.lower() if dot and stem else _extension_of(head, path)
    if extension not in EXTENSIONS:
        raise UnsupportedType(f"Files of type .{extension[:20]} are not accepted." if extension else _UNKNOWN)
    kept_as = READ_AS.get(extension, extension)
    if extension == "pdf":
        if b"%PDF-" not in head[:1024]:
            raise _mismatch(extension, head)
    elif KIND_OF[extension] == "image":
        if not re.match(_IMAGES[_SAME_IMAGE.get(extension, extension)], head, re.S):
            raise _mismatch(extension, head)
    elif extension == "rtf":
        if not head.lstrip().startswith(b"{\\rtf"):
            raise _mismatch(extension, head)
    elif kept_as in _PACKAGES or kept_as in _NAMED_PACKAGES:
        _check_package(extension, kept_as, head, path)
    elif kept_as in _STREAMS:
        _check_compound(extension, kept_as, head, path)
    else:
        _check_text(extension, head)
    return kept_as


_UNKNOWN = "The file has no extension, and its content does not tell its type."


def _is_blank(path: Path) -> bool:
    with path.open("rb") as file:
        while data := file.read(1024 * 1024):
            if data.strip(_BLANK):
                return False
    return True


def _extension_of(head: bytes, path: Path) -> str:
    if head.startswith(b"%PDF-"):
        return "pdf"
    if head.startswith(_ZIP):
        return _package_type(path)
    if head.startswith(_OLE):
        return next((extension for extension in _STREAMS if _has_stream(extension, path)), "")
    if head.startswith(b"{\\rtf"):
        return "rtf"
    for extension, mark in _IMAGES.items():
        if re.match(mark, head, re.S):
            return extension
    if head.startswith(_KNOWN_BINARY) or is_binary(head):
        return ""
    return "html" if re.match(rb"\s*<(?:!doctype\s+html|html)\b", head, re.I) else "txt"


def _named(head: bytes) -> str:
    for marks, what in (
        (_ZIP, "a zip archive or a newer office document"),
        ((_OLE,), "an office document of the old kind"),
        ((b"%PDF-",), "a PDF"),
        ((b"\x7fELF", b"MZ"), "a program"),
        ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "an image"),
        ((b"{\\rtf",), "rich text (RTF)"),
        ((b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML"), "a web page"),
    ):
        if head.lstrip().startswith(marks):
            return what
    return "something else"


def _mismatch(extension: str, head: bytes) -> TypeMismatch:
    return TypeMismatch(f"The file ends in .{extension}, but its content is {_named(head)}.")


def _package_type(path: Path) -> str:
    with SafeArchive(path, 1 << 40) as archive:
        names = archive.names()
        named = archive.read("mimetype")[:100].decode("latin-1").strip() if "mimetype" in archive else ""
    for extension, mark in _NAMED_PACKAGES.items():
        if named == mark or named == f"{mark}-template":
            return extension
    if "META-INF/container.xml" in names:
        return "epub"
    if not any(name.lower() == "[content_types].xml" for name in names):
        return ""
    for extension, folder in _PACKAGES.items():
        if any(name.lower().startswith(folder) for name in names):
            return extension
    return ""


def _check_package(extension: str, kept_as: str, head: bytes, path: Path) -> None:
    if head.startswith(_OLE) and _contains(path, "EncryptedPackage"):
        raise Encrypted("The document is protected by a password.")
    if not head.startswith(_ZIP):
        raise _mismatch(extension, head)
    try:
        found = _package_type(path)
    except ParserFailed as error:
        raise TypeMismatch(f"The file ends in .{extension}, but its content is damaged.") from error
    if found != kept_as:
        what = f"that of a .{found} file" if found else "another kind of archive"
        raise TypeMismatch(f"The file ends in .{extension}, but its content is {what}.")


def _check_compound(extension: str, kept_as: str, head: bytes, path: Path) -> None:
    if extension == "doc" and head.startswith(b"{\\rtf"):
        return
    if extension == "xls" and head.startswith(_OLD_SHEETS):
        return
    if not head.startswith(_OLE):
        raise _mismatch(extension, head)
    if _has_stream(kept_as, path):
        return
    for other in _STREAMS:
        if _has_stream(other, path):
            raise TypeMismatch(f"The file ends in .{extension}, but its content is that of a .{other} file.")
    if _contains(path, "EncryptedPackage"):
        raise Encrypted("The document is protected by a password.")
    raise UnreadableDocument(f"The file holds no .{extension} document.")


def _has_stream(extension: str, path: Path) -> bool:
    return any(_contains(path, stream, ends=True) for stream in _STREAMS[extension])


def _contains(path: Path, stream: str, ends: bool = False) -> bool:
    """Whether the directory of a compound file names a stream."""
    forms = (stream, stream.upper(), stream.lower()) if ends else (stream,)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return any(content.find(form.encode("utf-16-le") + (b"\0\0" if ends else b"")) >= 0 for form in forms)


def _check_text(extension: str, head: bytes) -> None:
    if head.startswith(_KNOWN_BINARY) or is_binary(head):
        raise _mismatch(extension, head)
    if extension == "gdoc" and _POINTER.match(head.removeprefix(b"\xef\xbb\xbf")):
        raise UnsupportedType(
            "The file only points to a document in Google Drive and holds no text.",
            remedy="Open the document in Google Docs, choose File, Download, and upload the downloaded file.",
        )
