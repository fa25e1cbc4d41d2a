"""Taking an upgrade back: the catalogue becomes one of an earlier release, and nothing that both know is lost.

Every migration can be taken back. What only the later releases know goes with that: the columns and tables that they
added, and rows that an earlier one could not read.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import URL

from core.catalog.engine import Database
from core.catalog.migrating import known_migrations, known_revision
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Lost:
    """A migration that is taken back; ``about`` says what it had brought, in a sentence."""

    revision: str
    about: str


class TakingBack:
    """The catalogue at a URL, as it is, without being brought up to date."""

    def __init__(self, url: str | URL) -> None:
        self._database = Database(url)
        with self._database.read() as tx:
            self.revision = known_revision(tx)

    def lost(self, revision: str = "") -> list[Lost]:
        """Return what is taken back on the way to an earlier revision, by default the one before.

        Raises: ``InvalidInput`` for what is no earlier revision.
        """
        script = known_migrations()
        steps = [each for each in script.walk_revisions("base", self.revision or "base") if each.revision]
        known = [each.revision for each in steps]
        wanted = revision or (known[1] if len(known) > 1 else "")
        if wanted not in known[1:]:
            raise InvalidInput(
                f"The catalogue cannot go back to “{wanted[:64]}”.",
                remedy=f"It is of revision {self.revision}; earlier ones are {', '.join(known[1:]) or 'none'}.",
            )
        return [Lost(each.revision, (each.doc or "").strip()) for each in steps[: known.index(wanted)]]

    def carry_out(self, revision: str = "") -> str:
        """Go back to an earlier revision, by default the one before, and return it. Raises: as ``lost`` does."""
        self.lost(revision)
        script = known_migrations()
        to = revision or str(script.get_revision(self.revision or "").down_revision)
        self._database.take_back(to)
        return to

    def close(self) -> None:
        self._database.close()
