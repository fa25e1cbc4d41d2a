"""From where a request comes, and by which name it asks for this server."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from werkzeug.middleware.proxy_fix import ProxyFix

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
FORWARDED = "HTTP_X_FORWARDED_"
FORWARDED_TOO = ("HTTP_FORWARDED", "HTTP_X_REAL_IP")
UNKNOWN_PROXY = "evorag.unknown_proxy"
"""Stands in the environment of a request that somebody forwarded who is not believed."""
SCHEMES = ("http", "https")
IPV6_SITE = 64

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_loopback(host: str) -> bool:
    """Say whether a server that listens on ``host`` can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header, without the port and the brackets of IPv6."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def listed(setting: str) -> tuple[str, ...]:
    """Return what a setting names with commas."""
    return tuple(part for part in (piece.strip().lower() for piece in setting.split(",")) if part)


def networks(setting: str) -> tuple[Network, ...]:
    """Return the addresses and networks that a setting names. Raises: ``ValueError`` for what is neither."""
    return tuple(ipaddress.ip_network(part, strict=False) for part in listed(setting))


def site_of(address: str) -> str:
    """Return what one person can be assumed to have alone: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, IPV6_SITE), strict=False))


class Forwarded:
    """Believes ``X-Forwarded-*`` of the proxies that the settings name, and hides it where anybody else sends it."""

    def __init__(self, application: WSGIApplication, proxies: tuple[Network, ...]) -> None:
        self._application = application
        self._proxies = proxies
        self._fixed = ProxyFix(application, x_for=1, x_proto=1, x_host=1)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_trusted = self._trusts(environ.get("REMOTE_ADDR", ""))
        if is_trusted and environ.get("HTTP_X_FORWARDED_PROTO", "http").lower() in SCHEMES:
            return self._fixed(environ, start_response)
        for name in [name for name in environ if name.startswith(FORWARDED) or name in FORWARDED_TOO]:
            del environ[name]
            environ[UNKNOWN_PROXY] = True
        return self._application(environ, start_response)

    def _trusts(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)
