"""Uploads a Markdown file to a server of EvoRAG and searches it: ``python examples/rag_markdown_sdk.py [URL]``.

Where the server asks for a key, put one into ``EVORAG_KEY``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from core import RagClient

MARKDOWN = """# Telescope workshop

## Mirrors

Mirrors are coated with aluminium every 18 months, in the clean room, by two people.

## Opening hours

The workshop is open from 9:00 to 16:30, on working days only.
"""


def main() -> None:
    """Upload, search, ask, and print what was found."""
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8050"
    with RagClient(url, key=os.environ.get("EVORAG_KEY")) as client, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "telescope-workshop.md"
        path.write_text(MARKDOWN, encoding="utf-8")

        indexed = client.rag_upload_file(path, tags=["workshop"])
        print(f"{indexed.doc_key}, version {indexed.version}: {indexed.chunks_indexed} chunks ({indexed.outcome})")

        for hit in client.search("How often are mirrors coated?").hits:
            print(f"{hit.rank}. {hit.placed.name}, version {hit.placed.version}, score {hit.score:.4f}")
            print(f"   {hit.placed.chunk.text[:80]!r}")

        print(client.ask("How often are mirrors coated?").answer.text)


if __name__ == "__main__":
    main()
