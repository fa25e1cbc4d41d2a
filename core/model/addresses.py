"""Addresses of servers: which are understood, and which are inside the network, not reached from everywhere."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAMES = ("localhost", "localhost.localdomain")
_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa")


def is_server_address(url: str) -> bool:
    """Tell whether an address names a server and nothing else, such as a password."""
    try:
        parts = urlsplit(url)
        has_more = parts.username or parts.password or parts.query or parts.fragment
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not has_more
    except ValueError:
        return False


def is_key(key: str) -> bool:
    """Tell whether a key, which may be empty, can stand in a header."""
    return key.isascii() and key.isprintable() and " " not in key


def is_inside(host: str) -> bool:
    """Tell whether an IP address, or a name by itself, is of this machine or its network, or of no single machine.

    An address that stands for another one, as IPv6 has several, is what that one is. Other names are looked up first.
    """
    name = host.strip("[]").rstrip(".").lower()
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name in _LOCAL_NAMES or name.endswith(_LOCAL_ENDINGS)
    meant = _meant(address)
    is_public = isinstance(meant, ipaddress.IPv4Address) or meant in _PUBLIC_IPV6
    return not is_public or not meant.is_global or meant.is_multicast


def _meant(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address
