"""What questions as of any moment find, whatever pair of stores answers; subclass it and give a ``kb`` fixture.

The story is told once a pair: uploads, rollbacks, deletions and all else that changes what is shown. Beside it stands
what every document showed at every sequence number, and each question is held against that.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

import core
from core.errors import InvalidInput, NotFound, Purged
from core.model import Filters, Query, Trace, VersionRef

QUESTIONS = ("What is the fee of this edition?", "今回の版の料金はいくらですか。")
SHARED = "Members of the {name} keep the rules of the house, whatever {card} they hold. " * 6
KEYS = ("club.txt", "pool.txt", "図書館.txt")


def text_of(key: str, number: int) -> str:
    """A text of several chunks; those at the top are the same in every version, the others are of this one alone."""
    name = key.removesuffix(".txt")
    kept = [SHARED.format(name=name, card=card) + f"So says rule {card}." for card in ("card", "ticket", "pass")]
    own = [
        f"The fee of edition {number} of the {name} is {number * 100} euros.",
        f"{name}の第{number}版の料金は{number}千円です。",
    ]
    return "\n\n".join([*kept, *own, f"Edition {number} of the {name} ends here, with the fee paid."])


@dataclass
class Story:
    """A knowledge base, and what it should show: ``past[s]`` maps each document to its version at sequence ``s``."""

    kb: core.KnowledgeBase
    past: list[dict[str, int | None]] = field(default_factory=lambda: [{}])
    moments: list[datetime] = field(default_factory=list)
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    gone: set[tuple[str, int]] = field(default_factory=set)

    def upload(self, key: str, number: int, *, draft: bool = False) -> None:
        self.texts[key, number] = text_of(key, number)
        assert self.kb.add_text(key, self.texts[key, number], draft=draft).version == number
        self.kb.work_off()
        if not draft:
            self.note(key, number)

    def purge(self, key: str, number: int | None = None) -> None:
        self.kb.purge(key, number)
        self.gone |= {ref for ref in self.texts if ref[0] == key and number in (None, ref[1])}
        self.texts = {ref: text for ref, text in self.texts.items() if ref not in self.gone}
        self.note(key, None if number is None else self.past[-1][key])

    def note(self, key: str, number: int | None) -> None:
        """A publication was made, after which the document shows this."""
        self.past.append({**self.past[-1], key: number})
        self.moments.append(self.kb.publications(key)[0].at)
        assert self.kb.sequence() == len(self.past) - 1

    def shown(self, sequence: int) -> dict[str, int]:
        """What each document showed at ``sequence``, but for what was purged since."""
        past = self.past[sequence].items()
        return {key: number for key, number in past if number is not None and (key, number) not in self.gone}

    def ever(self, sequence: int) -> dict[str, set[int]]:
        """What each document that is shown at ``sequence`` has shown up to then."""
        ever = {
            key: {past[key] for past in self.past[: sequence + 1] if past.get(key) is not None} for key in self.past[-1]
        }
        alive = [key for key, number in self.past[sequence].items() if number is not None]
        kept = {key: {number for number in ever[key] if (key, number) not in self.gone} for key in alive}
        return {key: numbers for key, numbers in kept.items() if numbers}


def tell(kb: core.KnowledgeBase) -> Story:
    story = Story(kb)
    for key in KEYS:
        story.upload(key, 1)
    story.upload("club.txt", 2)
    story.upload("club.txt", 3)
    kb.rollback("club.txt")
    story.note("club.txt", 2)
    story.upload("図書館.txt", 2)
    kb.delete("pool.txt")
    story.note("pool.txt", None)
    kb.publish("club.txt", 1)
    story.note("club.txt", 1)
    kb.restore("pool.txt")
    story.note("pool.txt", 1)
    story.upload("pool.txt", 2)
    kb.delete("図書館.txt")
    story.note("図書館.txt", None)
    kb.publish("club.txt", 3)
    story.note("club.txt", 3)
    story.upload("club.txt", 4, draft=True)
    story.upload("pool.txt", 3, draft=True)
    kb.publish("pool.txt", 3)
    story.note("pool.txt", 3)
    story.upload("gate.txt", 1)
    kb.unpublish("gate.txt")
    story.note("gate.txt", None)
    story.upload("gate.txt", 2)
    kb.unpublish("gate.txt")
    story.note("gate.txt", None)
    story.purge("pool.txt", 1)
    story.purge("club.txt", 2)
    story.upload("hall.txt", 1)
    story.upload("hall.txt", 2)
    story.purge("hall.txt")
    story.upload("図書館.txt", 3, draft=True)
    return story


def asked(story: Story, question: str, **how: object) -> Trace:
    query = Query(question, top_k=50, depth=200, per_document=0, **how)  # type: ignore[arg-type]
    return core.EvoRAG(kb=story.kb).ask(query, keep=False)


def check(story: Story, trace: Trace, shown: dict[str, int]) -> None:
    """Everything found and said is of the versions shown, and both legs find each of them."""
    assert not trace.degraded
    assert {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates} <= set(shown.items())
    for leg in ("vector", "keyword"):
        assert {hit.placed.doc_key for hit in trace.candidates if getattr(hit, leg)} == set(shown), leg
    for hit in trace.candidates:
        text = story.texts[hit.placed.doc_key, hit.placed.version]
        assert text[hit.placed.chunk.start : hit.placed.chunk.end] == hit.placed.chunk.text
    for citation in trace.answer.citations:
        assert shown[citation.doc_key] == citation.version
        assert story.texts[citation.doc_key, citation.version][citation.start : citation.end] == citation.text


class AsOfContract:
    @pytest.fixture(scope="class")
    def story(self, kb: core.KnowledgeBase) -> Story:
        return tell(kb)

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_every_sequence_number_shows_what_was_shown_then(self, story: Story, question: str) -> None:
        for sequence in range(len(story.past)):
            check(story, asked(story, question, as_of=sequence), story.shown(sequence))

    def test_a_moment_shows_what_the_last_publication_before_it_made(self, story: Story) -> None:
        before = story.moments[0] - timedelta(microseconds=1)
        assert asked(story, QUESTIONS[0], as_of=before).candidates == ()
        for moment in story.moments:
            sequence = sum(each <= moment for each in story.moments)
            check(story, asked(story, QUESTIONS[0], as_of=moment), story.shown(sequence))

    def test_now_shows_what_is_shown_now(self, story: Story) -> None:
        for question in QUESTIONS:
            check(story, asked(story, question), story.shown(-1))

    def test_a_version_is_shown_instead_of_what_its_document_shows(self, story: Story) -> None:
        for key, number in story.texts:
            trace = asked(story, QUESTIONS[0], as_of=VersionRef(key, number))
            check(story, trace, {**story.shown(-1), key: number})

    def test_a_version_that_there_is_not_is_not_found(self, story: Story) -> None:
        for ref in (VersionRef("club.txt", 99), VersionRef("nothing.txt", 1)):
            with pytest.raises(NotFound):
                asked(story, QUESTIONS[0], as_of=ref)
        with pytest.raises(InvalidInput):
            asked(story, QUESTIONS[0], as_of=len(story.past))

    def test_all_versions_are_those_ever_shown_of_what_is_shown(self, story: Story) -> None:
        for sequence in range(len(story.past)):
            ever = story.ever(sequence)
            trace = asked(story, QUESTIONS[0], as_of=sequence, versions="all")
            found: dict[str, set[int]] = {}
            for hit in trace.candidates:
                key, held = hit.placed.doc_key, set(hit.placed.versions)
                assert held <= ever[key] and hit.placed.version in held
                assert all(hit.placed.chunk.text in story.texts[key, number] for number in held)
                shown = story.shown(sequence).get(key)
                assert hit.placed.version == (shown if shown in held else max(held))
                found.setdefault(key, set()).update(held)
            assert found == ever

    def test_a_purged_version_is_never_found_again(self, story: Story) -> None:
        assert story.gone
        for key, number in story.gone:
            with pytest.raises(Purged):
                asked(story, QUESTIONS[0], as_of=VersionRef(key, number))
        said = [f"The fee of edition {number} of the {key.removesuffix('.txt')} is" for key, number in story.gone]
        for sequence in range(len(story.past)):
            for versions in ("shown", "all"):
                trace = asked(story, QUESTIONS[0], as_of=sequence, versions=versions)
                assert not any(words in hit.placed.chunk.text for hit in trace.candidates for words in said)

    def test_what_stands_behind_hundreds_of_hidden_rows_is_found(self, story: Story) -> None:
        few = "Far away a medlar stood."
        many = "\n\n".join(f"The medlar grows at place {place}, medlar. " * 5 for place in range(300))
        for number, text in ((1, few), (2, many)):
            story.texts["crowd.txt", number] = text
            story.kb.add_text("crowd.txt", text)
            story.kb.work_off()
            story.note("crowd.txt", number)
        assert story.kb.version("crowd.txt", 2).chunk_count >= 300
        only = Filters(doc_keys=("crowd.txt",))
        for as_of in (len(story.past) - 2, VersionRef("crowd.txt", 1)):
            query = Query("The medlar grows at place, medlar.", depth=10, as_of=as_of, filters=only)
            [hit] = core.EvoRAG(kb=story.kb).search(query).candidates
            assert (hit.placed.version, hit.placed.chunk.text) == (1, few)
            assert hit.vector is not None and hit.keyword is not None
        story.kb.delete("crowd.txt")
        story.note("crowd.txt", None)

    def test_documents_asked_for_are_kept_to_at_every_moment(self, story: Story) -> None:
        for sequence in range(len(story.past)):
            trace = asked(story, QUESTIONS[0], as_of=sequence, filters=Filters(doc_keys=("club.txt",)))
            check(story, trace, {key: number for key, number in story.shown(sequence).items() if key == "club.txt"})

    def test_questions_asked_while_versions_change_see_one_moment_each(self, story: Story) -> None:
        traces: list[Trace] = []
        done = threading.Event()

        def ask_on() -> None:
            while not done.is_set():
                traces.append(asked(story, QUESTIONS[0]))
                traces.append(asked(story, QUESTIONS[0], as_of=1))
                traces.append(asked(story, QUESTIONS[0], as_of=5))

        asker = threading.Thread(target=ask_on)
        asker.start()
        try:
            for turn in range(12):
                number = (1, 4, 3)[turn % 3]
                story.kb.publish("club.txt", number)
                story.note("club.txt", number)
        finally:
            done.set()
            asker.join()
        assert len(traces) > 4
        for trace in traces:
            check(story, trace, story.shown(trace.sequence))
