"""The command ``recover``: the newest sound snapshot takes the place of a damaged catalogue."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from core.catalog.snapshots import Snapshots, is_sound
from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import settings
from core.errors import Conflict
from core.platform.data_folder import DataFolder

Yes = Annotated[bool, typer.Option("--yes", help="Do it; without it, what would be done is shown.")]


def recover(yes: Yes = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Put the newest sound snapshot in the place of a damaged catalogue; no process may have the data folder open.

    What was decided after the snapshot is gone then: documents that were added since are not known (their originals
    stay as files that nothing names), documents that were deleted, keys that were revoked and passwords that were
    changed since are as they were. The damaged catalogue is kept in the folder “damaged”.
    """
    remote.chosen(data_dir)
    chosen = settings(data_dir)
    if chosen.catalog_url.get_secret_value():
        raise Conflict(
            "The catalogue is a server's.", remedy="Restore it with PostgreSQL's own tools, or import a backup."
        )
    with closing(DataFolder(chosen.data_dir)) as folder:
        snapshots = Snapshots(folder)
        if not yes:
            sound = folder.catalog_file.exists() and is_sound(folder.catalog_file)
            found = snapshots.newest_sound()
            told = {"catalog_is_sound": sound, "snapshot": None if found is None else _moment(found.stat().st_mtime)}
            if as_json:
                output.print_json(told)
            else:
                output.print_text("The catalogue is sound." if sound else "The catalogue is damaged or missing.")
                if found is None:
                    output.print_text("There is no sound snapshot of it.")
                else:
                    output.print_text(
                        f"The newest sound snapshot is of {told['snapshot']}. Documents that were deleted, keys that"
                        " were revoked and passwords that were changed since would be as they were then, and what was"
                        " added since would be unknown. `evorag recover --yes` puts it in the catalogue's place."
                    )
            return
        moment = None if (newest := snapshots.newest_sound()) is None else newest.stat().st_mtime
        _, aside = snapshots.recover()
    if as_json:
        output.print_json({"snapshot": _moment(moment or 0.0), "damaged": None if aside is None else str(aside)})
        return
    output.print_text(f"The catalogue is that of {_moment(moment or 0.0)}.")
    if aside is not None:
        output.note(f"What was there is in “{aside}”; remove it once it is not needed: it holds everything.")
    output.note("Start EvoRAG, then run `evorag check` and `evorag repair --apply`; revoke keys again where you did.")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
