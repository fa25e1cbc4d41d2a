"""The patch: GNU patch makes the new text of the old one, byte for byte."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given

from core.blobs.block_file import read_blocks
from core.model import Block
from core.versions.diff import export_patch as export
from core.versions.diff.export_patch import export_patch
from core.versions.result import ComparisonResult
from tests import programs
from tests.unit.versions.compared import comparison, paragraphs
from tests.unit.versions.texts import PAIRS, Blocks, no_deadline, parsed

needs_patch = programs.needs("patch")


def patched(folder: Path, kept: ComparisonResult, old: str) -> bytes:
    """What GNU patch makes of a text."""
    text, patch = folder / "text", folder / "changes.patch"
    text.write_bytes(old.encode("utf-8", "surrogatepass"))
    patch.write_bytes("".join(export_patch(kept)).encode("utf-8", "surrogatepass"))
    if patch.stat().st_size:
        command = ["patch", "--binary", "--fuzz=0", "--posix", "--quiet", str(text), str(patch)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "offset" not in done.stdout
    return text.read_bytes() if text.exists() else b""


@pytest.mark.long
@needs_patch
@no_deadline
@given(PAIRS)
@example(([], [Block("all new")]))
@example(([Block("all gone")], []))
@example(([Block("a"), Block("b")], [Block("a\nb")]))
@example(([Block("a\n")], [Block("a")]))
@example(([Block("\n\na\r\nb")], [Block("\na\nb\r\n\n")]))
@example(([Block("word. " * 900)], [Block("word. " * 400 + "other. " + "word. " * 500)]))
def test_gnu_patch_gives_the_new_text(pair: tuple[Blocks, Blocks]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = comparison(folder, *pair)
        old, new = (parsed(read_blocks(folder / side)) for side in ("old", "new"))

        assert patched(folder, kept, old).decode() == new


@pytest.mark.long
@needs_patch
@no_deadline
@given(PAIRS)
def test_long_stretches_are_patched_as_they_are_read(pair: tuple[Blocks, Blocks]) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "MOST_ROWS_AT_ONCE", 1)
        folder = Path(name)
        kept = comparison(folder, *pair)
        old, new = (parsed(read_blocks(folder / side)) for side in ("old", "new"))

        assert patched(folder, kept, old).decode() == new


@needs_patch
def test_far_apart_changes_are_separate_hunks(tmp_path: Path) -> None:
    lines = [f"Line number {number} of the text." for number in range(300)]
    changed = [line + " Edited." if number in (5, 150, 151, 299) else line for number, line in enumerate(lines)]
    kept = comparison(tmp_path, [Block("\n".join(lines))], [Block("\n".join(changed))])

    patch = "".join(export_patch(kept))

    assert patch.count("@@ -") == 3
    assert "@@ -3,7 +3,7 @@\n" in patch
    assert patched(tmp_path, kept, "\n".join(lines)).decode() == "\n".join(changed)


def test_equal_texts_have_an_empty_patch(tmp_path: Path) -> None:
    assert list(export_patch(comparison(tmp_path, paragraphs("a", "b"), paragraphs("a", "b")))) == []


def test_a_name_writes_nothing_into_the_head_of_a_patch(tmp_path: Path) -> None:
    names = ("../../etc/x\n+++ y\t", "契約 書.docx")
    kept = comparison(tmp_path, paragraphs("a"), paragraphs("b"), names=names)

    head = "".join(export_patch(kept)).split("\n")[:2]

    assert head == ["--- _.._etc_x_____y_.v1.txt", "+++ 契約_書.docx.v2.txt"]
