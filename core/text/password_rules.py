"""What a password has to be."""

from __future__ import annotations

import unicodedata

from core.errors import InvalidInput
from core.text.language import is_storable
from core.text.password_strength import is_guessable

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1_024


def new_password(password: str, name: str) -> str:
    """Return a password as it is hashed. Raises: ``InvalidInput``."""
    plain = unicodedata.normalize("NFKC", password) if isinstance(password, str) and is_storable(password) else ""
    if not SHORTEST_PASSWORD <= len(plain) <= LONGEST_PASSWORD:
        raise InvalidInput(
            f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters.", remedy="Choose another one."
        )
    if plain.casefold().strip() == name:
        raise InvalidInput("The password is the user's name.", remedy="Choose another one.")
    if is_guessable(plain, name, "evorag"):
        raise InvalidInput(
            "The password is among those that are guessed first.",
            remedy="Choose a longer one, such as several words that do not belong together.",
        )
    return plain
