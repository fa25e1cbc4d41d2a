"""Builds kept comparisons of texts, in this process and without a knowledge base."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.blobs.block_file import write_blocks
from core.model import Block, BlockKind
from core.versions.result import ComparisonResult
from core.versions.worker import compare


def block_file(path: Path, blocks: Sequence[Block]) -> Path:
    """Write blocks as the ingest keeps them."""
    plain = io.BytesIO()
    write_blocks(blocks, plain, 1 << 40)
    path.write_bytes(gzip.compress(plain.getvalue(), 1, mtime=0))
    return path


def paragraphs(*texts: str) -> list[Block]:
    """Blocks of texts; what starts with ``# `` is a heading of its level."""
    found = []
    for text in texts:
        level = len(text) - len(text.lstrip("#"))
        found.append(Block(text[level:].strip(), BlockKind.HEADING, level=level) if level else Block(text))
    return found


def table(*rows: str) -> Block:
    return Block("\n".join(rows), BlockKind.TABLE)


def comparison(
    folder: Path,
    old: Sequence[Block],
    new: Sequence[Block],
    *,
    coarse: bool = False,
    names: tuple[str, str] = ("a", "b"),
    metadata: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {}),
) -> ComparisonResult:
    """Compare two texts; their versions are 1 and 2."""
    number = len(list(folder.glob("1-*")))
    target = folder / f"1-{number + 2}"
    target.mkdir()
    sides = [
        {"doc_key": name, "name": name, "version": version, "metadata": dict(facts)}
        for version, (name, facts) in enumerate(zip(names, metadata, strict=True), 1)
    ]
    compare(
        {
            "folder": str(target),
            "old_parsed": str(block_file(folder / "old", old)),
            "new_parsed": str(block_file(folder / "new", new)),
            "old": sides[0],
            "new": sides[1],
            "coarse": coarse,
            "fine_seconds": None,
        }
    )
    return ComparisonResult(target, (folder / "images-1", folder / "images-2"))
