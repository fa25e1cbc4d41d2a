"""What is there for everybody: the page that asks who somebody is, and exactly the files that it needs."""

from __future__ import annotations

from app import links

ASSETS = "/assets/"
STYLES = ("vendor/bootstrap/bootstrap.min.css", "theme.css", "head/sign_in.css")
SCRIPT = "head/boot.js"
ICON = "head/evorag.svg"
OPEN = frozenset({links.SIGN_IN, *(ASSETS + name for name in (*STYLES, SCRIPT, ICON))})
AFTER_LIMIT = 2_000
NEVER_AFTER = ("/api/", "/_dash", links.SIGN_IN, links.SIGN_OUT, links.SET_UP)


def safe_path(after: str) -> str:
    """Return an address of our own to go to after signing in; the first page where ``after`` is none."""
    is_ours = after.startswith("/") and not after.startswith(("//", "/\\")) and len(after) <= AFTER_LIMIT
    is_plain = after.isprintable() and "\\" not in after
    return after if is_ours and is_plain and not after.startswith(NEVER_AFTER) else links.HOME
