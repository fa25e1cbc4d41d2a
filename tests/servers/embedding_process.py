"""A process that embeds a text, and within its second round stops with what it claimed until it is killed.

``python -m tests.servers.embedding_process FOLDER``: it says ``holding`` on its output as soon as it does.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from secrets import token_hex

from core.ingest.embed import ROUND_TEXTS, TURN_TEXTS
from tests.builders import knowledge_base
from tests.integration.test_keyword_first import Meeting, book

# The title is in what is embedded, and that of a file without one is its name.
TEXT = b"<title>Gates</title>" + book("shared", 300).replace(b"\n\n", b"<p>").replace(b"# Part", b"<h2>Part")


def hold() -> None:
    print("holding", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    with knowledge_base(Path(sys.argv[1])) as kb:
        kb.add_file(f"{token_hex(4)}.html", io.BytesIO(TEXT))
        while kb._worker._prepare_some(large=None):
            pass
        Meeting(kb, {ROUND_TEXTS // TURN_TEXTS + 2: hold})
        while kb._worker._embed_some():
            pass
