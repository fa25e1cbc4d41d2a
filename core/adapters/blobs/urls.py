"""Blobs as objects under a URL that fsspec knows, each named by its hash; read from files of a cache.

``<url>/<two signs>/<sha256>`` are the blobs, as in the data folder, and ``<url>/owner`` names the knowledge base that
they are of, since each removes what it does not know.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from core.adapters.blobs.cache import BlobCache
from core.adapters.blobs.files import FileBlobStore, checked_name, sync
from core.adapters.blobs.reading import Pace, ReadWhole, at_once, has_hash
from core.errors import Conflict, Damaged, EvoRAGError, InvalidInput, NotFound, StoreUnavailable
from core.model import FileFault
from core.ports import BlobStore

_S3 = frozenset({"s3", "s3a"})
_FLAT = _S3 | frozenset({"gs", "gcs", "az", "abfs", "abfss", "oss", "oci"})
"""Stores without folders, whose objects are there when they are whole, and not before."""
_S3_PARTS = {"chunksize": 8 * 1024 * 1024, "max_concurrency": 2}
"""What is in memory of a file that is sent; s3fs would take up to 500 MiB."""
_UNFIT = frozenset({"http", "https", "data", "blockcache", "filecache", "simplecache", "dir", "reference"})
"""What cannot be written to, or is no place of its own."""
_PLACE = re.compile(r"(?:.*/)?([0-9a-f]{2})/(\1[0-9a-f]{62})(?:\.[0-9a-f]+)?")
_NO_SPACE = 28
_ADDRESS = "Write EVORAG_BLOB_URL as s3://bucket/folder, or leave it empty for the data folder."


def blobs_at(url: str, folder: Path, cache_bytes: int, identity: Callable[[], str] = lambda: "") -> BlobStore:
    """Return the blobs under a URL, with a cache beside ``folder``; those of ``folder`` itself where there is none.

    ``identity`` tells of which knowledge base they are once that is known; a place that is new gets one otherwise.
    Raises: ``InvalidInput`` for a URL that is none, or whose package is missing.
    """
    if not url:
        return FileBlobStore(folder)
    if url.lower().startswith("memory:"):
        raise InvalidInput("What is kept at memory:// is lost with the process.", remedy=_ADDRESS)
    return UrlBlobStore(url, folder.with_name("blob-cache"), cache_bytes, folder.with_name("blob-owner"), identity)


class UrlBlobStore:
    """Objects under ``url``, with copies in ``cache``; ``owner`` is the file that tells whose they are.

    Raises: ``StoreUnavailable`` from everything while the store does not answer, ``Conflict`` where the place is
    another knowledge base's; ``InvalidInput`` for a URL that is none, or whose package is missing.
    """

    def __init__(
        self, url: str, cache: Path, limit_bytes: int, owner: Path, identity: Callable[[], str] = lambda: ""
    ) -> None:
        self._scheme, self._fs, self._root = _opened(url)
        self.engine = self._scheme
        self._cache = BlobCache(cache, limit_bytes)
        self._whole = ReadWhole()
        self._damaged: set[str] = set()
        """Objects that turned out to be damaged: the next ``put`` writes them anew, whatever their size."""
        self._owner = owner
        self._identity = identity
        self._is_ours = False
        self._claiming = threading.Lock()

    def put(self, source: Path, sha256: str) -> None:
        place, size = self._place(sha256), source.stat().st_size
        with self._asking():
            self._claim()
            if self._size(place) != size or sha256 in self._damaged:
                self._send(source, place)
                self._damaged.discard(sha256)
                if self._size(place) != size:
                    raise StoreUnavailable("The store of the originals did not keep what it was sent.")
        try:
            self._cache.keep(source, sha256)
        except OSError:
            # The blob is where it belongs; a copy is had from there when it is needed.
            source.unlink(missing_ok=True)

    def path(self, sha256: str, *, verified: bool = True) -> Path:
        place = self._place(sha256)
        if (found := self._cache.find(sha256)) is not None:
            if not verified or self._whole.fault(found, sha256) is None:
                return found
            # The copy is damaged, or was removed just now: another one is had from the store.
            self._cache.forget(sha256)
        with self._asking():
            self._claim()
            return self._fetched(place, sha256)

    def fault(self, sha256: str, pace: Pace = at_once) -> FileFault | None:
        place = self._place(sha256)
        ended: list[Exception] = []

        def rest(seconds: float) -> None:
            try:
                pace(seconds)
            except Exception as error:
                ended.append(error)
                raise

        try:
            with self._asking():
                self._claim()
                if self._size(place) is None:
                    return FileFault.MISSING
                with self._fs.open(place, "rb") as file:
                    is_whole = has_hash(file, sha256, rest)
        except StoreUnavailable:
            if ended:
                raise ended[0] from None
            raise
        (self._damaged.discard if is_whole else self._damaged.add)(sha256)
        return None if is_whole else FileFault.DAMAGED

    def size(self, sha256: str) -> int | None:
        place = self._place(sha256)
        with self._asking():
            self._claim()
            return self._size(place)

    def delete(self, sha256: str) -> None:
        place = self._place(sha256)
        self._cache.forget(sha256)
        with self._asking():
            self._claim()
            folder = place.rpartition("/")[0]
            # Stores with folders may hold what a killed process had begun to send.
            names = [place] if self._is_flat else [each for each in self._listed(folder) if each.startswith(place)]
            for name in names:
                with suppress(FileNotFoundError):
                    self._fs.rm_file(name)
        # Once more: whoever fetched it meanwhile sees that it is gone, or has its copy removed here.
        self._cache.forget(sha256)

    def names(self) -> Iterator[str]:
        """Yield the names of all blobs, and of those that a killed process had begun to send."""
        with self._asking():
            self._claim()
            return iter({found[2] for each in self._listed(self._root) if (found := _PLACE.fullmatch(each))})

    # ---- one at a time

    def _place(self, sha256: str) -> str:
        return f"{self._root}/{checked_name(sha256)[:2]}/{sha256}"

    @property
    def _is_flat(self) -> bool:
        return self._scheme in _FLAT

    @property
    def _is_local(self) -> bool:
        return self._scheme in ("file", "local")

    def _send(self, source: Path, place: str) -> None:
        """Put a file at its place: with its last byte, or under another name that becomes its own at the end."""
        if self._is_flat:
            self._fs.put_file(str(source), place, **(_S3_PARTS if self._scheme in _S3 else {}))
            return
        folder, part = place.rpartition("/")[0], f"{place}.{secrets.token_hex(8)}"
        self._fs.makedirs(folder, exist_ok=True)
        try:
            self._fs.put_file(str(source), part)
            if self._is_local:
                sync(Path(part))
            self._fs.mv(part, place)
            if self._is_local:
                sync(Path(folder))
        except BaseException:
            with suppress(Exception):
                self._fs.rm_file(part)
            raise

    def _fetched(self, place: str, sha256: str) -> Path:
        """Return a whole copy. Raises: ``NotFound``, also where it was removed meanwhile."""
        gone = NotFound("The original bytes are not in the store of the originals.", remedy="Upload the file again.")
        with self._cache.arriving(sha256) as part:
            try:
                self._fs.get_file(place, str(part))
                with part.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                        self._damaged.add(sha256)
                        raise Damaged("The bytes of this file in the store of the originals are damaged.")
                found = self._cache.keep(part, sha256)
            except FileNotFoundError:
                raise gone from None
        if self._size(place) is None:
            self._cache.forget(sha256)
            raise gone
        return found

    def _size(self, place: str) -> int | None:
        """Return the size of an object in bytes, None where there is none."""
        try:
            return int(self._fs.info(place)["size"])
        except FileNotFoundError:
            return None

    def _listed(self, folder: str) -> list[str]:
        try:
            return list(self._fs.find(folder))
        except FileNotFoundError:
            return []

    # ---- the whole place

    def _claim(self) -> None:
        """See to it that the place is this knowledge base's. Raises: ``Conflict``, ``StoreUnavailable``."""
        # A folder may be unmounted at any time; another one is behind it then.
        if self._is_ours and (self._is_flat or self._told_owner()):
            return
        with self._claiming, self._owner.open("a+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            ours, theirs, identity = file.read(), self._told_owner(), self._identity()
            if not ours and theirs and theirs == identity:
                # A new data folder of the catalogue whose originals these are.
                ours = identity
                self._keep_owner(file, ours)
            elif not ours and (not theirs or not any(map(_PLACE.fullmatch, self._listed(self._root)))):
                ours = theirs = identity or secrets.token_hex(16)
                if not self._is_flat:
                    self._fs.makedirs(self._root, exist_ok=True)
                self._fs.pipe_file(f"{self._root}/owner", ours.encode())
                self._keep_owner(file, ours)
            if not theirs:
                raise StoreUnavailable(
                    "EVORAG_BLOB_URL does not lead to the place where the originals were.",
                    remedy="Mount or name that place; where it moved, copy all of it, the object `owner` as well.",
                )
            if theirs != ours:
                raise Conflict(
                    f"The originals at EVORAG_BLOB_URL are of the knowledge base {theirs[:8]}, and this one is"
                    f" {(ours or identity)[:8] or 'new'}.",
                    remedy="Choose another folder there; if they are this one's, remove its object `owner`.",
                )
            self._is_ours = True

    def _keep_owner(self, file: IO[str], owner: str) -> None:
        file.write(owner)
        file.flush()
        sync(self._owner)

    def _told_owner(self) -> str:
        try:
            return bytes(self._fs.cat_file(f"{self._root}/owner")).decode("ascii", "replace")
        except FileNotFoundError:
            return ""

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Say in our words what goes wrong; addresses and keys may be in those of others."""
        try:
            yield
        except EvoRAGError:
            raise
        except NotImplementedError:
            raise InvalidInput(f"Files cannot be kept at {self._scheme}://.", remedy=_ADDRESS) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno == _NO_SPACE:
                raise
            raise StoreUnavailable(
                f"The store of the originals does not answer ({type(error).__name__}).",
                remedy="See to it that EVORAG_BLOB_URL can be reached and written to; what waits goes on then.",
            ) from None


def _opened(url: str) -> tuple[str, Any, str]:
    """Return scheme, file system and path of a URL, which is repeated nowhere, since it may hold a password."""
    scheme, is_url, _ = url.partition("://")
    scheme = scheme.lower()
    # Two colons chain places, such as what is inside an archive.
    if not (scheme and is_url) or "::" in url or scheme in _UNFIT:
        raise InvalidInput("EVORAG_BLOB_URL is no place where files can be kept.", remedy=_ADDRESS)
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    try:
        # What others write and remove is seen at once: nothing that was listed is remembered.
        fs, root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
    except ImportError:
        told = str(known_implementations.get(scheme, {}).get("err", "")) or f"Install what fsspec needs for {scheme}."
        raise InvalidInput(f"A package is missing for {scheme}:// of EVORAG_BLOB_URL.", remedy=told) from None
    except Exception as error:
        raise InvalidInput(f"EVORAG_BLOB_URL is not understood ({type(error).__name__}).", remedy=_ADDRESS) from None
    root = str(root).rstrip("/")
    if not root:
        raise InvalidInput("EVORAG_BLOB_URL names no bucket or folder.", remedy=_ADDRESS)
    if scheme in _S3:
        # s3fs and botocore try five times each, which takes seven minutes where a server hangs; who asks tries again.
        fs.retries = 1
        fs.config_kwargs.setdefault("retries", {"max_attempts": 1})
    return scheme, fs, root
