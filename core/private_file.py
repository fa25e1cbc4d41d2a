"""A file that only its owner may read, from its first byte on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Give a new file that takes the place of ``path`` where the block ends well, and is gone where it does not.

    Nobody can have put it there, or opened it, before. Raises: ``InvalidInput`` where it cannot be written.
    """
    try:
        number, name = tempfile.mkstemp(prefix=".evorag-", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                yield file
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"The file “{path.name}” cannot be written: {error.strerror}.") from error
