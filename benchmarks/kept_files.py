"""The kinds of files that a data folder holds: ``benchmarks.damage`` tries one of each, and a test knows no other.

Whoever has the product keep a new kind of file adds it here, to what ``benchmarks.damage`` fills its folder with, and
to what a purge reaches where it tells of documents.
"""

from __future__ import annotations

import re
from pathlib import Path

SHA256, HEX = r"[0-9a-f]{64}", r"[0-9a-f]{32}"
GZIPPED = b"\x1f\x8b"

KEPT = (
    (r"catalog\.db(?:-wal|-shm)?", r"\g<0>"),
    (r"identity|journal|reached|reserve|blob-owner", r"\g<0>"),
    (rf"(?:blobs|blob-cache)/[0-9a-f]{{2}}/{SHA256}", "blobs/original"),
    (r"keywords(?:-\d+)?/(head|history)/(\.?(?:meta|managed)\.json|checksums\.json)", r"keywords/\1/\2"),
    (
        rf"keywords(?:-\d+)?/(head|history)/{HEX}(?:\.\d+)?\.(idx|term|pos|store|fast|fieldnorm|del)",
        r"keywords/\1/*.\2",
    ),
    (r"keywords(?:-\d+)?/(analyser|rows)\.txt", r"keywords/\1.txt"),
    (r"vectors(?:-\d+)?/(closed|ids|rows\.json)", r"vectors/\1"),
    (r"vectors(?:-\d+)?/(?:.+/)?((?:manifest|schema)\.json(?:\.prev)?)", r"vectors/\1"),
    (r"vectors(?:-\d+)?/(?:.+/)?[\w.-]+(\.parquet|\.idx|\.wal|\.arrow)", r"vectors/*\1"),
    (
        r"comparisons/\d+-\d+(?:-r\d+)?/"
        r"((?:summary|places|seal)\.json|rows\.npy|marks\.jsonl|(?:old|new)\.txt|tables\.\w+)",
        r"comparisons/\1",
    ),
    (r"comparisons/images-\d+/(images|seal)\.json", r"comparisons/images/\1.json"),
    (r"comparisons/images-\d+/\d+\.png", "comparisons/images/*.png"),
    (r"pages/\d+/(?:\d+-)?\d+(\.webp|\.json)(\.sum)?", r"pages/*\1\2"),
    (r"pages/\d+/(sizes\.json|document\.pdf)(\.sum)?", r"pages/\1\2"),
    (rf"recognised/{SHA256}\.jsonl", "recognised/*.jsonl"),
    (rf"recognised/{SHA256}/[\w.-]+", "recognised/picture"),
    (r"recordings/[0-9a-f]{32}\.pt", "recordings/*.pt"),
    (rf"transfers/{HEX}", "transfers/upload"),
    (r"snapshots/\d{8}T\d{6}\.\d+Z\.db", "snapshots/*.db"),
    (r"damaged/\d{8}T\d{6}\.\d+Z/(catalog\.db(?:-wal|-shm)?|journal)", r"damaged/\1"),
    (r"models/chosen\.json", r"\g<0>"),
    (r"models/trained/[\w-]+/([\w.-]+\.(?:jsonl?|safetensors|jinja|txt|model))", r"models/trained/\1"),
    (r"models/training/[\w-]+/([\w.-]+\.(?:jsonl?|safetensors))", r"models/training/\1"),
    (r"models/smollm2[\w.-]*/([\w.-]+)", r"models/smollm2/\1"),
    (r"models/calibrations/[\w.-]+", "models/calibrations/*"),
)
"""Names, and what files of such names are called here."""
BESIDE = re.compile(
    r"lock|opening|holds|.*\.lock|(?:.*/)?LOCK|models/training/[\w-]+/lock|(?:.*/)?\.tantivy-(?:meta|writer)\.lock"
    r"|(?:.*/)?[\w.-]*\.?socket|incoming/.*"
)
"""Of these only the presence counts, or they are gone at the next start."""


class UnknownKind(Exception):
    """A data folder holds a file that is not in the list."""


def kind_of(path: Path, root: Path) -> str:
    """Return the kind of a file of a data folder, empty for one without content. Raises: ``UnknownKind``."""
    name = path.relative_to(root).as_posix()
    for pattern, kind in KEPT:
        if found := re.fullmatch(pattern, name):
            told = found.expand(kind)
            is_parsed = told == "blobs/original" and path.read_bytes()[:2] == GZIPPED
            return "blobs/parsed" if is_parsed else told
    if BESIDE.fullmatch(name):
        return ""
    raise UnknownKind(name)
