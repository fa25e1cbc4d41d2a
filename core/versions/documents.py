"""Documents, their versions and their texts, as people read them; everyone sees what they may."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import needs
from core.errors import NO_SUCH_VERSION, NotFound, Purged
from core.ingest.sandbox import read_blocks
from core.ingest.upload_options import check_tags
from core.model import BLOCK_JOINT, Block, Document, DocumentPage, DocumentQuery, Preview, Role, Version
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import Catalog

_LONGEST_PREVIEW = 500


class DocumentReader:
    """The part of the knowledge base that lists documents and gives their texts."""

    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    @needs(Role.READER)
    def documents(self, search: str = "", *, include_deleted: bool = False, limit: int | None = None) -> list[Document]:
        """Return documents by name, at most ``limit``; ``search`` is literal text in the name, the title or a tag."""
        return self._catalog.documents.find(search, include_deleted=include_deleted, limit=limit)

    @needs(Role.READER)
    def documents_page(
        self,
        search: str = "",
        *,
        include_deleted: bool = False,
        tags: Collection[str] = (),
        extensions: Collection[str] = (),
        state: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> tuple[list[Document], int, bool]:
        """Return documents by key from behind ``after`` on, how many fit in all, and whether more follow."""
        return self._catalog.documents.page(
            search,
            include_deleted=include_deleted,
            tags=tags,
            extensions=extensions,
            state=state,
            after=after,
            limit=limit,
        )

    @needs(Role.READER)
    def document_list(self, wanted: DocumentQuery) -> DocumentPage:
        """Return a page of the documents, searched and sorted where they are kept."""
        return self._catalog.documents.listed(wanted)

    @needs(Role.READER)
    def document_languages(self) -> list[str]:
        """Return the codes of the languages that documents are in."""
        return self._catalog.documents.languages()

    @needs(Role.READER)
    def document(self, key: str) -> Document:
        found = self._catalog.documents.find(include_deleted=True, doc_id=self._catalog.documents.id_of(key))
        if not found:
            raise NotFound(f"There is no document “{key}”.")
        return found[0]

    @needs(Role.READER)
    def preview(
        self, key: str, version: int, start: int = 0, count: int = 50, *, reading: int | None = None
    ) -> Preview:
        """Return a stretch of a version's chunks, by position; of the reading in use, or of another one."""
        found = self.kept(key, version, reading)
        return self._catalog.visibility.preview(
            key, found.id, version, max(start, 0), min(max(count, 0), _LONGEST_PREVIEW)
        )

    @needs(Role.READER)
    def blocks_within(
        self, key: str, version: int, start: int, end: int, *, reading: int | None = None
    ) -> list[tuple[int, Block]]:
        """Return the blocks that hold characters ``start`` to ``end`` of the parsed text, with where each begins."""
        parsed = self._catalog.documents.parsed_sha256(self.kept(key, version, reading).id)
        found: list[tuple[int, Block]] = []
        at = 0
        for block in read_blocks(self._blobs.path(parsed)) if parsed is not None else ():
            if at >= end:
                break
            if at + len(block.text) > start:
                found.append((at, block))
            at += len(block.text) + len(BLOCK_JOINT)
        return found

    def parsed(self, version: Version) -> Path | None:
        """Return the file of a version's parsed text, None where there is none yet."""
        sha256 = self._catalog.documents.parsed_sha256(version.id)
        return None if sha256 is None else self._blobs.path(sha256)

    def texts_within(
        self, key: str, version: int, start: int, end: int, limit: int, *, reading: int | None = None
    ) -> list[tuple[int, str]]:
        """Return the texts of the chunks that hold characters ``start`` to ``end``, with where each begins."""
        return self._catalog.visibility.texts_within(self.kept(key, version, reading).id, start, end, limit)

    @needs(Role.READER)
    def chunk_ids(self, key: str, version: int, limit: int) -> list[int]:
        """Return the ids of a version's first chunks, by position; a text that stands twice is there twice."""
        return self._catalog.chunks.placed_ids(self.kept(key, version).id, limit)

    @needs(Role.READER)
    def text_of(self, key: str, version: int | None = None) -> str:
        """Return the text of a version (of the newest one by default): as typed for text entries, else as parsed."""
        return self._text(self.document(key), version)

    @needs(Role.READER)
    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every document that is shown, with its text."""
        shown = [document for document in self.documents() if document.published_version is not None]
        return ((document, self._text(document, document.published_version)) for document in shown)

    def _text(self, document: Document, version: int | None) -> str:
        key = document.doc_key
        found = self.kept(key, version or document.published_version or document.latest_version)
        if self._catalog.documents.is_text_entry(found.id):
            # A file that once had the entry's name may be in any encoding; its parsed text serves then.
            with contextlib.suppress(UnicodeDecodeError):
                return self._blobs.path(found.sha256).read_bytes().decode("utf-8")
        parsed = self._catalog.documents.parsed_sha256(found.id)
        if parsed is None:
            raise NotFound(f"Version {found.number} of “{key}” has no text yet.", remedy="Wait until it is indexed.")
        return BLOCK_JOINT.join(block.text for block in read_blocks(self._blobs.path(parsed)))

    @needs(Role.READER)
    def original(self, key: str, version: int) -> tuple[Path, str]:
        """Return the file that holds a version's original bytes, and the name to give it."""
        found = self.kept(key, version)
        return self._blobs.path(found.sha256), found.file_name

    @needs(Role.READER)
    def download(self, key: str, version: int, target: Path) -> Path:
        """Write a version's original bytes to a file, or into a folder under the file's name; return the path."""
        original, name = self.original(key, version)
        return Path(shutil.copyfile(original, target / Path(name).name if target.is_dir() else target))

    @needs(Role.READER)
    def tags(self) -> list[str]:
        return self._catalog.documents.tags()

    @needs(Role.EDITOR)
    def set_tags(self, key: str, tags: Sequence[str]) -> Document:
        check_tags(tags)
        self._catalog.documents.set_tags(self._catalog.documents.id_of(key), tags)
        return self.document(key)

    @needs(Role.READER)
    def versions(self, key: str) -> list[Version]:
        """Return the versions of a document, newest first; purged ones stay as tombstones."""
        return self._catalog.documents.versions(self._catalog.documents.id_of(key))

    @needs(Role.READER)
    def histories(self, keys: Sequence[str]) -> dict[str, list[Version]]:
        """Return what ``versions`` does of several documents, by their keys, of those that there are."""
        return self._catalog.documents.histories(keys)

    @needs(Role.READER)
    def version(self, key: str, number: int) -> Version:
        for version in self.versions(key):
            if version.number == number:
                return version
        raise NotFound(f"“{key}” has no version {number}.", remedy=NO_SUCH_VERSION)

    def kept(self, key: str, number: int, reading: int | None = None) -> Version:
        """Return a version that has its text, in the reading in use or another. Raises: ``NotFound``, ``Purged``."""
        found = self.version(key, number)
        if reading is not None and reading != found.reading and found.state != "purged":
            other = self._catalog.documents.reading(self._catalog.documents.id_of(key), number, reading)
            if other is None:
                raise NotFound(f"Version {number} of “{key}” has no reading {reading}.")
            found = other
        if found.state == "purged":
            raise purged(key, number)
        return found


def purged(key: str, number: int) -> Purged:
    return Purged(f"Version {number} of “{key}” was purged.")
