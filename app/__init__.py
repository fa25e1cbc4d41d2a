"""The pages and the REST interface of EvoRAG; they know `core` only by its public names."""

from pathlib import Path

_HERE = Path(__file__).parent

ASSETS = _HERE / "assets" if (_HERE / "assets").is_dir() else _HERE.parent / "assets"
"""Styles and scripts of the pages: inside the package where it is installed, beside it in a checkout."""
