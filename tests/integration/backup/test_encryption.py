"""Archives under a passphrase: they come back with it, and with nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from core.backup import PIECE_BYTES
from core.backup.encryption import MARK, as_file, encrypted, opened_archive
from core.cli.commands import main
from core.cli.transfer import export_to, import_from
from core.errors import BadBundle, InvalidInput
from tests.builders import begin, knowledge_base, settings
from tests.integration.backup.house import tree

PASSPHRASE = "four plain words here"
FRAME = PIECE_BYTES + 16


def read(octets: bytes, passphrase: str = PASSPHRASE) -> bytes:
    source, found = opened_archive(io.BytesIO(octets), lambda: passphrase), bytearray()
    while piece := source.read(100_000):
        found += piece
    return bytes(found)


def sealed(octets: bytes, piece: int = 300_000) -> bytes:
    return b"".join(encrypted((octets[at : at + piece] for at in range(0, len(octets), piece)), PASSPHRASE))


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES])
def test_bytes_come_back_with_the_passphrase(size: int) -> None:
    octets = bytes(at * 7 % 251 for at in range(1_000)) * (size // 1_000 + 1)
    archive = sealed(octets[:size])
    assert archive.startswith(MARK)
    assert read(archive) == octets[:size]


def test_the_same_bytes_are_encrypted_otherwise_each_time() -> None:
    one, other = sealed(b"a line of text"), sealed(b"a line of text")
    assert one[len(MARK) + 3 :] != other[len(MARK) + 3 :]
    assert b"line" not in one


def flipped(octets: bytes) -> bytes:
    return octets[:-1] + bytes([octets[-1] ^ 1])


def head_flipped(octets: bytes) -> bytes:
    return octets[:40] + bytes([octets[40] ^ 1]) + octets[41:]


def cut(octets: bytes) -> bytes:
    return octets[: -FRAME // 2]


def cut_at_a_frame(octets: bytes) -> bytes:
    start = len(sealed(b"")) - 16
    return octets[: start + 2 * FRAME]


def exchanged(octets: bytes) -> bytes:
    start = len(sealed(b"")) - 16
    one, two = octets[start : start + FRAME], octets[start + FRAME : start + 2 * FRAME]
    return octets[:start] + two + one + octets[start + 2 * FRAME :]


def longer(octets: bytes) -> bytes:
    return octets + b"x"


@pytest.mark.parametrize("damage", [flipped, head_flipped, cut, cut_at_a_frame, exchanged, longer])
def test_what_was_changed_cut_off_or_exchanged_is_refused(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(BadBundle):
        read(damage(sealed(b"0123456789" * (PIECE_BYTES // 4))))


def test_costs_that_no_archive_of_ours_has_are_refused() -> None:
    archive = bytearray(sealed(b"text"))
    archive[len(MARK)] = 31
    with pytest.raises(BadBundle, match="head"):
        read(bytes(archive))


def test_short_passphrase_is_refused_before_anything_is_written() -> None:
    with pytest.raises(InvalidInput, match="12 characters"):
        next(encrypted(iter([b"text"]), "eleven char"))


def test_archive_without_a_passphrase_is_read_without_one() -> None:
    def nobody() -> str:
        raise AssertionError

    assert opened_archive(as_file(iter([b"plain ", b"text that is long enough"])), nobody).read(100)


def test_house_moves_under_a_passphrase_and_not_under_another(house: Path, tmp_path: Path) -> None:
    target = io.BytesIO()
    export_to(settings(house), target, passphrase=PASSPHRASE)
    begin(tmp_path / "data")
    before = sorted(path.name for path in (tmp_path / "data" / "blobs").glob("*"))
    with pytest.raises(BadBundle, match="passphrase is not the one"):
        import_from(settings(tmp_path), io.BytesIO(target.getvalue()), passphrase=lambda: "another passphrase")
    assert sorted(path.name for path in (tmp_path / "data" / "blobs").glob("*")) == before
    import_from(settings(tmp_path), io.BytesIO(target.getvalue()), passphrase=lambda: PASSPHRASE)
    assert tree(tmp_path / "data" / "blobs") == tree(house / "data" / "blobs")


def test_command_line_takes_the_passphrase_of_a_file(
    house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret, wrong = tmp_path / "secret", tmp_path / "wrong"
    secret.write_text(f"{PASSPHRASE}\n", "utf-8")
    wrong.write_text("not the passphrase\n", "utf-8")
    archive = tmp_path / "archive"

    def command(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return int(ended.value.code or 0), capsys.readouterr().err

    assert command("export", str(archive), "--passphrase-file", str(secret), "--data-dir", str(house / "data"))[0] == 0
    assert archive.read_bytes().startswith(MARK)
    new = ("--data-dir", str(tmp_path / "new"), "--no-wait")
    code, said = command("import", str(archive), *new)
    assert code == 1 and "--passphrase-file" in said
    code, said = command("import", str(archive), "--passphrase-file", str(wrong), *new)
    assert code == 1 and "not the one of this archive" in said and "Traceback" not in said
    assert command("import", str(archive), "--passphrase-file", str(secret), *new)[0] == 0
    assert tree(tmp_path / "new" / "blobs") == tree(house / "data" / "blobs")


def test_backup_of_a_knowledge_base_that_is_open_can_be_encrypted_piece_by_piece(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        plain = b"".join(kb.backup())
        assert len(read(b"".join(encrypted(kb.backup(), PASSPHRASE)))) == len(plain)
