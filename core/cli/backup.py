"""The commands ``export | import | migrate | backup``: a whole knowledge base as one archive.

The archive holds everything, private documents and the hashes of passwords and keys as well: whoever has it can read
all and try passwords, so that it is kept like the data folder itself. Only its owner may read the file.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from core.cli import output, remote
from core.cli.options import AsJson, DataDir, Wait
from core.cli.session import settings
from core.errors import DataFolderInUse, InvalidInput
from core.model.backup import BackupReport
from core.platform.private_file import private_file

if TYPE_CHECKING:
    from core.backup.encryption import Passphrase
    from core.client import RagClient
    from core.settings import Settings

Encrypt = Annotated[bool, typer.Option("--encrypt", help="Encrypt it; the passphrase is asked for.")]
PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", metavar="FILE", help="Read the passphrase from the first line of this file."),
]
WithKeys = Annotated[
    bool, typer.Option("--with-keys", help="Also the keys of the servers that write answers, as they are.")
]
File = Annotated[str, typer.Argument(metavar="FILE", help="The archive; - for standard output or input.")]
_POLL_S = 0.2


def export(
    file: File,
    encrypt: Encrypt = False,
    passphrase_file: PassphraseFile = None,
    with_keys: WithKeys = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write everything to one archive: documents with all versions, questions, settings, users with their hashes.

    With a passphrase it is encrypted; without that, nobody can read it again. No server may have the data folder open;
    `evorag backup` writes the same archive from one that runs.
    """
    from core.cli.transfer import export_to

    remote.chosen(data_dir)
    _quiet()
    passphrase = _new_passphrase(passphrase_file, encrypt=encrypt)
    with output.bar("Writing") as show:
        try:
            here = settings(data_dir)
            moved = _written(file, lambda target: export_to(here, target, show, passphrase, with_keys=with_keys))
        except DataFolderInUse as error:
            error.remedy = f"`evorag backup FILE --url …` asks the server that runs. {error.remedy}"
            raise
    _show(moved, as_json, to_stdout=file != "-")


def backup(
    file: File,
    encrypt: Encrypt = False,
    passphrase_file: PassphraseFile = None,
    with_keys: WithKeys = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write everything, as it is at this moment, to one archive, while the server goes on (with --url).

    It holds the hashes of passwords and keys. With a passphrase it is encrypted here, which the server never sees.
    Without a server it is `evorag export`.
    """
    server = remote.chosen(data_dir)
    if server is None:
        return export(file, encrypt, passphrase_file, with_keys, data_dir, as_json)
    if file == "-":
        raise InvalidInput("A backup of a server is written to a file.", remedy="Name one.")
    passphrase = _new_passphrase(passphrase_file, encrypt=encrypt)
    with server, output.bar("Receiving") as show:
        if passphrase:
            size = _encrypted(server, Path(file), show, passphrase, with_keys=with_keys)
        else:
            size = server.backup(Path(file), show, with_keys=with_keys)
    output.print_json({"size_bytes": size}) if as_json else output.note(f"{size:,} bytes")


def import_(
    file: File,
    wait: Wait = True,
    passphrase_file: PassphraseFile = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Take an archive into an empty place: a new data folder, and an empty database where EVORAG_CATALOG_URL names one.

    It is checked as a whole: either all of it is there afterwards, or nothing. The passphrase of an encrypted one is
    asked for.
    """
    from core.cli.transfer import import_from

    remote.chosen(data_dir)
    _quiet()
    target = settings(data_dir)
    with output.bar("Reading") as show:
        passphrase = partial(_given_passphrase, passphrase_file)
        source = sys.stdin.buffer
        moved = import_from(target, source, show, passphrase) if file == "-" else _read(file, target, show, passphrase)
    if wait:
        _fill(target)
    _show(moved, as_json)


def migrate(
    to: Annotated[
        list[str],
        typer.Option("--to", metavar="NAME=VALUE", help="A setting of the new house; @FILE reads them from a file."),
    ],
    wait: Wait = True,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Copy everything into another house, as `evorag migrate --to EVORAG_CATALOG_URL=postgresql+psycopg://…`.

    Settings that are not named are those of now. With the same data folder only the catalogue moves. What is left
    stays as it was. Others can read a command's arguments: give passwords in a file, `--to @new.env`.
    """
    from core.cli.transfer import migrate as move

    remote.chosen(data_dir)
    _quiet()
    source = settings(data_dir)
    target = _changed(source, to)
    with output.bar("Moving") as show:
        moved = move(source, target, show)
    if wait:
        _fill(target)
    _show(moved, as_json)


def _quiet() -> None:
    logging.basicConfig(level=logging.CRITICAL, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("core").setLevel(logging.WARNING)


def _written(file: str, write: Callable[[BinaryIO], BackupReport]) -> BackupReport:
    from core.cli.transfer import to_file

    return write(sys.stdout.buffer) if file == "-" else to_file(Path(file), write)


def _encrypted(server: RagClient, path: Path, show: output.Bar, passphrase: str, *, with_keys: bool) -> int:
    """Write a server's archive to a file, encrypted on this machine; return its size."""
    from core.backup.encryption import encrypted

    size = 0
    with private_file(path) as file:
        for piece in encrypted(server.backup(with_keys=with_keys), passphrase):
            size += file.write(piece)
            show(size, 0, "")
    return size


def _new_passphrase(path: Path | None, *, encrypt: bool) -> str:
    """Return the passphrase of a new archive, empty where it is not to be encrypted."""
    if path is not None:
        return _in_file(path)
    if not encrypt:
        return ""
    _require_person()
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))


def _given_passphrase(path: Path | None) -> str:
    """Return the passphrase of an archive that is encrypted. Raises: ``InvalidInput`` where nobody can be asked."""
    if path is not None:
        return _in_file(path)
    _require_person()
    return str(typer.prompt("Passphrase of the archive", hide_input=True, err=True))


def _require_person() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput(
            "A passphrase is needed, and nobody can be asked here.", remedy="Give it with --passphrase-file FILE."
        )


def _in_file(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The file “{path.name}” cannot be read.") from error
    if not lines or not lines[0]:
        raise InvalidInput(f"The file “{path.name}” holds no passphrase in its first line.")
    return lines[0]


def _read(file: str, target: Settings, show: output.Bar, passphrase: Passphrase) -> BackupReport:
    from core.cli.transfer import import_from

    path = Path(file)
    try:
        size, opened = path.stat().st_size, path.open("rb")
    except OSError as error:
        raise InvalidInput(f"The file “{path.name}” cannot be read: {error.strerror}.") from error

    def show_of(done: int, total: int, remark: str = "") -> None:
        show(done, size, remark)

    with opened:
        return import_from(target, opened, show_of, passphrase)


def _changed(source: Settings, given: Sequence[str]) -> Settings:
    """Return the settings of the new house. Raises: ``InvalidInput`` for names that are none; it repeats no value."""
    wanted: dict[str, str] = {}
    for entry in given:
        for line in _lines(entry):
            name, equals, value = line.partition("=")
            if not equals:
                raise InvalidInput(
                    f"“{name.strip()[:64]}” is no setting.",
                    remedy="Write it as EVORAG_CATALOG_URL=…; docs/settings.md lists all.",
                )
            wanted[name] = value.strip()
    return source.changed(wanted)


def _lines(entry: str) -> list[str]:
    if not entry.startswith("@"):
        return [entry]
    path = Path(entry[1:])
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The file “{path.name}” cannot be read.") from error
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _fill(target: Settings) -> None:
    """Open the new house and stay until its indexes hold everything."""
    from core import build
    from core.indexes.readiness import lacks_rows

    with build(target) as kb, output.bar("Indexing") as show:
        most = 0
        while True:
            health = kb.health()
            most = max(most, health.outbox)
            show(most - health.outbox, most, "rows")
            if not health.outbox and not lacks_rows(health):
                return
            if any(store.state == "down" for store in health.stores):
                return output.note("warning: a store does not answer; its index is filled when the server runs.")
            time.sleep(_POLL_S)


def _show(moved: BackupReport, as_json: bool, *, to_stdout: bool = True) -> None:
    if as_json and to_stdout:
        output.print_json(moved)
    else:
        told = {name: moved.rows.get(name, 0) for name in ("documents", "versions", "chunks", "questions", "users")}
        counted = ", ".join(f"{count:,} {name}" for name, count in told.items())
        output.note(f"{counted}, {moved.files:,} files, {moved.size_bytes:,} bytes")
    if moved.absent:
        output.note(f"warning: {moved.absent:,} files of versions were lost or damaged before; their text is there.")
    if moved.unfinished_uploads:
        output.note(f"warning: {moved.unfinished_uploads:,} uploads were under way; they begin anew.")
