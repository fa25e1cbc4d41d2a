"""Passwords by Werkzeug: scrypt with a salt of its own for each."""

from __future__ import annotations

from werkzeug.security import check_password_hash, generate_password_hash


class WerkzeugPasswords:
    """``method`` is Werkzeug's name of a hash with its costs; a stored hash tells the one that it was made by."""

    def __init__(self, method: str = "scrypt") -> None:
        self._method = method

    def hash(self, password: str) -> str:
        return generate_password_hash(password, self._method)

    def verify(self, password: str, hashed: str) -> bool:
        return check_password_hash(hashed, password)
