"""The command ``worker``."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from core.cli.options import DataDir
from core.cli.session import settings
from core.settings.log import begin_log


def worker(
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=64, help="Files that are read and indexed at the same time.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Work on the jobs of servers that share a catalogue (EVORAG_CATALOG_URL) and a Redis (EVORAG_JOBS_URL)."""
    from core.cli.worker_process import work

    given = {} if concurrency is None else {"job_workers": concurrency}
    chosen = settings(data_dir, **given)
    begin_log(chosen.log_format)
    logging.getLogger("core").setLevel(chosen.log_level)
    work(chosen)
