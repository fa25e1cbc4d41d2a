"""What reads documents has a number, which must be raised when it makes something else of the same bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core import sample
from core.ingest.reader import CHUNKING, PARSERS, reader_of
from core.model.codec import to_dict
from tests.builders import knowledge_base

LIBREOFFICE = (".doc", ".ppt")
"""Files that are read where LibreOffice is installed."""
READ = (17, 7, "0760043d308b144c")
"""The parsers' number, that of the chunking, and a fingerprint of what they make of the sample."""


@pytest.mark.long
def test_number_is_raised_when_the_same_bytes_are_read_otherwise(tmp_path: Path) -> None:
    digest = hashlib.sha256()
    with knowledge_base(tmp_path) as kb:
        for each in sample.documents():
            if each.path.suffix in LIBREOFFICE:
                continue
            with each.path.open("rb") as stream:
                kb.add_file(each.name, stream)
        kb.work_off()
        for document in sorted(kb.documents(), key=lambda document: document.doc_key):
            for version in kb.versions(document.doc_key):
                for placed in kb.preview(document.doc_key, version.number, 0, 500).chunks:
                    digest.update(repr((document.doc_key, version.number, to_dict(placed.chunk))).encode())
    found = PARSERS, CHUNKING, digest.hexdigest()[:16]
    assert found == READ, "raise PARSERS or CHUNKING in core/ingest/reader.py, and keep the fingerprint here"


def test_reader_names_the_length_of_chunks() -> None:
    assert reader_of(400) != reader_of(300)
