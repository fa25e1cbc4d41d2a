"""What a client does with a server's files that nothing names: ``KnowledgeBase.quarantine`` over HTTP."""

from __future__ import annotations

import builtins
from collections.abc import Collection
from typing import TYPE_CHECKING

from core.client.http import path_of
from core.model import Receipt, UnnamedFile, Upload
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.client.http import Http


class RemoteQuarantine:
    """A server's files that nothing names; the methods are those of the knowledge base."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> builtins.list[UnnamedFile]:
        """Return the files that nothing names."""
        found = self._http.get(path_of("stores", "quarantine"))
        return [from_dict(UnnamedFile, each) for each in found["files"]]

    def restore(self, name: str, file_name: str) -> Upload:
        """Take an original back as the next version of the document that ``file_name`` says."""
        given = {"name": name, "file_name": file_name}
        return from_dict(Receipt, self._http.post(path_of("stores", "quarantine", "restore"), given)).upload()

    def empty(self, names: Collection[str] | None = None) -> int:
        """Remove files of these names, or all of them, for good; return how many."""
        given = {"all": True} if names is None else {"names": sorted(names)}
        return int(self._http.post(path_of("stores", "quarantine", "empty"), given)["count"])
