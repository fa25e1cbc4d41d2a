"""Connections to servers outside of the network alone, whatever names and their answers say.

A name is looked up once, and the connection goes to an address that was looked at: a name that means another address a
moment later leads nowhere else. The certificate is still held against the name.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import httpx

from core.errors import EvoRAGError
from core.model import is_inside

_HTTP, _HTTPS = 80, 443


class OutsideTransport(httpx.BaseTransport):
    """Sends requests to addresses that everybody can reach; ``refusal`` is raised for any other, by its text."""

    def __init__(self, limits: httpx.Limits, refusal: Callable[[str], EvoRAGError]) -> None:
        self._inner = httpx.HTTPTransport(limits=limits)
        self._refusal = refusal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises: the refusal where any address of its host is inside; what httpx raises."""
        host = request.url.host
        addresses = self._looked_up(host, request.url.port or (_HTTPS if request.url.scheme == "https" else _HTTP))
        request.extensions = {**request.extensions, "sni_hostname": host}
        for address in addresses[:-1]:
            request.url = request.url.copy_with(host=address)
            try:
                return self._inner.handle_request(request)
            except httpx.ConnectError:
                continue
        request.url = request.url.copy_with(host=addresses[-1])
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()

    def _looked_up(self, host: str, port: int) -> list[str]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        for address in addresses:
            if is_inside(address):
                raise self._refusal(address)
        return addresses
