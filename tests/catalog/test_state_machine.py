"""Whatever is done in whatever order, a question sees exactly what was published at its moment."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import core
from core.errors import Conflict, NotFound
from core.model import Part, UploadOutcome
from tests.builders import knowledge_base

WORDS = ("alpha", "bravo", "charlie", "delta", "りんご", "みかん")
KEYS = ("one.txt", "two.txt", "three.txt")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(lambda words: ". ".join(words) + ".")
keys = st.sampled_from(KEYS)


class KnowledgeBaseMachine(RuleBasedStateMachine):
    """Drives the real knowledge base beside a plain dictionary model."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.kb = knowledge_base(self.folder)
        self.rag = core.EvoRAG(kb=self.kb)
        self.versions: dict[str, list[str]] = {}
        self.shown: dict[str, int | None] = {}
        self.past: list[dict[str, int | None]] = [{}]
        self.log: dict[str, list[int | None]] = {}

    def teardown(self) -> None:
        if hasattr(self, "kb"):
            self.kb.close()
            shutil.rmtree(self.folder)

    def publish_in_model(self, key: str, number: int | None) -> None:
        self.shown[key] = number
        self.log.setdefault(key, []).append(number)
        self.past.append(dict(self.shown))

    def earlier(self, key: str) -> int | None:
        log = self.log.get(key, [])
        now = log[-1] if log else None
        return next((number for number in reversed(log[:-1]) if number not in (None, now)), None)

    # ---- what people do

    @rule(key=keys, text=texts)
    def add(self, key: str, text: str) -> None:
        upload = self.kb.add_text(key, text)
        self.kb.work_off()
        known = self.versions.setdefault(key, [])
        shown = self.shown.get(key)
        if shown is not None and known[shown - 1] == text:
            assert upload.outcome is UploadOutcome.UNCHANGED
        elif known and known[-1] == text:
            assert (upload.outcome, upload.version) == (UploadOutcome.RESTORED, len(known))
            self.publish_in_model(key, len(known))
        else:
            known.append(text)
            assert (upload.outcome, upload.version) == (UploadOutcome.NEW, len(known))
            self.publish_in_model(key, len(known))

    @rule(key=keys)
    def delete(self, key: str) -> None:
        if key not in self.versions:
            try:
                self.kb.delete(key)
            except NotFound:
                return
            raise AssertionError("an unknown document was deleted")
        self.kb.delete(key)
        self.publish_in_model(key, None)

    @rule(key=keys)
    @precondition(lambda self: bool(self.versions))
    def restore(self, key: str) -> None:
        if key not in self.versions:
            return
        target = self.earlier(key)
        try:
            self.kb.restore(key)
        except Conflict:
            assert self.shown[key] is not None or target is None
        else:
            assert self.shown[key] is None
            self.publish_in_model(key, target)

    @rule(key=keys, number=st.integers(1, 4))
    def publish(self, key: str, number: int) -> None:
        try:
            self.kb.publish(key, number)
        except NotFound:
            assert number > len(self.versions.get(key, []))
        else:
            self.publish_in_model(key, number)

    @rule(key=keys)
    def roll_back(self, key: str) -> None:
        if key not in self.versions:
            return
        target = self.earlier(key)
        try:
            self.kb.rollback(key)
        except Conflict:
            assert target is None
        else:
            self.publish_in_model(key, target)

    @rule(word=st.sampled_from(WORDS), back=st.integers(0, 20))
    def ask_as_of(self, word: str, back: int) -> None:
        self.compare(word, max(len(self.past) - 1 - back, 0))

    # ---- what must hold

    def compare(self, word: str, sequence: int) -> None:
        shown = {(key, number) for key, number in self.past[sequence].items() if number is not None}
        trace = self.rag.search(core.Query(word, top_k=50, as_of=sequence, per_document=0))
        places = {hit.placed.id: (hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}
        for hit in trace.candidates:
            assert (hit.placed.doc_key, hit.placed.version) in shown
            assert hit.placed.chunk.text == self.versions[hit.placed.doc_key][hit.placed.version - 1]
        holding = {(key, number) for key, number in shown if word in self.versions[key][number - 1]}
        merged = {chunk for hit in trace.candidates for chunk in hit.merged}
        found = {places[hit.chunk_id] for hit in trace.keyword.hits if hit.chunk_id not in merged}
        assert found <= holding
        assert {self.versions[key][number - 1] for key, number in found} == {
            self.versions[key][number - 1] for key, number in holding
        }

    @invariant()
    def present_questions_see_the_present(self) -> None:
        if hasattr(self, "kb"):
            assert self.kb.counts().sequence == len(self.past) - 1
            for word in WORDS[::2]:
                self.compare(word, len(self.past) - 1)

    @invariant()
    def both_indexes_hold_head_and_history_as_the_catalogue_says(self) -> None:
        if not hasattr(self, "kb"):
            return
        self.kb._projector.flush()
        head = set()
        for key, number in self.shown.items():
            if number is not None:
                head |= set(self.kb.catalog.chunks.ids_of(self.kb.version(key, number).id))
        kept = {
            chunk
            for key in self.versions
            for version in self.kb.versions(key)
            for chunk in self.kb.catalog.chunks.ids_of(version.id)
        }
        wanted = {chunk: Part.HEAD if chunk in head else Part.HISTORY for chunk in kept}
        assert dict(self.kb._vectors.ids()) == wanted
        assert dict(self.kb._keywords.ids()) == wanted


TestKnowledgeBase = KnowledgeBaseMachine.TestCase
TestKnowledgeBase.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
