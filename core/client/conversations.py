"""Conversations on a server: ``KnowledgeBase.conversations`` over HTTP."""

from __future__ import annotations

import builtins

from core.client.http import Http, path_of, values
from core.model import Conversation, Turn
from core.model.codec import from_dict

PAGE = 1_000
MOST_LISTED = 10_000


class RemoteConversations:
    """The conversations of a server that one sees; calling it lists them, as ``list`` does."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, limit: int = 100, before: str = "") -> builtins.list[Conversation]:
        """Return conversations, those that were gone on with last first, from the one after ``before`` on."""
        found: builtins.list[Conversation] = []
        wanted = min(limit, MOST_LISTED)
        following: str | None = before
        while following is not None and len(found) < wanted:
            page = self._http.get(path_of("conversations"), limit=min(wanted - len(found), PAGE), before=following)
            found += values(Conversation, page["conversations"])
            following = page["next"]
        return found

    __call__ = list

    def get(self, conversation_id: str) -> Conversation:
        """Raises: ``NotFound``."""
        return self.whole(conversation_id)[0]

    def turns(self, conversation_id: str) -> builtins.list[Turn]:
        """Return the questions of a conversation, oldest first. Raises: ``NotFound``."""
        return self.whole(conversation_id)[1]

    def whole(self, conversation_id: str) -> tuple[Conversation, builtins.list[Turn]]:
        """Return a conversation and its questions. Raises: ``NotFound``."""
        found = self._http.get(path_of("conversations", conversation_id))
        return from_dict(Conversation, found["conversation"]), values(Turn, found["turns"])

    def create(self, title: str = "") -> Conversation:
        """Begin a conversation; questions that are asked with its id follow each other."""
        return from_dict(Conversation, self._http.post(path_of("conversations"), {"title": title}))

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Raises: ``NotFound``, ``InvalidInput``."""
        path = path_of("conversations", conversation_id)
        return from_dict(Conversation, self._http.call("PATCH", path, json={"title": title}, again=True).json())

    def delete(self, conversation_id: str) -> None:
        """Forget a conversation; its questions stay in the history. Raises: ``NotFound``."""
        self._http.call("DELETE", path_of("conversations", conversation_id))

    def export(self, conversation_id: str, form: str = "md") -> str:
        """Return a conversation with its answers and what they cite. Raises: ``NotFound``, ``InvalidInput``."""
        path, accept = path_of("conversations", conversation_id, "export"), {"Accept": "*/*"}
        return self._http.call("GET", path, params={"form": form}, headers=accept).content.decode("utf-8")
