"""Archives that EvoRAG has not written, or not so: refused as a whole, and nothing of them is left (HOSTILE 60)."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import tarfile
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from core.access import acting
from core.backup import HEAD
from core.backup.import_archive import ArchiveImport
from core.backup.source import BackupSource
from core.backup.tar import END, header, padding
from core.bootstrap import opened_place
from core.cli.transfer import import_from
from core.errors import BadBundle, Forbidden
from core.model import Principal, Role
from tests.builders import begin, knowledge_base, settings
from tests.integration.backup.house import PASSWORD, Members, apart, rows, together, tree, with_row

OTHER = "f" * 64


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackupSource]:
    """An empty place, which every archive here leaves as it was."""
    folder = tmp_path_factory.mktemp("empty")
    begin(folder / "data")
    with opened_place(settings(folder)) as opened:
        yield opened


def refused(archive: bytes, place: BackupSource) -> BadBundle:
    """Return what an archive is refused with, once it is sure that nothing of it is there."""
    before = tree(place.folder.root), rows(place.catalog)
    with pytest.raises(BadBundle) as caught:
        ArchiveImport(place, io.BytesIO(archive)).take_in()
    assert (tree(place.folder.root), rows(place.catalog)) == before
    return caught.value


def put(**values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda row: row.update(values)


ENDLESS = base64.b64encode(zlib.compress(bytes(140_000_000), 1)).decode()
ROWS: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "path for a hash": ("versions", put(sha256="../../../etc/passwd")),
    "path for a parsed hash": ("versions", put(parsed_sha256="/etc/passwd")),
    "hash of no file": ("versions", put(sha256=OTHER)),
    "no hash": ("versions", put(sha256="")),
    "path for a name": ("versions", put(file_name="../../x.txt")),
    "path for a key": ("documents", put(doc_key="../../x")),
    "key that climbs": ("documents", put(doc_key="~root/..")),
    "path for a recording": ("recordings", put(id="../../x")),
    "path for a conversation": ("conversations", put(id="a/b")),
    "higher version number": ("versions", put(number=7)),
    "version of number zero": ("versions", put(number=0)),
    "reading of no version": ("versions", put(number=-1, reading_of=9)),
    "version that is a reading as well": ("versions", put(reading_of=1)),
    "version from the future": ("versions", put(claimed_seq=10**6)),
    "version on another document's": ("versions", put(base_id=4)),
    "version on none that there is": ("versions", put(base_id=10**6)),
    "version of another document": ("version_chunks", put(version_id=4, position=99)),
    "version of no document": ("versions", put(doc_id=99)),
    "state that there is not": ("versions", put(state="hidden")),
    "publication of another's version": ("publications", put(version_id=4)),
    "publication of nothing": ("publications", put(version_id=99)),
    "publication past all numbers": ("publications", put(seq=2**62)),
    "same row twice": ("publications", put(seq=2)),
    "unknown column": ("documents", put(mood="glad")),
    "column of the former house": ("jobs", put(worker="w" * 32)),
    "setting of the former house": ("index_settings", put(key="secure_delete")),
    "no JSON object": ("job_events", lambda row: row.clear()),
    "text for a number": ("versions", put(number="1")),
    "boolean for a number": ("versions", put(number=True)),
    "number for a boolean": ("versions", put(is_draft=1)),
    "number that is too large": ("versions", put(number=2**40)),
    "NUL in a text": ("versions", put(note="a\0b")),
    "NUL in JSON": ("versions", put(metadata={"a\0": 1})),
    "half of a letter": ("versions", put(note="\ud800")),
    "text that is too long": ("documents", put(name="n" * 2_000)),
    "hash of another length": ("chunks", put(content_hash="AAAA")),
    "vector of another length": ("embeddings", put(vector="AAAA")),
    "vector of no numbers": ("embeddings", put(vector=base64.b64encode(b"\xff\x7f" * 384).decode())),
    "trace that unpacks for ever": ("questions", put(trace=ENDLESS)),
    "trace that is none": ("questions", put(trace=base64.b64encode(b"no zlib").decode())),
    "no base64": ("embeddings", put(vector="!")),
    "moment beyond all": ("documents", put(created_at=2**62)),
    "role of nobody": ("users", put(role="owner")),
    "password hash that takes hours": ("users", put(password_hash="scrypt:1073741824:8:1$s$" + "a" * 128)),
    "role with another beside it": ("users", put(role="reader\nadmin")),
    "role of a key that there is not": ("api_keys", put(role="owner")),
    "name that is two": ("users", put(name="root\u202e")),
    "name in capitals": ("users", put(name="ROOT")),
    "name of a folder": ("users", put(name="../root")),
    "two of one name": ("users", put(name="guarded")),
    "hash of no password": ("users", put(password_hash="")),
    "hash of a fast kind": ("users", put(password_hash="md5$x$" + "a" * 32)),
    "user of number zero": ("users", put(id=0)),
    "user below all": ("users", put(id=-1)),
    "owner of number zero": ("conversations", put(owner_id=0)),
    "owner below all": ("questions", put(owner_id=-1)),
    "owner past all numbers": ("recordings", put(owner_id=2**62)),
    "owner that is a name": ("conversations", put(owner_id="root")),
    "owner of a set past all numbers": ("question_sets", put(owner_id=2**62)),
    "set that is neither shared nor private": ("question_sets", put(is_shared=None)),
    "second factor of nobody": ("second_factors", put(user_id=99)),
    "second factor of no key": ("second_factors", put(secret="../../etc")),
    "second factor that is empty": ("second_factors", put(secret="")),
    "foreign user": ("api_keys", put(user_id=99)),
    "generation of another length": ("generations", put(dimension=7)),
    "generation of another model": ("generations", put(model="other@1")),
    "generation below all": ("generations", put(number=-3)),
    "generation that does not serve": ("generations", put(state="ready")),
    "vectors without a length": ("index_settings", put(value="many")),
}


@pytest.mark.parametrize("kind", ROWS)
def test_forged_row_is_refused_with_all_others(members: Members, place: BackupSource, kind: str) -> None:
    table, change = ROWS[kind]
    refused(together(with_row(members, table, change)), place)


def test_generations_that_are_several_or_told_of_but_none_are_refused(members: Members, place: BackupSource) -> None:
    name = "tables/generations/000001"
    (line,) = gzip.decompress(dict(members)[name]).splitlines()
    other = json.dumps(json.loads(line) | {"number": 2}).encode()
    for lines in ([line, other], [other], []):
        packed = gzip.compress(b"\n".join(lines))
        forged = [(each, packed if each == name else content) for each, content in members]
        assert "generation" in refused(together(forged), place).message


@pytest.mark.parametrize("value", ["0", "-1", "two", "9" * 5_000])
def test_numbers_of_generations_that_nobody_gave_are_refused(members: Members, place: BackupSource, value: str) -> None:
    name = "tables/index_settings/000001"
    lines = [json.loads(line) for line in gzip.decompress(dict(members)[name]).splitlines()]
    lines.append({"key": "last_generation", "value": value})
    packed = gzip.compress(b"\n".join(json.dumps(line).encode() for line in lines))
    refused(together([(each, packed if each == name else content) for each, content in members]), place)


def claimed(members: Members, number: int) -> Members:
    """Return the members with a conversation, a question and a set that say to be a user's of this number."""
    for table in ("conversations", "questions", "question_sets", "saved_questions"):
        members = with_row(members, table, put(owner_id=number))
    return members


def test_what_says_to_be_somebodys_who_never_was_becomes_nobodys_who_comes(members: Members, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    archive = together(claimed(with_row(members, "question_sets", put(is_shared=False)), 5))
    import_from(settings(tmp_path), io.BytesIO(archive))
    with knowledge_base(tmp_path) as kb:
        for name in ("eve", "mallory", "trudy"):
            user = kb.accounts.create_user(name, PASSWORD, Role.EDITOR)
            assert user.id > 5
            with acting(Principal(user.name, user.role, user.id)):
                assert kb.conversations.list() == [] and kb.history() == []
                assert {each.owner for each in kb.evaluations.sets()} <= {""}


def test_key_that_says_more_than_its_user_may_is_no_more_than_its_user(members: Members, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    secret = "evo_" + "z" * 43
    hashed = base64.b64encode(sha256(secret.encode()).digest()).decode()
    forged = with_row(members, "api_keys", put(role="admin", secret_hash=hashed))
    import_from(settings(tmp_path), io.BytesIO(together(with_row(forged, "users", put(role="reader")))))
    with knowledge_base(tmp_path) as kb:
        principal = kb.accounts.principal_of_key(secret)
        assert principal is not None and (principal.name, principal.role) == ("root", Role.READER)
        with acting(principal), pytest.raises(Forbidden):
            kb.accounts.users()


def without(members: Members, start: str) -> Members:
    return [(name, content) for name, content in members if not name.startswith(start)]


def changed(members: Members, start: str, change: Callable[[str, bytes], tuple[str, bytes]]) -> Members:
    first = next(name for name, _ in members if name.startswith(start))
    return [change(name, content) if name == first else (name, content) for name, content in members]


def headed(members: Members, **values: Any) -> Members:
    return changed(members, HEAD, lambda name, text: (name, json.dumps(json.loads(text) | values).encode()))


PICKLE = b"cos\nsystem\n(S'touch canary'\ntR."
FILES: dict[str, Callable[[Members], Members]] = {
    "name that climbs": lambda m: [*m, ("blobs/../../x", b"x")],
    "absolute name": lambda m: [*m, ("/etc/cron.d/x", b"x")],
    "member of no kind": lambda m: [*m, ("secrets/key", b"x")],
    "unknown table": lambda m: [*m, ("tables/spells/000001", gzip.compress(b"{}\n"))],
    "sessions": lambda m: [*m, ("tables/sessions/000001", gzip.compress(b"{}\n"))],
    "blob of other bytes": lambda m: changed(m, "blobs/", lambda name, content: (name, content + b"x")),
    "blob that is missing": lambda m: [
        each for each in m if each[0] != next(n for n, _ in m if n.startswith("blobs/"))
    ],
    "blob that nothing names": lambda m: [*m, (f"blobs/{OTHER}", b"x")],
    "recording that nothing names": lambda m: changed(
        m, "recordings/", lambda name, c: (f"recordings/{'0' * 32}.pt", c)
    ),
    "recording that is pickled": lambda m: changed(m, "recordings/", lambda name, content: (name, PICKLE)),
    "model that is pickled": lambda m: [*m, ("models/trained/small/model.bin", PICKLE)],
    "model that climbs": lambda m: [*m, ("models/trained/../x/config.json", b"{}")],
    "model that is hidden": lambda m: [*m, ("models/trained/small/.x.json", b"{}")],
    "another format": lambda m: headed(m, format=2),
    "last numbers that lie": lambda m: headed(m, last={"users": 2**62}),
    "last numbers of no table": lambda m: headed(m, last={"spells": 1}),
    "no head": lambda m: without(m, HEAD),
    "head that is no object": lambda m: changed(m, HEAD, lambda name, content: (name, b"[" * 100_000)),
    "rows that are not packed": lambda m: changed(m, "tables/users", lambda name, content: (name, b"{}")),
    "rows packed twice over": lambda m: changed(m, "tables/users", lambda name, content: (name, content * 2)),
    "bomb": lambda m: changed(m, "tables/users", lambda name, content: (name, gzip.compress(b"\n" * 140_000_000, 1))),
    "deep rows": lambda m: changed(m, "tables/users", lambda name, content: (name, gzip.compress(b"[" * 100_000))),
    "tables before those they need": lambda m: [m[0], *reversed(m[1:])],
}


@pytest.mark.parametrize("kind", FILES)
def test_forged_member_is_refused_with_all_others(members: Members, place: BackupSource, kind: str) -> None:
    refused(together(FILES[kind](members)), place)


def test_manifest_that_does_not_fit_is_refused(members: Members, place: BackupSource) -> None:
    note = changed(members, "blobs/", lambda name, content: (name, content))
    for forged in (
        without(members, "manifest"),
        changed(note, "manifest", lambda name, text: (name, text.replace(b'"absent":[]', b'"absent":[1]'))),
        changed(note, "manifest", lambda name, text: (name, text.replace(b"blobs/0", b"blobs/1").replace(b"a", b"b"))),
        changed(note, "manifest", lambda name, text: (name, b"{}")),
        [*members, ("blobs/" + OTHER, b"x")],
        [members[0], *members],
    ):
        refused(together(forged, manifest=False), place)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE]
)
def test_member_that_is_no_plain_file_is_refused(archive: bytes, place: BackupSource, kind: bytes) -> None:
    info = tarfile.TarInfo("blobs/" + OTHER)
    info.type, info.linkname = kind, "/etc/passwd"
    refused(info.tobuf(tarfile.GNU_FORMAT) + archive, place)


def test_sizes_that_lie_and_archives_that_end_early_are_refused(
    archive: bytes, members: Members, place: BackupSource
) -> None:
    chance = random.Random(60)
    cuts = [0, 1, 511, 512, len(archive) - 1024, *(chance.randrange(len(archive)) for _ in range(8))]
    forged = [archive[:cut] for cut in cuts]
    forged.append(header("evorag.json", 2**40) + archive)
    forged.append(header("evorag.json", 10) + members[0][1] + padding(len(members[0][1])) + END)
    forged.append(archive + b"x")
    for each in forged:
        refused(each, place)


def test_any_bit_that_differs_is_noticed(archive: bytes, place: BackupSource) -> None:
    chance = random.Random(61)
    contents = dict(apart(archive))
    for _ in range(12):
        name = chance.choice([name for name, content in contents.items() if content])
        at = archive.index(contents[name]) + chance.randrange(len(contents[name]))
        bad = bytearray(archive)
        bad[at] ^= 1 << chance.randrange(8)
        refused(bytes(bad), place)


def test_other_files_are_refused_and_a_new_folder_is_not_made_for_them(tmp_path: Path) -> None:
    for other in (b"", b"PK\x03\x04" + b"x" * 4_000, gzip.compress(b"x" * 4_000), bytes(4_096), b"\xff" * 4_096):
        with pytest.raises(BadBundle) as caught:
            import_from(settings(tmp_path), io.BytesIO(other))
        assert caught.value.status == 422
    assert list(tmp_path.iterdir()) == []


def test_refusal_tells_nothing_of_what_the_rows_say(members: Members, place: BackupSource) -> None:
    told = refused(together(with_row(members, "users", put(name="line\nof a log"))), place)
    assert "line" not in told.message and "users" in told.message


def test_place_is_usable_after_a_refusal(archive: bytes, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    with pytest.raises(BadBundle):
        import_from(settings(tmp_path), io.BytesIO(archive[:-2_000]))
    import_from(settings(tmp_path), io.BytesIO(archive))
    with knowledge_base(tmp_path) as kb:
        assert len(kb.documents()) == 4


def test_archive_that_was_only_taken_apart_and_put_together_is_taken(members: Members, tmp_path: Path) -> None:
    begin(tmp_path / "data")
    same = with_row(members, "versions", put(note="said later"))
    assert import_from(settings(tmp_path), io.BytesIO(together(same))).rows["versions"] == 8
