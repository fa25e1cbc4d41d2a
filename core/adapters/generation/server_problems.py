"""What is wrong with a server that writes answers, in words that lead to where it was set up.

That is the environment (``EVORAG_OPENAI_…``), or the page Settings for a server that an administrator has added there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from core.errors import GenerationFailed, ModelUnavailable
from core.model import is_key, is_server_address

_IN_ENVIRONMENT = {
    "no_model": "Set EVORAG_OPENAI_MODEL to the one it has.",
    "silent": "Start it, or correct EVORAG_OPENAI_URL. SSL_CERT_FILE names certificates of your own.",
    "key_refused": "Set EVORAG_OPENAI_KEY.",
    "not_known": "Check EVORAG_OPENAI_URL, which mostly ends with /v1, and EVORAG_OPENAI_MODEL.",
    "elsewhere": "Set EVORAG_OPENAI_URL to the address where the server really is.",
    "unset": "Set EVORAG_OPENAI_URL, such as http://127.0.0.1:11434/v1, and EVORAG_OPENAI_KEY if it needs one.",
    "address": "Write EVORAG_OPENAI_URL like http://127.0.0.1:11434/v1, and the key into EVORAG_OPENAI_KEY.",
    "key": "Copy EVORAG_OPENAI_KEY anew.",
}
_IN_SETTINGS = {
    "no_model": "Name the model that it has in Settings.",
    "silent": "Start it, or correct its address in Settings. SSL_CERT_FILE names certificates of your own.",
    "key_refused": "Enter its key anew in Settings.",
    "not_known": "Check its address, which mostly ends with /v1, and its model in Settings.",
    "elsewhere": "Enter the address in Settings where the server really is.",
    "unset": "Enter its address in Settings, such as https://api.example.com/v1.",
    "address": "Write its address in Settings like https://api.example.com/v1, and the key into its own field.",
    "key": "Copy its key anew into Settings.",
    "inside": "Allow addresses inside the network for it in Settings if it is meant to be there.",
}


class ServerProblems:
    """Makes the errors about one server; none holds its key."""

    def __init__(self, name: str, url: str, *, is_kept: bool) -> None:
        self._name = name
        self._kind = "server" if is_kept else "openai"
        self._remedies = _IN_SETTINGS if is_kept else _IN_ENVIRONMENT
        self.place = _place(url)

    def of_settings(self, url: str, key: str) -> ModelUnavailable | None:
        """Return what keeps a server with this address and key from being asked at all, None where nothing does."""
        if not url:
            return self._unavailable(f"No server is set for the generator “{self._name}”.", "unset")
        if not is_server_address(url):
            return self._unavailable(f"The address of the generator “{self._name}” is not understood.", "address")
        if not is_key(key):
            return self._unavailable(f"The key of the generator “{self._name}” holds signs that no key has.", "key")
        return None

    def no_model(self) -> ModelUnavailable:
        return self._unavailable(f"The server at {self.place} lists no model.", "no_model")

    def silent(self, *, by_certificate: bool) -> ModelUnavailable:
        why = " (its certificate is not trusted)" if by_certificate else ""
        reason = "certificate" if by_certificate else "silent"
        return self._unavailable(f"The server at {self.place} does not answer{why}.", "silent", reason)

    def key_refused(self, said: str) -> ModelUnavailable:
        return self._unavailable(f"The server at {self.place} refuses the key{said}", "key_refused", said=said)

    def not_known(self, said: str) -> ModelUnavailable:
        about = f"The server at {self.place} does not know the model or the address{said}"
        return self._unavailable(about, "not_known", said=said)

    def inside(self, address: str) -> ModelUnavailable:
        """Return the refusal of a server that was found at an ``address`` inside the network."""
        where = self.place if address in self.place else f"{self.place} ({address})"
        return self._unavailable(f"The server at {where} is inside the network, which is not allowed for it.", "inside")

    def elsewhere(self) -> GenerationFailed:
        return GenerationFailed(
            f"The server at {self.place} sends questions to another address; that is not followed.",
            remedy=self._remedies["elsewhere"],
        )

    def _unavailable(self, message: str, remedy: str, reason: str = "", said: str = "") -> ModelUnavailable:
        values = {"name": self._name, "server": self.place}
        if said:
            values["said"] = said.removeprefix(": ").rstrip(".")
        reason = f"{self._kind}_{reason or remedy}"
        return ModelUnavailable(message, remedy=self._remedies[remedy], reason=reason, **values)


def _place(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""
