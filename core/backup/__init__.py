"""Moving house: everything that a knowledge base keeps, as one archive that is written and read from front to end.

It is a tar file of plain files, in this order::

    evorag.json                  format, schema, when it was made, and the last numbers that the tables gave
    tables/<name>/000001         some rows of a table, JSON lines packed by gzip, typed by the schema's own metadata
    blobs/<sha256>               originals and parsed texts
    recordings/<id>.pt           spikes
    models/trained/<name>/<file> trained models, and models/chosen.json
    manifest.json                name, size and SHA-256 of every member; without it the archive is not whole

Indexes are projections and stay behind, as do sessions, uploads that are under way, what is cached on the disk and the
leases of workers: a running job arrives as queued. The hashes of passwords and of keys travel.

``writing`` makes the archive, ``reading`` takes it in: wholly or not at all. ``place`` is a house, ``rows`` is how
values are written and what values are taken, ``checks`` what has to hold between rows.
"""

from __future__ import annotations

FORMAT = 1
HEAD = "evorag.json"
MANIFEST = "manifest.json"
PIECE_BYTES = 1024 * 1024
MOST_TEXT_BYTES = 128 * 1024 * 1024
"""Most bytes that are taken into memory at once: of rows that were unpacked, of the head, of the manifest."""
