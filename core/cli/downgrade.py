"""The command ``downgrade``: an upgrade is taken back, so that an earlier release opens the data folder."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer
from sqlalchemy import URL

from core.catalog.journal import Journal
from core.catalog.snapshots import Snapshots
from core.catalog.taking_back import TakingBack
from core.cli import output, remote
from core.cli.options import AsJson, DataDir
from core.cli.session import settings
from core.platform.data_folder import DataFolder

Revision = Annotated[
    str, typer.Argument(help="Revision of the catalogue that the earlier release knows; without it the one before.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without it, what would be lost is shown.")]


def downgrade(revision: Revision = "", yes: Yes = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Take an upgrade back: afterwards an earlier release opens the data folder; no process may have it open.

    Nothing is lost that both releases know. An earlier one from this on says the revision that it wants where it is
    started before. Make a backup first: what only the later release knows is gone, and does not come back with the next
    upgrade.
    """
    remote.chosen(data_dir)
    chosen = settings(data_dir)
    server = chosen.catalog_url.get_secret_value()
    with closing(DataFolder(chosen.data_dir)) as folder:
        url = server or URL.create("sqlite", database=str(folder.catalog_file))
        with closing(TakingBack(url)) as catalog:
            lost = catalog.lost(revision)
            to = catalog.carry_out(revision) if yes else ""
        if yes and not server:
            # Rows that were taken back are not to be missed, and brought back.
            Journal(folder.journal_file).remove()
            snapshots = Snapshots(folder)
            snapshots.forget(())
            snapshots.take()
    if as_json:
        output.print_json(
            {"revision": to or None, "lost": [{"revision": one.revision, "about": one.about} for one in lost]}
        )
        return
    for one in lost:
        output.print_text(f"{one.revision}  {one.about}")
    output.note(
        f"The catalogue is of revision {to}; start the earlier release now, not this one."
        if yes
        else "This is what the earlier release does not know; `evorag downgrade --yes` goes back."
    )
