"""The keyword indexes that need no server, by the names that ``EVORAG_KEYWORD_STORE`` gives them."""

from __future__ import annotations

from pathlib import Path

from core.ports import KeywordIndex


def opened_in(folder: Path, store: str, analyser: str) -> KeywordIndex:
    """Open the index of a folder. Raises: ``WrongIndex`` where another store, format or analyser made its rows."""
    if store == "fts5":
        from core.adapters.keyword.fts5 import Fts5KeywordIndex

        return Fts5KeywordIndex(folder, analyser)
    from core.adapters.keyword.tantivy import TantivyKeywordIndex

    return TantivyKeywordIndex(folder, analyser)
