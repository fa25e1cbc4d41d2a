"""Whatever is done in whatever order, a question sees exactly what was published at its moment."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import core
from core.catalog.documents.deltas import difference
from core.errors import Conflict, NotFound, Purged
from core.model import Part, UploadOutcome
from tests.builders import knowledge_base

pytestmark = pytest.mark.long

WORDS = ("alpha", "bravo", "charlie", "delta", "りんご", "みかん")
KEYS = ("one.txt", "two.txt", "three.txt")
START = datetime.now(UTC)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(lambda words: ". ".join(words) + ".")
keys = st.sampled_from(KEYS)
hours = st.integers(1, 6)
numbers = st.integers(1, 5)


@dataclass
class Kept:
    """A version of the model; a purged one has no text."""

    text: str | None
    claimed: int
    is_draft: bool = False
    at: datetime | None = None
    note: str = ""


class KnowledgeBaseMachine(RuleBasedStateMachine):
    """Drives the real knowledge base beside a plain dictionary model."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.kb = knowledge_base(self.folder)
        self.rag = core.EvoRAG(kb=self.kb)
        self.versions: dict[str, list[Kept]] = {}
        self.shown: dict[str, int | None] = {}
        self.past: list[dict[str, int | None]] = [{}]
        self.log: dict[str, list[int | None]] = {}
        self.hidden: dict[str, tuple[str, int]] = {}
        self.readings: dict[tuple[str, int], tuple[int, int]] = {}
        """Which reading of a version is in use, and how many there are."""

    def teardown(self) -> None:
        if hasattr(self, "kb"):
            self.kb.close()
            shutil.rmtree(self.folder)

    def show_in_model(self, key: str, number: int | None, action: str = "") -> None:
        self.shown[key] = number
        self.log.setdefault(key, []).append(number)
        self.past.append(dict(self.shown))
        if number is not None:
            version = self.versions[key][number - 1]
            version.is_draft, version.at = False, None
        if action:
            self.hidden[key] = (action, len(self.past) - 1)

    def earlier(self, key: str) -> int | None:
        log = self.log.get(key, [])
        now = log[-1] if log else None
        kept = {number for number in log if number and self.versions[key][number - 1].text is not None}
        return next((number for number in reversed(log[:-1]) if number in kept and number != now), None)

    def newest_kept(self, key: str) -> int | None:
        known = self.versions.get(key, [])
        return max((number for number, version in enumerate(known, 1) if version.text is not None), default=None)

    def is_kept(self, key: str, number: int) -> bool:
        return self.versions[key][number - 1].text is not None

    # ---- what people do

    @rule(key=keys, text=texts, early=st.booleans())
    def add(self, key: str, text: str, early: bool) -> None:
        upload = self.kb.add_text(key, text, early=early)
        self.kb.work_off()
        known = self.versions.setdefault(key, [])
        shown, newest = self.shown.get(key), self.newest_kept(key)
        if shown is not None and known[shown - 1].text == text:
            assert (upload.outcome, upload.version) == (UploadOutcome.UNCHANGED, shown)
        elif newest is not None and known[newest - 1].text == text:
            assert (upload.outcome, upload.version) == (UploadOutcome.RESTORED, newest)
            self.show_in_model(key, newest)
        else:
            known.append(Kept(text, len(self.past) - 1))
            assert (upload.outcome, upload.version) == (UploadOutcome.NEW, len(known))
            self.show_in_model(key, len(known))

    @rule(key=keys, text=texts, hour=st.one_of(st.none(), hours))
    def add_draft(self, key: str, text: str, hour: int | None) -> None:
        at = None if hour is None else START + timedelta(hours=hour)
        upload = self.kb.add_text(key, text, draft=True, publish_at=at)
        self.kb.work_off()
        known = self.versions.setdefault(key, [])
        shown, newest = self.shown.get(key), self.newest_kept(key)
        same = next((number for number in (newest, shown) if number and known[number - 1].text == text), None)
        if same is None:
            known.append(Kept(text, len(self.past) - 1, is_draft=True, at=at))
            assert (upload.outcome, upload.version) == (UploadOutcome.NEW, len(known))
        else:
            assert (upload.outcome, upload.version) == (UploadOutcome.UNCHANGED, same)
            if at is not None and same != shown:
                known[same - 1].at = at

    @rule(key=keys)
    def read_anew(self, key: str) -> None:
        """What is shown is read by a newer reader, and all newer readings of the document are used."""
        shown = self.shown.get(key)
        if shown is not None:
            in_use, count = self.readings.get((key, shown), (1, 1))
            self.kb.catalog.documents.update_version(self.kb.version(key, shown).id, reader="former")
            assert self.kb.readings.begin([key]) == (in_use == count)
            self.kb.work_off()
            self.readings[key, shown] = in_use, count + (in_use == count)
        newer = {at: count for at, (in_use, count) in self.readings_of(key).items() if in_use < count}
        if key in self.versions:
            assert self.kb.readings.show([key]) == len(newer)
        self.use(key, newer)

    @rule(key=keys)
    def take_back_readings(self, key: str) -> None:
        former = {at: in_use - 1 for at, (in_use, _) in self.readings_of(key).items() if in_use > 1}
        if key in self.versions:
            assert self.kb.readings.undo([key]) == len(former)
        self.use(key, former)

    def readings_of(self, key: str) -> dict[int, tuple[int, int]]:
        return {at: of for (name, at), of in self.readings.items() if name == key and self.is_kept(key, at)}

    def use(self, key: str, chosen: dict[int, int]) -> None:
        for number, reading in chosen.items():
            self.readings[key, number] = reading, self.readings[key, number][1]
            assert self.kb.version(key, number).reading == reading
            if self.shown.get(key) == number:
                self.show_in_model(key, number)

    @rule(key=keys, number=numbers, hour=st.one_of(st.none(), hours))
    def schedule(self, key: str, number: int, hour: int | None) -> None:
        at = None if hour is None else START + timedelta(hours=hour)
        try:
            self.kb.schedule(key, number, at)
        except NotFound:
            assert number > len(self.versions.get(key, []))
        except Conflict:
            is_no_time = self.state(key) == "deleted" or self.shown.get(key) == number
            assert not self.is_kept(key, number) or (at is not None and is_no_time)
        else:
            assert at is None or self.state(key) != "deleted"
            self.versions[key][number - 1].at = at

    @rule(hour=hours)
    def time_passes(self, hour: int) -> None:
        now = START + timedelta(hours=hour)
        due = [
            (version.at, self.kb.version(key, number).id, key, number)
            for key, known in self.versions.items()
            for number, version in enumerate(known, 1)
            if version.at is not None and version.at <= now
        ]
        done = self.kb.publish_due(now)
        assert [(entry.doc_key, entry.version) for entry in done] == [(key, number) for *_, key, number in sorted(due)]
        for *_, key, number in sorted(due):
            self.show_in_model(key, number)
        assert self.kb.publish_due(now) == []

    @rule(key=keys)
    def delete(self, key: str) -> None:
        if key not in self.versions:
            try:
                self.kb.delete(key)
            except NotFound:
                return
            raise AssertionError("an unknown document was deleted")
        self.kb.delete(key)
        self.show_in_model(key, None, "delete")
        for version in self.versions[key]:
            version.at = None

    @rule(key=keys)
    @precondition(lambda self: bool(self.versions))
    def unpublish(self, key: str) -> None:
        if key not in self.versions:
            return
        before = self.shown.get(key)
        try:
            done = self.kb.unpublish(key)
        except Conflict:
            assert before is None
        else:
            assert done.subject == before is not None
            self.show_in_model(key, None, "unpublish")

    @rule(key=keys)
    @precondition(lambda self: bool(self.versions))
    def restore(self, key: str) -> None:
        if key not in self.versions:
            return
        target = self.earlier(key)
        try:
            self.kb.restore(key)
        except Conflict:
            assert self.shown.get(key) is not None or target is None
        else:
            assert self.shown[key] is None
            # A deleted document that has shown nothing is listed again.
            assert target is not None or self.hidden[key][0] == "delete"
            self.show_in_model(key, target, "" if target is not None else "restore")

    @rule(key=keys, number=numbers)
    def publish(self, key: str, number: int) -> None:
        try:
            self.kb.publish(key, number)
        except NotFound:
            assert number > len(self.versions.get(key, []))
        except Conflict:
            assert not self.is_kept(key, number) or self.shown.get(key) == number
        else:
            assert self.shown.get(key) != number
            self.show_in_model(key, number)

    @rule(key=keys, number=st.one_of(st.none(), numbers))
    @precondition(lambda self: bool(self.versions))
    def roll_back(self, key: str, number: int | None) -> None:
        if key not in self.versions or (number or 0) > len(self.versions[key]):
            return
        target = self.earlier(key) if number is None else number
        try:
            self.kb.rollback(key, number)
        except Conflict:
            assert target is None or not self.is_kept(key, target) or self.shown.get(key) == target
        else:
            assert self.shown.get(key) != target
            self.show_in_model(key, target)

    @rule(key=keys, number=numbers)
    def purge_version(self, key: str, number: int) -> None:
        try:
            done = self.kb.purge(key, number)
        except NotFound:
            assert number > len(self.versions.get(key, []))
        except Conflict:
            assert not self.is_kept(key, number) or self.shown.get(key) == number
        else:
            assert (done.subject, done.version) == (number, self.shown.get(key))
            self.versions[key][number - 1] = Kept(None, self.versions[key][number - 1].claimed)
            self.show_in_model(key, self.shown.get(key))

    @rule(key=keys)
    @precondition(lambda self: bool(self.versions))
    def purge_document(self, key: str) -> None:
        if key not in self.versions:
            return
        try:
            self.kb.purge(key)
        except Conflict:
            assert self.newest_kept(key) is None
        else:
            self.versions[key] = [Kept(None, version.claimed) for version in self.versions[key]]
            self.show_in_model(key, None, "purge")

    @rule(key=keys, number=numbers, note=st.text(max_size=5))
    def annotate(self, key: str, number: int, note: str) -> None:
        try:
            found = self.kb.annotate(key, number, note=note)
        except Purged:
            assert not self.is_kept(key, number)
        except NotFound:
            assert number > len(self.versions.get(key, []))
        else:
            self.versions[key][number - 1].note = found.note

    @rule(word=st.sampled_from(WORDS), sequence=st.integers(0, 60))
    def ask_as_of(self, word: str, sequence: int) -> None:
        self.compare(word, sequence % len(self.past))

    # ---- what must hold

    def compare(self, word: str, sequence: int) -> None:
        """Ask, and see that every version shown then that says the word is found, and nothing else."""
        shown = {
            (key, number): str(self.versions[key][number - 1].text)
            for key, number in self.past[sequence].items()
            if number is not None and self.is_kept(key, number)
        }
        trace = self.rag.search(core.Query(word, top_k=50, as_of=sequence, per_document=0))
        places = {hit.placed.id: (hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}
        for hit in trace.candidates:
            assert hit.placed.chunk.text == shown[hit.placed.doc_key, hit.placed.version]
        holding = {place for place, text in shown.items() if word in text}
        merged = {chunk for hit in trace.candidates for chunk in hit.merged}
        found = {places[hit.chunk_id] for hit in trace.keyword.hits if hit.chunk_id not in merged}
        assert found <= holding
        assert {shown[place] for place in found} == {shown[place] for place in holding}

    def state(self, key: str) -> str:
        known, newest = self.versions[key], self.newest_kept(key)
        if self.shown.get(key) is not None:
            return "published"
        if newest is None:
            return "purged"
        action, sequence = self.hidden.get(key, ("", 0))
        if action == "delete" and known[newest - 1].claimed < sequence:
            return "deleted"
        return "unpublished" if action == "unpublish" else "draft"

    @invariant()
    def present_questions_see_the_present(self) -> None:
        if hasattr(self, "kb"):
            assert self.kb.sequence() == len(self.past) - 1
            for word in WORDS[::2]:
                self.compare(word, len(self.past) - 1)

    @invariant()
    def documents_and_versions_are_listed_as_they_are(self) -> None:
        if not hasattr(self, "kb"):
            return
        listed = {document.doc_key: document for document in self.kb.documents(include_deleted=True)}
        assert {key: document.state for key, document in listed.items()} == {key: self.state(key) for key in listed}
        assert set(listed) == set(self.versions)
        assert {key: document.published_version for key, document in listed.items()} == {
            key: self.shown.get(key) for key in listed
        }
        assert [entry.seq for entry in self.kb.audit()] == list(range(len(self.past) - 1, 0, -1))
        for key, known in self.versions.items():
            kept = [
                Kept(None if version.state == "purged" else "", 0, version.is_draft, version.publish_at, version.note)
                for version in reversed(self.kb.versions(key))
            ]
            assert kept == [
                Kept(None if version.text is None else "", 0, version.is_draft, version.at, version.note)
                for version in known
            ]

    @invariant()
    def both_indexes_hold_head_and_history_as_the_catalogue_says(self) -> None:
        if not hasattr(self, "kb"):
            return
        self.kb._projector.flush()
        members = {
            (key, version.number): set(self.kb.catalog.chunks.ids_of(version.id))
            for key in self.versions
            for version in self.kb.versions(key)
        }
        shown = [(key, number) for key, number in self.shown.items() if number is not None]
        head = {chunk for place in shown for chunk in members[place]}
        wanted = {
            chunk: Part.HEAD if chunk in head else Part.HISTORY for chunks in members.values() for chunk in chunks
        }
        assert dict(self.kb._vectors.ids()) == wanted
        assert dict(self.kb._keywords.ids()) == wanted
        for key, number in members:
            assert bool(members[key, number]) == self.is_kept(key, number)

    @invariant()
    def differences_follow_from_the_deltas(self) -> None:
        if not hasattr(self, "kb"):
            return
        for key in self.versions:
            ids = [version.id for version in self.kb.versions(key) if version.state == "ready"]
            for one, other in permutations(ids, 2):
                with self.kb.catalog.database.read() as tx:
                    found = sorted(tx.scalars(difference(tx, one, other)))
                own, others = (set(self.kb.catalog.chunks.ids_of(version_id)) for version_id in (one, other))
                assert found == sorted(own - others)


TestKnowledgeBase = KnowledgeBaseMachine.TestCase
TestKnowledgeBase.settings = settings(
    max_examples=8, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
