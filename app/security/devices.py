"""From where somebody signs in, reduced to what people know again: a browser's family, its system, and an address.

Nothing of a header is kept as it was sent: families and systems are those of the lists below.
"""

from __future__ import annotations

import flask

from app.security.proxies import UNKNOWN_PROXY, site_of
from core.model import Device

READ_CHARS = 512
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
)
"""What a header holds, and whose it is then: the first one that fits, since most pretend to be others as well."""
SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def device_of(request: flask.Request) -> Device:
    """Return from where a request comes; without an address where a proxy sent it that is not believed."""
    address = "" if UNKNOWN_PROXY in request.environ else site_of(request.remote_addr or "")
    return Device(browser_of(request.headers.get("User-Agent", "")), address)


def browser_of(sent: str) -> str:
    """Return a family such as ``Firefox on Linux``, empty where none is known."""
    sent = sent[:READ_CHARS]
    browser = next((name for mark, name in BROWSERS if mark in sent), "")
    system = next((name for mark, name in SYSTEMS if mark in sent), "")
    return f"{browser} on {system}" if browser and system else browser or system
