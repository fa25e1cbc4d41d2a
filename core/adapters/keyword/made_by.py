"""The record in the folder of an embedded keyword index that says what made its rows."""

from __future__ import annotations

from pathlib import Path

from core.errors import WrongIndex


def check_made_by(folder: Path, rows: str, analyser: str) -> bool:
    """Note in a new folder what makes its rows; tell whether it is new.

    Raises: ``WrongIndex`` where another analyser or format made them.
    """
    is_new = not (folder / "analyser.txt").exists()
    for name, wanted in (("rows.txt", rows), ("analyser.txt", analyser)):
        record = folder / name
        if is_new:
            draft = record.with_suffix(".new")
            draft.write_text(wanted, encoding="utf-8")
            draft.replace(record)
        elif (found := record.read_text(encoding="utf-8") if record.exists() else "an earlier format") != wanted:
            raise WrongIndex(f"The keyword index was built by “{found}”; this is “{wanted}”.")
    return is_new
