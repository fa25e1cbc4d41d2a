"""What the Document page shows for an address: read from the facade, then drawn. Its callbacks draw it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dash import html

from app.components.document.body import MODES, Shown, document_body
from app.components.document.facts import document_actions
from app.components.document.preview import PAGE_CHUNKS, page_start
from app.components.document.timeline import Past
from app.components.document.version_forms import Form
from app.components.shared.links import Span
from app.context import kb
from core.model import Job, Preview, Version

QUICK_MS = 1_000
SLOW_MS = 3_000


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks to see; ``chunk`` is a position, ``span`` counts characters of the parsed text.

    ``mode`` is how the text is shown, empty for the way that fits the document best, and ``reading`` which reading of
    the version, None for the one in use. ``form`` is the form that is open in the timeline; ``everything`` says that
    all versions are listed.
    """

    key: str
    version: int | None = None
    chunk: int | None = None
    span: Span | None = None
    mode: str = ""
    reading: int | None = None
    form: Form | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The document as it is now: its past, the version to show with the stretch of its text, and running jobs."""

    view: View
    past: Past
    version: Version | None
    stretch: Preview | None
    shown: Shown
    jobs: tuple[Job, ...]

    @property
    def seen(self) -> str:
        """Changes whenever the page would look different."""
        versions = [
            (
                each.number,
                each.reading,
                each.state,
                each.is_published,
                each.is_draft,
                str(each.publish_at),
                each.note,
                each.label,
            )
            for each in self.past.versions
        ]
        jobs = [(job.id, str(job.stage), job.done, job.total, job.share, job.seconds_left) for job in self.jobs]
        sequence = self.past.publications[0].seq if self.past.publications else 0
        return repr((sequence, versions, jobs))

    @property
    def waits(self) -> bool:
        """Something will change by itself: a version is being indexed, or is to be published at a set time."""
        return self.is_indexing or any(version.publish_at is not None for version in self.past.versions)

    @property
    def is_indexing(self) -> bool:
        return any(version.state == "stored" for version in self.past.versions)


def read(view: View) -> Reading:
    """Read what ``view`` asks for. Raises: ``NotFound`` for a document or a version that never was."""
    document = kb().document(view.key)
    versions = kb().versions(view.key)
    if view.version is not None:
        version: Version | None = kb().version(view.key, view.version)
    else:
        version = _first_choice(versions, document.published_version)
    past = Past(document, versions, kb().publications(view.key), version.number if version else None)
    stretch, shown = None, Shown()
    if version is not None and version.state == "ready":
        stretch = kb().preview(
            document.doc_key, version.number, page_start(view.chunk or 0), PAGE_CHUNKS, reading=view.reading
        )
        shown = _shown(view, version, stretch)
    is_indexing = any(each.state == "stored" for each in versions)
    jobs = [job for job in kb().jobs(active=True) if job.doc_key == document.doc_key] if is_indexing else []
    return Reading(view, past, version, stretch, shown, tuple(jobs))


def _shown(view: View, version: Version, stretch: Preview) -> Shown:
    """Choose how a version is shown: as pages where it has any, else as it reads; its blocks come with the latter."""
    has_pages = kb().has_pages(version.doc_key, version.number)
    modes = MODES if has_pages else MODES[1:]
    mode = view.mode if view.mode in modes else modes[0]
    if mode != "text" or not stretch.chunks:
        return Shown(mode, modes)
    first, last = stretch.chunks[0].chunk, stretch.chunks[-1].chunk
    of = version.doc_key, version.number
    return Shown(mode, modes, kb().blocks_within(*of, first.start, last.end, reading=view.reading))


def body_of(reading: Reading) -> list[Any]:
    view = reading.view
    return document_body(
        reading.past,
        reading.version,
        reading.stretch,
        reading.shown,
        reading.jobs,
        chunk=view.chunk,
        span=view.span,
        form=view.form,
        everything=view.everything,
    )


def actions_of(reading: Reading) -> html.Div:
    document = reading.past.document
    return document_actions(document, reading.version)


def drawn(view: View) -> tuple[list[Any], html.Div, bool, int, str]:
    """Everything of the page that a change may touch: body, actions, how it is followed, and what was seen."""
    reading = read(view)
    interval = QUICK_MS if reading.is_indexing else SLOW_MS
    return body_of(reading), actions_of(reading), not reading.waits, interval, reading.seen


def kept(view: View) -> list[Any]:
    """What a store of the page keeps of its address, from which ``view_of`` makes it again."""
    return [view.key, view.version, view.chunk, view.span, view.mode, view.reading]


def view_of(data: list[Any], opened: Mapping[str, Any] | None = None) -> View:
    """The view that the stores of the page keep: its address, and what is opened in its timeline."""
    # A page that was opened before this server began may keep no mode, and no reading.
    key, version, chunk, span, mode, reading = (*data, *("", None)[len(data) - 4 :])[:6]
    kept = opened or {}
    form = Form(str(kept["form"]), int(kept["number"])) if kept.get("form") else None
    return View(key, version, chunk, tuple(span) if span else None, mode, reading, form, bool(kept.get("everything")))


def _first_choice(versions: list[Version], published: int | None) -> Version | None:
    """The published version, else the newest one that has a text, else the newest one."""
    ready = [version.number for version in versions if version.state == "ready"]
    waiting = [version.number for version in versions if version.state != "purged"]
    order = [number for number in (published, *ready[:1], *waiting[:1]) if number is not None]
    wanted = order[0] if order else None
    return next((version for version in versions if version.number == wanted), versions[0] if versions else None)
