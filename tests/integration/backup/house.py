"""A knowledge base that holds something of everything, and archives taken apart and put together again."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import select

import core
from core.access import acting
from core.backup import MANIFEST
from core.backup.rows import is_local, travelling
from core.backup.tar import END, TarStream, header, padding
from core.catalog import Catalog
from core.model import Principal, Role
from core.second_factors import STEP_S, code_of
from core.snn.artifacts import CHOSEN
from core.snn.recording import save
from tests.builders import add, knowledge_base
from tests.doubles import tiny_recording

PASSWORD = "a long enough password"

Members = list[tuple[str, bytes]]


def furnished(folder: Path, **changes: Any) -> core.KnowledgeBase:
    """Open a knowledge base and put something into nearly every table."""
    kb = knowledge_base(folder, **changes)
    add(kb, "hours.txt", "The shop opens at nine.\n\nClosed on Sundays.")
    add(kb, "hours.txt", "The shop opens at ten.\n\nClosed on Sundays.")
    kb.add_text("hours.txt", "The shop opens at eleven.", draft=True, tags=["shop"])
    add(kb, "日当.md", "# 規程\n\n日当は3,200円とする。")
    add(kb, "secret.txt", "Nobody may know this.")
    kb.purge("secret.txt")
    add(kb, "rules.txt", "One rule.")
    kb.catalog.documents.update_version(kb.version("rules.txt", 1).id, reader="former")
    kb.readings.begin(["rules.txt"])
    kb.work_off()
    kb.readings.show()
    kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
    gone = kb.accounts.create_user("gone", PASSWORD)
    kb.accounts.remove(gone.name)
    guarded = kb.accounts.create_user("guarded", PASSWORD, Role.EDITOR)
    with acting(Principal(guarded.name, guarded.role, guarded.id)):
        secret = kb.accounts.second_factors.begin().secret
        kb.accounts.second_factors.confirm(code_of(secret, int(time.time()) // STEP_S))
    kb.accounts.create_key("robot", Role.READER, user="root")
    kb.accounts.sign_in("root", PASSWORD)
    talk = kb.conversations.create()
    asked = core.Query("When does the shop open?", conversation_id=talk.id)
    core.EvoRAG(kb=kb).ask(asked)
    kb.save_question("When does the shop open?")
    kb.evaluations.import_set("shop", b"question,doc\nWhen does it open?,hours.txt\n", "csv")
    root = next(user for user in kb.accounts.users() if user.name == "root")
    with acting(Principal(root.name, root.role, root.id)):
        kb.save_question("When does it close?", shared=False)
        kb.evaluations.import_set("own", b"question,doc\nWhen does it open?,hours.txt\n", "csv", shared=False)
    spikes = folder / "spikes.pt"
    save(tiny_recording(), spikes)
    kb.recordings.import_file("spikes", spikes)
    model = folder / "data" / "models" / "trained" / "small"
    model.mkdir(parents=True)
    (model / "artifact_manifest.json").write_text('{"artifact_name": "small"}', encoding="utf-8")
    (model / "model.safetensors").write_bytes(bytes(range(256)))
    (model.parent.parent / CHOSEN).write_text('{"standard": "small"}', encoding="utf-8")
    kb.work_off()
    kb.add_text("waiting.txt", "This one is queued.")
    return kb


def rows(catalog: Catalog) -> dict[str, list[dict[str, Any]]]:
    """Return what travels of every table."""
    with catalog.database.read() as tx:
        return {
            table.name: [
                dict(row)
                for row in tx.execute(select(table).order_by(*table.primary_key)).mappings()
                if not is_local(table, row)
            ]
            for table in travelling()
        }


def apart(archive: bytes) -> Members:
    """Return the members of an archive, in order."""
    reader = TarStream(io.BytesIO(archive))
    return [(name, b"".join(reader.pieces())) for name, _ in reader.members()]


def together(members: Members, *, manifest: bool = True, absent: list[str] | None = None) -> bytes:
    """Return members as an archive, with a manifest that fits them."""
    kept = [(name, content) for name, content in members if name != MANIFEST or not manifest]
    if manifest:
        told = [[name, len(content), sha256(content).hexdigest()] for name, content in kept]
        kept.append((MANIFEST, json.dumps({"members": told, "absent": absent or []}).encode()))
    return b"".join(header(name, len(each)) + each + padding(len(each)) for name, each in kept) + END


def with_row(members: Members, table: str, change: Callable[[dict[str, Any]], object], number: int = 0) -> Members:
    """Return the members with one row of a table changed."""
    name = f"tables/{table}/000001"
    lines = gzip.decompress(dict(members)[name]).splitlines()
    row = json.loads(lines[number])
    change(row)
    lines[number] = json.dumps(row).encode()
    packed = gzip.compress(b"\n".join(lines))
    return [(each, packed if each == name else content) for each, content in members]


def tree(folder: Path) -> dict[str, int]:
    """Return the files below a folder with their sizes, but for what an opened database leaves beside its file."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(("catalog.db-", "lock"))
    }
