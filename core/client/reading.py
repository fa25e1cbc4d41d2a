"""What a client asks about documents, versions, questions and the whole: the facade's reading methods over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, overload

from core.api import ComparisonApi
from core.client.conversations import RemoteConversations
from core.client.http import Http, path_of, values
from core.errors import InvalidInput, NotFound
from core.model import (
    ChangeSummary,
    ComparisonProgress,
    Conversation,
    Counts,
    Document,
    Health,
    PageSize,
    PageText,
    Preview,
    Publication,
    Row,
    SavedQuestion,
    StoreHealth,
    Trace,
    TraceSummary,
    Turn,
    Version,
)
from core.model.codec import from_dict, to_dict
from core.platform.private_file import private_file

EXPORTS = ("html", "patch", "old", "new")
PAGE = 1_000
PREVIEW_PAGE = 500
READ_BYTES = 1024 * 1024
BACKUP_READ_S = 1_800.0
"""Time in which a server packs the rows of a backup; it sends nothing before."""


class RemoteComparison:
    """What differs between two versions: the summary at once, the rows when they are asked for."""

    def __init__(self, http: Http, which: Mapping[str, Any]) -> None:
        self._http = http
        self.which = dict(which)
        self.summary: ChangeSummary = from_dict(ChangeSummary, http.get(path_of("diff"), **self.which))

    @property
    def count(self) -> int:
        return self.summary.rows

    def rows(self, start: int, end: int) -> list[Row]:
        """Return the rows from ``start`` up to, not including, ``end``."""
        found: list[Row] = []
        start = max(start, 0)
        while (at := start + len(found)) < min(end, self.count):
            page = self._http.get(path_of("diff", "rows"), **self.which, start=at, limit=min(end - at, PAGE))
            if not page["rows"]:
                break
            found += values(Row, page["rows"])
        return found


def _named(which: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in which.items() if value is not None}


def _progress_of(answer: Mapping[str, Any]) -> float | None:
    progress = answer["progress"]
    return None if progress is None else float(progress["share"])


class DocumentClient:
    """The part of the client that changes nothing."""

    _http: Http

    # ---- documents

    def documents(self, search: str = "", *, include_deleted: bool = False, limit: int | None = None) -> list[Document]:
        """Return documents by name, at most ``limit``; ``search`` is literal text in the name, the title or a tag."""
        pages = self._pages(path_of("documents"), "documents", "after", search=search, deleted=include_deleted)
        return sorted(values(Document, list(pages)), key=lambda document: document.name)[:limit]

    def document(self, key: str) -> Document:
        return from_dict(Document, self._http.get(path_of("documents", key)))

    def versions(self, key: str) -> list[Version]:
        """Return the versions of a document, newest first; purged ones stay as tombstones."""
        return values(Version, self._http.get(path_of("documents", key, "versions"))["versions"])

    def version(self, key: str, number: int) -> Version:
        return from_dict(Version, self._http.get(path_of("documents", key, "versions", number)))

    def publications(self, key: str) -> list[Publication]:
        """Return what the document has shown, newest first."""
        return values(
            Publication, list(self._pages(path_of("documents", key, "publications"), "publications", "before"))
        )

    def preview(
        self, key: str, version: int, start: int = 0, count: int = 50, *, reading: int | None = None
    ) -> Preview:
        """Return a stretch of a version's chunks, by position."""
        limit = min(max(count, 0), PREVIEW_PAGE)
        path = path_of("documents", key, "versions", version, "chunks")
        return from_dict(Preview, self._http.get(path, start=max(start, 0), limit=limit, reading=reading))

    def text_of(self, key: str, version: int | None = None) -> str:
        """Return the text of a version, of the one that is shown by default."""
        params = {} if version is None else {"version": version}
        response = self._http.call(
            "GET", path_of("documents", key, "text"), params=params, headers={"Accept": "text/plain"}
        )
        return response.content.decode("utf-8")

    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every document that is shown, with its text."""
        for document in self.documents():
            if document.published_version is not None:
                yield document, self.text_of(document.doc_key, document.published_version)

    def download(self, key: str, version: int, target: Path) -> Path:
        """Write the original bytes of a version to a file, or into a folder under the file's name; return the path."""
        if target.is_dir():
            # The server's name for it is a name, never a path.
            target = target / Path(self.version(key, version).file_name.replace("\\", "/")).name
        self._saved(path_of("documents", key, "versions", version, "original"), target)
        return target

    def image(self, key: str, version: int, number: int, target: Path) -> Path:
        """Write an image of a version to a file; images count from 1. Raises: ``NotFound``, ``Conflict``."""
        self._saved(path_of("documents", key, "versions", version, "images", number), target)
        return target

    def has_pages(self, key: str, version: int) -> bool:
        """Tell whether a version can be shown as pages on the server. Raises: ``NotFound``, ``Purged``."""
        return bool(self._http.get(path_of("documents", key, "versions", version, "has-pages"))["has_pages"])

    def pages(self, key: str, version: int) -> list[PageSize]:
        """Return the sizes of a version's pages. Raises: ``NotFound``, ``UnreadableDocument`` and its kinds."""
        return values(PageSize, self._http.get(path_of("documents", key, "versions", version, "pages"))["pages"])

    def page_image(self, key: str, version: int, page: int, target: Path, *, width: int = 1200) -> Path:
        """Write a page to a file as a WebP picture. Raises as ``pages`` does; ``InvalidInput`` for a bad width."""
        self._saved(path_of("documents", key, "versions", version, "pages", page), target, width=width)
        return target

    def page_text(
        self,
        key: str,
        version: int,
        page: int,
        *,
        start: int | None = None,
        end: int | None = None,
        reading: int | None = None,
    ) -> PageText:
        """Return where the text of a page stands, marking a passage of the parsed text. Raises as ``pages`` does."""
        path = path_of("documents", key, "versions", version, "pages", page, "text")
        return from_dict(PageText, self._http.get(path, start=start, end=end, reading=reading))

    def find_on_pages(self, key: str, version: int, text: str) -> list[int]:
        """Return the numbers of the pages that hold ``text``. Raises as ``pages`` does."""
        path = path_of("documents", key, "versions", version, "pages", "find")
        return list(self._http.get(path, text=text)["pages"])

    def tags(self) -> list[str]:
        return list(self._http.get(path_of("tags"))["tags"])

    # ---- what was shown, and what differs

    def audit(
        self, *, limit: int = 200, before: int | None = None, key: str | None = None, action: str | None = None
    ) -> list[Publication]:
        """Return the publications of all documents (of one, of one action), newest first, before a sequence number."""
        given = {"limit": min(max(limit, 1), PAGE), "before": before, "doc": key, "action": action}
        return values(Publication, self._http.get(path_of("audit"), **given)["publications"])[: max(limit, 0)]

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: Literal[True] = True
    ) -> RemoteComparison: ...

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool
    ) -> RemoteComparison | None: ...

    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool = True
    ) -> RemoteComparison | None:
        """Compare two versions of a document, or of two where ``other`` names the one that holds ``new``.

        Without ``wait`` it is None while it is being computed, which begins here. Raises: ``NotFound``, ``Purged``,
        ``DiffLimit``, and ``Conflict`` where a version has no text.
        """
        which = {"doc": key, "old": old, "new": new, "other": other}
        if not wait and _progress_of(self._http.post(path_of("compare", "begin"), _named(which), again=True)) != 1:
            return None
        return RemoteComparison(self._http, which)

    diff = compare

    def comparison_progress(
        self, key: str, old: int, new: int, *, other: str | None = None
    ) -> ComparisonProgress | None:
        """Return how far a comparison is, with a share of 1 where it is there; None where nobody computes it.

        Raises: as ``compare`` does.
        """
        found = self._http.get(path_of("compare", "progress"), doc=key, old=old, new=new, other=other)["progress"]
        return None if found is None else from_dict(ComparisonProgress, found)

    def cancel_comparison(self, key: str, old: int, new: int, *, other: str | None = None) -> bool:
        """Stop computing a comparison, and return whether it was being computed. Raises: as ``compare`` does."""
        which = _named({"doc": key, "old": old, "new": new, "other": other})
        return bool(self._http.post(path_of("compare", "cancel"), which, again=True)["cancelled"])

    def export(self, comparison: ComparisonApi, form: str) -> Iterator[str]:
        """Yield a standalone page (``html``), a unified ``patch``, or one of the two texts (``old``, ``new``).

        Raises: ``InvalidInput``.
        """
        if not isinstance(comparison, RemoteComparison):
            raise InvalidInput("This comparison was made by another knowledge base.")
        if form not in EXPORTS:
            raise InvalidInput("A comparison is exported as “html”, “patch”, “old” or “new”.")
        return self._exported(comparison, form)

    def _exported(self, comparison: RemoteComparison, form: str) -> Iterator[str]:
        is_side = form in ("old", "new")
        params = {name: value for name, value in comparison.which.items() if value is not None}
        params |= {"side": form} if is_side else {}
        address = "/api/v1/compare.txt" if is_side else f"/api/v1/compare.{form}"
        with self._http.streamed("GET", address, params=params, headers={"Accept": "*/*"}) as response:
            response.encoding = "utf-8"
            yield from response.iter_text()

    def screen_lines(self, options: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
        """Return lines of a comparison as the server lays them out, and their ``total``."""
        found: dict[str, Any] = self._http.get("/api/v1/compare/rows", **options, start=start, end=end)
        return found

    def sequence(self) -> int:
        """Return the sequence number of the newest publication, 0 before the first."""
        return self.counts().sequence

    # ---- questions already asked, and those that are watched

    def history(self, limit: int = 100) -> list[TraceSummary]:
        """Return the questions asked, newest first."""
        found: list[TraceSummary] = []
        following: str | None = ""
        while following is not None and len(found) < limit:
            page = self._http.get(path_of("questions"), limit=min(limit - len(found), PAGE), before=following)
            found += values(TraceSummary, page["questions"])
            following = page["next"]
        return found

    def trace(self, trace_id: str) -> Trace:
        return from_dict(Trace, self._http.get(path_of("traces", trace_id)))

    def saved_questions(self) -> list[SavedQuestion]:
        """Return the saved questions that the caller sees, oldest first."""
        return values(SavedQuestion, self._http.get(path_of("saved-questions"))["questions"])

    def save_question(self, text: str, *, shared: bool = True) -> SavedQuestion:
        """Keep a question; one that is kept already stays as it is. Raises: ``InvalidInput`` and its kinds."""
        body = {"text": text, **({} if shared else {"shared": False})}
        return from_dict(SavedQuestion, self._http.post(path_of("saved-questions"), body, again=True))

    def share_question(self, question_id: str, shared: bool) -> SavedQuestion:
        """Show a saved question to everybody, or to its owner alone. Raises: ``NotFound``, ``Conflict``."""
        path = path_of("saved-questions", question_id)
        return from_dict(SavedQuestion, self._http.call("PATCH", path, json={"shared": shared}, again=True).json())

    def forget_question(self, question_id: str) -> None:
        """Forget a saved question. Raises: ``NotFound``."""
        self._http.call("DELETE", path_of("saved-questions", question_id))

    # ---- conversations

    conversations: RemoteConversations

    def conversation(self, conversation_id: str) -> tuple[Conversation, list[Turn]]:
        """Return a conversation and its questions, oldest first. Raises: ``NotFound``."""
        return self.conversations.whole(conversation_id)

    def begin_conversation(self, title: str = "") -> Conversation:
        """Begin a conversation; questions that are asked with its id follow each other."""
        return self.conversations.create(title)

    def forget_conversation(self, conversation_id: str) -> None:
        """Forget a conversation; its questions stay in the history. Raises: ``NotFound``."""
        self.conversations.delete(conversation_id)

    # ---- state

    def health(self) -> Health:
        """Return the state of the stores and models."""
        found = self._http.call("GET", path_of("health"), accept=(503,)).json()
        if "stores" not in found:
            raise NotFound("There is no EvoRAG at this address.", remedy="Check the address of the server.")
        stores = tuple(values(StoreHealth, found["stores"]))
        return Health(stores, int(found["outbox"]), bool(found["models_ready"]))

    def counts(self) -> Counts:
        return from_dict(Counts, self._http.get(path_of("counts")))

    @overload
    def backup(self, *, with_keys: bool = False) -> Iterator[bytes]: ...

    @overload
    def backup(self, target: Path, show: Callable[[int, int, str], None] = ..., *, with_keys: bool = False) -> int: ...

    def backup(
        self,
        target: Path | None = None,
        show: Callable[[int, int, str], None] = lambda done, total, remark: None,
        *,
        with_keys: bool = False,
    ) -> Iterator[bytes] | int:
        """Yield an archive of everything on the server, or write it to a file and return its size.

        Only its owner may read the file, which is whole or as it was before. Raises: ``Conflict`` while another backup
        is made, ``Forbidden``; ``InvalidInput`` where the file cannot be written.
        """
        if target is None:
            return self._archive(with_keys)
        size = 0
        with private_file(target) as file:
            for piece in self._archive(with_keys):
                size += file.write(piece)
                show(size, 0, "")
        return size

    def _archive(self, with_keys: bool) -> Iterator[bytes]:
        accepted = {"Accept": "*/*"}
        path = path_of("backup") + ("?with_keys=true" if with_keys else "")
        with self._http.streamed("GET", path, read_s=BACKUP_READ_S, headers=accepted) as response:
            yield from response.iter_bytes(READ_BYTES)

    # ---- ways to read

    def _pages(self, path: str, name: str, cursor: str, **params: Any) -> Iterator[Any]:
        """Yield the rows of all pages of a list."""
        following: Any = None
        while True:
            page = self._http.get(path, **params, limit=PAGE, **{cursor: following})
            yield from page[name]
            following = page.get("next")
            if following is None:
                return

    def _saved(self, path: str, target: Path, **params: Any) -> None:
        saved(self._http, path, target, **params)


def saved(http: Http, path: str, target: Path, **params: Any) -> None:
    """Write what is at a path to a file, which is then whole or as it was before."""
    part = target.with_name(f".{target.name}.part")
    try:
        with http.streamed("GET", path, params=params, headers={"Accept": "*/*"}) as response, part.open("wb") as file:
            for piece in response.iter_bytes(READ_BYTES):
                file.write(piece)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def moment_of(at: datetime) -> str:
    return str(to_dict(at))


def compact(value: object) -> str:
    """Return JSON in few bytes, for headers."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
