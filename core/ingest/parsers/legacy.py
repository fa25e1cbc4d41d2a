"""Word, Excel and PowerPoint files from before 2007: read directly where that is safe, else through LibreOffice."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import olefile  # type: ignore[import-untyped]

from core.errors import ConverterMissing, Encrypted, ParserFailed, ParserLimit
from core.ingest.parsers import legacy_excel
from core.ingest.parsers.archive import FREE_BYTES, MAX_RATIO
from core.ingest.parsers.legacy_excel import NotReadable
from core.ingest.parsers.objects import object_blocks, unwrapped
from core.ingest.parsers.reading import ParserInput
from core.model import Block, Locator

PROGRAMS = ("soffice", "libreoffice")
_LOCKED_SLIDES = b"\xdf\xc4\xd1\xf3"
_RECORD, _OBJECT = struct.Struct("<HHI"), 0x1011
_TARGETS = {"doc": "docx", "ppt": "pptx", "rtf": "docx"}


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of a doc or ppt file.

    Raises: ``ConverterMissing`` where LibreOffice is not installed, ``ParserLimit`` when it does not end in time,
    ``ParserFailed`` when it makes nothing of the file, and what the converted document raises.
    """
    from core.ingest.parsers import powerpoint, word

    _refuse_encrypted(reading)
    wanted = _TARGETS[reading.extension]
    with tempfile.TemporaryDirectory(prefix="evorag-convert-") as folder:
        converted = convert(reading.path, reading.extension, wanted, Path(folder), reading.limits.timeout_s)
        inner = ParserInput(
            converted, wanted, reading.limits, reading.metadata, losses=reading.losses, embedded=reading.embedded
        )
        yield from (word if wanted == "docx" else powerpoint).parse(inner)
    reading.objects += inner.objects
    if reading.extension == "ppt" and not inner.objects:
        # LibreOffice has kept at most the pictures that stand for them.
        yield from _set_in(reading)
    reading.metadata["parser"] = f"libreoffice+{wanted}"


def _refuse_encrypted(reading: ParserInput) -> None:
    """Raises: ``Encrypted`` where a doc or ppt file says that it is ([MS-DOC] 2.5.2, [MS-PPT] 2.3.2)."""
    if not olefile.isOleFile(str(reading.path)):
        return
    try:
        with olefile.OleFileIO(str(reading.path)) as compound:
            is_locked = _is_locked(compound, reading.extension)
    except (OSError, ValueError, IndexError):
        return
    if is_locked:
        raise Encrypted("The document is protected by a password.")


def _is_locked(compound: Any, extension: str) -> bool:
    if compound.exists("\tDRMContent"):
        # The management of rights of its author's house has locked it.
        return True
    if extension == "doc" and compound.exists("WordDocument"):
        # The lowest bit of the second byte of the flags.
        return bool(compound.openstream("WordDocument").read(12)[11] & 1)
    if compound.exists("EncryptedSummary"):
        return True
    return bool(compound.exists("Current User") and compound.openstream("Current User").read(16)[12:] == _LOCKED_SLIDES)


def _set_in(reading: ParserInput) -> Iterator[Block]:
    """Yield what was set into slides; the records that hold it do not say into which ([MS-PPT] 2.10.34)."""
    try:
        with olefile.OleFileIO(str(reading.path)) as compound:
            records = compound.openstream("PowerPoint Document").read()
    except (OSError, ValueError, IndexError):
        return
    at = 0
    while at + _RECORD.size <= len(records):
        instance, kind, size = _RECORD.unpack_from(records, at)
        body = records[at + _RECORD.size : at + _RECORD.size + size]
        at += _RECORD.size + size
        if kind == _OBJECT:
            yield from object_blocks(unwrapped(_inflated(body) if instance >> 4 else body, ""), reading, Locator())


def _inflated(body: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(body[4:], FREE_BYTES + MAX_RATIO * len(body))
    except zlib.error:
        return b""


def parse_workbook(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an xls file; what xlrd cannot read, LibreOffice converts. Raises as ``parse``."""
    try:
        yield from legacy_excel.parse(reading)
    except NotReadable:
        from core.ingest.parsers import excel

        with tempfile.TemporaryDirectory(prefix="evorag-convert-") as folder:
            converted = convert(reading.path, "xls", "xlsx", Path(folder), reading.limits.timeout_s)
            yield from excel.parse(
                ParserInput(
                    converted,
                    "xlsx",
                    reading.limits,
                    reading.metadata,
                    losses=reading.losses,
                    embedded=reading.embedded,
                )
            )
        reading.metadata["parser"] = "libreoffice+xlsx"


def converter() -> str | None:
    """Return the program that converts files for us, None where it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def missing_for(extension: str) -> ConverterMissing | None:
    """Return what keeps files of a type from being read on this machine, None where nothing does."""
    if extension not in _TARGETS or extension == "rtf" or converter() is not None:
        return None
    return ConverterMissing("LibreOffice, which reads files of this type, is not installed.")


def convert(source: Path, extension: str, wanted: str, folder: Path, timeout_s: float, *, is_low: bool = False) -> Path:
    """Convert a file with LibreOffice in a private profile and return the new file in ``folder``.

    At low priority it leaves the processors to whatever else wants them.
    """
    program = converter()
    if program is None:
        raise ConverterMissing(f"Files of type .{extension} are read through LibreOffice, which is not installed.")
    original = folder / f"document.{extension}"
    shutil.copyfile(source, original)
    out = folder / "out"
    command = [
        program, "--headless", "--nologo", "--norestore", "--nolockcheck", "--nodefault",
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        "--convert-to", wanted, "--outdir", str(out), str(original),
    ]  # fmt: skip
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder), "LANG": "C.UTF-8",
                   "TMPDIR": str(folder), "SAL_USE_VCLPLUGIN": "svp"}  # fmt: skip
    if is_low and (nice := shutil.which("nice")):
        command = [nice, "-n", "15", *command]
    # The converter stays in the process group of its caller, which is killed as a whole on a breach.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
    )
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise ParserLimit(f"LibreOffice did not finish within {timeout_s:g} seconds.") from error
    converted = out / f"document.{wanted}"
    if not converted.is_file() or converted.stat().st_size == 0:
        raise ParserFailed("LibreOffice could not read the file.")
    return converted
