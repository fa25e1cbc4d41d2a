"""Recognition of characters in pictures; run in the child process of ``core.ingest.recognition``."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

_RAPID, _TESSERACT = f"{__name__}.rapid:RapidOcr", f"{__name__}.tesseract:Tesseract"


def tesseract() -> str | None:
    """Return where the program is, None where it is not installed."""
    return shutil.which("tesseract")


def ocr_engine(wanted: str) -> str:
    """Return the module and class of ``rapidocr`` or ``tesseract``, of the one there is (``auto``), or ``""``."""
    if wanted == "rapidocr" or (wanted == "auto" and find_spec("rapidocr") is not None):
        return _RAPID
    if wanted == "tesseract" or (wanted == "auto" and tesseract() is not None):
        return _TESSERACT
    return ""
