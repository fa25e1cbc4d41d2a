"""How documents come in: as files, as texts, as archives; each becomes the next version of what its name says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from core.access import actor as acting_for
from core.access import needs
from core.errors import (
    Conflict,
    EvoRAGError,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    TooLarge,
    UnreadableDocument,
    UnsupportedType,
)
from core.ingest.archives import archive_kind
from core.ingest.intake import Intake, ReceivedFile
from core.ingest.validate import doc_key
from core.model import Filing, LeftOut, Role, Upload, UploadOutcome

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from core.catalog import Catalog, Claim, NewVersion
    from core.catalog.jobs.ledger import Attempt
    from core.ingest.archives.store_archive import ArchiveIntake
    from core.ingest.uploads.finalize import MarkFiled

_MEMBER_ERRORS = (InvalidInput, TooLarge, UnsupportedType, UnreadableDocument)


class PublicationHistory(Protocol):
    """Where a restored version is published."""

    def publish(self, doc_id: int, version_id: int | None, action: str, actor: str = "", note: str = "") -> object:
        """Show a version from now on. Raises: ``Conflict`` where it cannot be shown."""


class DocumentIntake:
    """The part of the knowledge base that takes documents in."""

    def __init__(
        self,
        catalog: Catalog,
        intake: Intake,
        archives: ArchiveIntake,
        history: PublicationHistory,
        tell_schedule: Callable[[], None],
        tell_workers: Callable[[], None],
        *,
        is_read_here: bool,
    ) -> None:
        """File documents; ``tell_workers`` and ``tell_schedule`` are called once there may be work for them.

        Where documents are not read here, workers on other machines do it.
        """
        self._catalog = catalog
        self._intake = intake
        self._archives = archives
        self._history = history
        self._tell_schedule = tell_schedule
        self._tell_workers = tell_workers
        self._is_read_here = is_read_here

    @needs(Role.EDITOR)
    def add_file(
        self,
        name: str,
        stream: BinaryIO,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
    ) -> Upload:
        """Store a file as the next version of the document that its name says, and queue its indexing.

        A draft is indexed but not shown; with ``publish_at`` it is published by itself at that moment. Tags are the
        document's, at once.
        Raises: ``BadFilename``, ``TooLarge``, ``UnsupportedType``, ``EmptyDocument``, ``InvalidInput``; then nothing is
        stored.
        """
        filing = Filing(tuple(tags), note, label, acting_for(actor), draft, publish_at, private, early, priority)
        return self._claimed(lambda: [self._intake.file(name, stream, filing)])[0]

    @needs(Role.EDITOR)
    def add_path(self, /, path: Path | str, **filing: Any) -> Upload:
        """Store a file of this machine, as ``add_file`` or ``add_archive`` does.

        Raises: ``NotFound``, and what those raise.
        """
        path = Path(path)
        if path.is_symlink() or not path.is_file():
            raise NotFound(f"“{path.name}” is not an ordinary file.", remedy="Name an existing file, not a link.")
        with path.open("rb") as stream:
            if archive_kind(path.name):
                return self.add_archive(path.name, stream, **filing)
            return self.add_file(path.name, stream, **filing)

    @needs(Role.EDITOR)
    def add_archive(self, /, name: str, stream: BinaryIO, **filing: Any) -> Upload:
        """Store a zip or tar of documents and queue its unpacking; each of them then gets a job of its own.

        Takes what ``Filing`` has, for all of the documents.
        Raises: what ``add_file`` raises, ``ArchiveLimit`` and ``Encrypted``; then nothing is stored.
        """
        if not archive_kind(name):
            raise UnsupportedType("This is no archive that can be unpacked.", remedy="Send a zip or a tar.")
        filing |= {"actor": acting_for(filing.get("actor", "")), "tags": tuple(filing.get("tags", ()))}
        upload = self._archives.take(name, stream, Filing(**filing))
        self._tell_workers()
        return upload

    @needs(Role.EDITOR)
    def file_members(
        self, members: Sequence[tuple[str, Path]], filing: Filing, parent: Attempt
    ) -> list[Upload | EvoRAGError]:
        """File what came out of an archive, on behalf of whoever acts; an error is the refusal of one member.

        Raises: ``Cancelled`` where the attempt at the archive is over, ``QuotaExceeded``, ``DiskFull`` and what else is
        no matter of a member; then none of them is filed.
        """
        answers: dict[int, Upload | EvoRAGError] = {}
        places: list[int] = []

        def take_in() -> list[NewVersion]:
            with ExitStack() as received:
                files: list[ReceivedFile] = []
                for place, (name, path) in enumerate(members):
                    try:
                        with path.open("rb") as stream:
                            file = self._intake.received(name, stream, filing)
                    except _MEMBER_ERRORS as error:
                        if isinstance(error, QuotaExceeded):
                            raise
                        answers[place] = error
                    else:
                        places.append(place)
                        files.append(received.enter_context(closing(file)))
                return [replace(new, parent=parent) for new in self._intake.kept(files)]

        answers.update(zip(places, self._claimed(take_in), strict=True))
        return [answers[place] for place in range(len(members))]

    @needs(Role.EDITOR)
    def add_text(
        self,
        name: str,
        text: str,
        *,
        title: str = "",
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
    ) -> Upload:
        """Store a text entry, as ``add_file`` does. Raises: ``TooLarge`` over the limit, ``EmptyDocument``."""
        filing = Filing(tuple(tags), note, label, acting_for(actor), draft, publish_at, private, early, priority)
        return self._claimed(lambda: [self._intake.text(name, text, title, filing)])[0]

    @needs(Role.EDITOR)
    def add_texts(self, entries: Sequence[tuple[str, str, str]]) -> list[Upload]:
        """Store many text entries, each (name, title, text), in one transaction."""
        filing = Filing(actor=acting_for())
        return self._claimed(lambda: self._intake.texts(entries, filing))

    @needs(Role.EDITOR)
    def load_sample(self) -> list[Upload]:
        """Add the sample documents in order, second versions after the first ones, but for ``sample_left_out``.

        What a document that is there has as one of its versions is left as it is.
        """
        from core.sample import documents

        left_out = {each.name for each in self.sample_left_out()}
        added = (sample for sample in documents() if sample.name not in left_out)
        return [self._add_sample(sample.name, sample.path, sample.tags) for sample in added]

    @needs(Role.READER)
    def sample_left_out(self) -> list[LeftOut]:
        """Return the sample documents that cannot be read here, for want of a program, and why.

        Where workers on other machines read the documents, they alone know.
        """
        from core.ingest.parsers.legacy import missing_for
        from core.sample import documents

        if not self._is_read_here:
            return []
        found = {sample.name: missing_for(sample.path.suffix[1:]) for sample in documents()}
        return [
            LeftOut(name, error.code, error.message, error.remedy) for name, error in found.items() if error is not None
        ]

    def _add_sample(self, name: str, path: Path, tags: Sequence[str]) -> Upload:
        with path.open("rb") as stream:
            held = self._holding(name, hashlib.file_digest(stream, "sha256").hexdigest())
            stream.seek(0)
            return held or self.add_file(name, stream, tags=tags)

    def _holding(self, name: str, sha256: str) -> Upload | None:
        """What a document of that name, unless it is deleted, has of these bytes already; None where it has not."""
        key = doc_key(name)
        try:
            doc_id = self._catalog.documents.id_of(key)
        except NotFound:
            return None
        found = self._catalog.documents.find(doc_id=doc_id)
        same = (version for version in self._catalog.documents.versions(doc_id) if version.sha256 == sha256)
        version = next(same, None) if found else None
        if version is None:
            return None
        return Upload(UploadOutcome.UNCHANGED, key, version.number, version.sha1, is_indexed=True)

    def _claimed(
        self,
        take_in: Callable[[], Iterable[NewVersion]],
        also: Callable[[Connection, list[Claim]], None] | None = None,
    ) -> list[Upload]:
        """Claim versions of what was taken in; what a restored version showed before is shown at once."""
        news: list[NewVersion] = []
        try:
            news.extend(take_in())
            claims = self._catalog.documents.claim_many(news, also)
            self._tell_workers()
            shown = [self._shown(claim, new) for claim, new in zip(claims, news, strict=True)]
        except BaseException:
            self._intake.release(news)
            self._intake.forget(news)
            raise
        else:
            self._intake.release(news)
        finally:
            if any(new.filing.publish_at is not None for new in news):
                self._tell_schedule()
        return [_receipt(claim, new) for claim, new in zip(shown, news, strict=True)]

    def claim_transfer(self, new: NewVersion, mark_filed: MarkFiled) -> Upload:
        """Claim a version of what was sent in parts, and settle that in the same transaction.

        A version that is to be shown again is settled once it is: until then it is claimed anew at the next start.
        """
        is_settled = False

        def also(tx: Connection, claims: list[Claim]) -> None:
            nonlocal is_settled
            if claims[0].outcome is not UploadOutcome.RESTORED or claims[0].job_id is not None:
                mark_filed(tx, _receipt(claims[0], new))
                is_settled = True

        self._intake.hold(new)
        receipt = self._claimed(lambda: [new], also)[0]
        if not is_settled:
            with self._catalog.database.write() as tx:
                mark_filed(tx, receipt)
        return receipt

    def _shown(self, claim: Claim, new: NewVersion) -> Claim:
        """Show a restored version at once; claim anew what was shown or purged by others in this moment."""
        while claim.outcome is UploadOutcome.RESTORED and claim.job_id is None:
            try:
                self._history.publish(claim.doc_id, claim.version_id, "publish", new.filing.actor)
            except Conflict:
                claim = self._catalog.documents.claim(new)
                self._tell_workers()
            else:
                break
        return claim


def _receipt(claim: Claim, new: NewVersion) -> Upload:
    return Upload(
        claim.outcome,
        new.doc_key,
        claim.number,
        new.sha1,
        claim.job_id or claim.indexed_by,
        is_indexed=claim.job_id is None,
    )
