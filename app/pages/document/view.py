"""What the Document page shows for an address: read from the facade, then drawn. Its callbacks draw it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dash import html

from app.components.document.body import document_body
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

    ``form`` is the form that is open in the timeline; ``everything`` says that all versions are listed.
    """

    key: str
    version: int | None = None
    chunk: int | None = None
    span: Span | None = None
    form: Form | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The document as it is now: its past, the version to show with the stretch of its text, and running jobs."""

    view: View
    past: Past
    version: Version | None
    stretch: Preview | None
    jobs: tuple[Job, ...]

    @property
    def seen(self) -> str:
        """Changes whenever the page would look different."""
        versions = [
            (each.number, each.state, each.is_published, each.is_draft, str(each.publish_at), each.note, each.label)
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
    stretch = None
    if version is not None and version.state == "ready":
        stretch = kb().preview(document.doc_key, version.number, page_start(view.chunk or 0), PAGE_CHUNKS)
    is_indexing = any(each.state == "stored" for each in versions)
    jobs = [job for job in kb().jobs(active=True) if job.doc_key == document.doc_key] if is_indexing else []
    return Reading(view, past, version, stretch, tuple(jobs))


def body_of(reading: Reading) -> list[Any]:
    view = reading.view
    return document_body(
        reading.past,
        reading.version,
        reading.stretch,
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


def view_of(data: list[Any], opened: Mapping[str, Any] | None = None) -> View:
    """The view that the stores of the page keep: its address, and what is opened in its timeline."""
    key, version, chunk, span = data
    kept = opened or {}
    form = Form(str(kept["form"]), int(kept["number"])) if kept.get("form") else None
    return View(key, version, chunk, tuple(span) if span else None, form, bool(kept.get("everything")))


def _first_choice(versions: list[Version], published: int | None) -> Version | None:
    """The published version, else the newest one that has a text, else the newest one."""
    ready = [version.number for version in versions if version.state == "ready"]
    waiting = [version.number for version in versions if version.state != "purged"]
    order = [number for number in (published, *ready[:1], *waiting[:1]) if number is not None]
    wanted = order[0] if order else None
    return next((version for version in versions if version.number == wanted), versions[0] if versions else None)
