"""How soon a password is guessed: against lists of common ones, names, dates, keyboards, and what is known of its user.

Source: Wheeler, "zxcvbn: low-budget password strength estimation" (USENIX Security 2016).
"""

from __future__ import annotations

_LEAST_SCORE = 3
"""Out of 4: more than 10^8 guesses, which takes long even where the hashes are lost."""
_READ_CHARS = 64
"""A password that is still unguessed after so many characters is."""


def is_guessable(password: str, *known: str) -> bool:
    """Tell whether a password is among the first that are tried; ``known`` are words that belong to its user."""
    from zxcvbn import zxcvbn

    found = zxcvbn(password[:_READ_CHARS], user_inputs=[word for word in known if word])
    return int(found["score"]) < _LEAST_SCORE
