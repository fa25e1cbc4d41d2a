"""Two users and their private documents: what is somebody's own is to everybody else as if it had never been.

The public methods are walked, so that one without a rule here fails.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import core
import core.query.search.retrieve as retrieving
from core.access import acting
from core.errors import Conflict, EvoRAGError, Forbidden, InvalidInput, NotFound
from core.knowledge_base import KnowledgeBase
from core.model import (
    DocumentQuery,
    DoneStep,
    Filters,
    JobFilter,
    PassagesStep,
    Principal,
    Query,
    Role,
    SavedQuestion,
    VersionRef,
)
from core.model.codec import to_dict
from core.rag import EvoRAG, Passage
from tests.builders import add, knowledge_base

pytestmark = pytest.mark.every_run

PASSWORD = "correct horse battery"
MARKS = ("ann", "secret", "zanzibar", "geheim", "cloves")
LATER = datetime.now(UTC) + timedelta(days=3)
QUESTION = "Which spices come from where?"


@dataclass(frozen=True)
class Named:
    """What a document is known by to whoever asks for it."""

    key: str
    job_id: str
    trace_id: str
    doc_id: int

    def hide(self, text: str) -> str:
        for name in (self.key, self.job_id, self.trace_id, f"id {self.doc_id}."):
            text = text.replace(name, "…")
        return text


NEVER = Named("~ann/nothing.txt", "0" * 32, "0" * 32, 999_999)


ROOT, ANN, BOB = Principal("root", Role.ADMIN, 1), Principal("ann", Role.EDITOR, 2), Principal("bob", Role.EDITOR, 3)
CAROL = Principal("carol", Role.EDITOR, 4)


@dataclass(frozen=True)
class World:
    """What ann keeps to herself beside what everyone sees."""

    kb: core.KnowledgeBase
    hers: Named

    @property
    def rag(self) -> core.EvoRAG:
        return core.EvoRAG(kb=self.kb)


def add_private(kb: core.KnowledgeBase, who: Principal, name: str, text: str, **filing: Any) -> core.model.Upload:
    with acting(who):
        upload = kb.add_text(name, text, private=True, **filing)
    kb.work_off()
    return upload


def add_shared(kb: core.KnowledgeBase) -> None:
    add(kb, "open", "Spices: pepper comes from Kerala.")
    add(kb, "open", "Spices: pepper comes from Kerala and Vietnam.")


def made(kb: core.KnowledgeBase) -> World:
    add_shared(kb)
    add_private(kb, ANN, "secret", "Spices: cloves come from Zanzibar.", tags=["geheim"])
    last = add_private(kb, ANN, "secret", "Spices: cloves come from Zanzibar and Pemba.")
    with acting(ANN):
        kb.save_question("Which cloves come from Zanzibar?", shared=False)
        kb.evaluations.import_set("geheim", b"question\nWhich cloves come from Zanzibar?\n", "csv", shared=False)
        trace = core.EvoRAG(kb=kb).ask(QUESTION)
        doc_id = kb.document("~ann/secret.txt").id
    return World(kb, Named("~ann/secret.txt", str(last.job_id), trace.id, doc_id))


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world that nobody changes."""
    with knowledge_base(tmp_path_factory.mktemp("still")) as kb:
        yield made(kb)


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """The same without what is ann's."""
    with knowledge_base(tmp_path_factory.mktemp("without")) as kb:
        add_shared(kb)
        yield kb


@pytest.fixture
def world(kb: core.KnowledgeBase) -> World:
    return made(kb)


Call = Callable[[core.KnowledgeBase, Named], Any]
RagCall = Callable[[core.EvoRAG, Named], Any]


def found(rag: core.EvoRAG, **options: Any) -> Any:
    trace = rag.search(Query(QUESTION, **options))
    return trace.hits, trace.candidates, trace.vector.hits, trace.keyword.hits, trace.answer, trace.context


BY_NAME: dict[str, Call] = {
    "document": lambda kb, it: kb.document(it.key),
    "preview": lambda kb, it: kb.preview(it.key, 1),
    "chunk_ids": lambda kb, it: kb.chunk_ids(it.key, 1, 10),
    "text_of": lambda kb, it: kb.text_of(it.key),
    "original": lambda kb, it: kb.original(it.key, 1),
    "download": lambda kb, it: kb.download(it.key, 1, Path(os.devnull)),
    "versions": lambda kb, it: kb.versions(it.key),
    "version": lambda kb, it: kb.version(it.key, 1),
    "compare": lambda kb, it: kb.compare("open.txt", 1, 1, other=it.key),
    "comparison_progress": lambda kb, it: kb.comparison_progress("open.txt", 1, 1, other=it.key),
    "cancel_comparison": lambda kb, it: kb.cancel_comparison("open.txt", 1, 1, other=it.key),
    "diff": lambda kb, it: kb.diff(it.key, 1, 2),
    "blocks_within": lambda kb, it: kb.blocks_within(it.key, 1, 0, 10),
    "has_pages": lambda kb, it: kb.has_pages(it.key, 1),
    "pages": lambda kb, it: kb.pages(it.key, 1),
    "page_image": lambda kb, it: kb.page_image(it.key, 1, 1),
    "page_text": lambda kb, it: kb.page_text(it.key, 1, 1),
    "find_on_pages": lambda kb, it: kb.find_on_pages(it.key, 1, "cloves"),
    "image": lambda kb, it: kb.image(it.key, 1, 1),
    "publications": lambda kb, it: kb.publications(it.key),
    "audit": lambda kb, it: kb.audit(key=it.key),
    "annotate": lambda kb, it: kb.annotate(it.key, 1, note="seen"),
    "publish": lambda kb, it: kb.publish(it.key, 1),
    "rollback": lambda kb, it: kb.rollback(it.key),
    "schedule": lambda kb, it: kb.schedule(it.key, 1, LATER),
    "unpublish": lambda kb, it: kb.unpublish(it.key),
    "delete": lambda kb, it: kb.delete(it.key),
    "restore": lambda kb, it: kb.restore(it.key),
    "purge": lambda kb, it: kb.purge(it.key),
    "set_tags": lambda kb, it: kb.set_tags(it.key, ["mine"]),
    "job": lambda kb, it: kb.job(it.job_id),
    "job_log": lambda kb, it: kb.job_log(it.job_id),
    "wait": lambda kb, it: kb.wait([it.job_id], 0.0),
    "finish": lambda kb, it: kb.finish(it.job_id, 0.0),
    "retry": lambda kb, it: kb.retry(it.job_id),
    "cancel": lambda kb, it: kb.cancel(it.job_id),
    "prioritise": lambda kb, it: kb.prioritise(it.job_id, 3),
    "trace": lambda kb, it: kb.trace(it.trace_id),
}
"""Calls that name a document, one of its jobs or a question about it."""

LISTS: dict[str, Call] = {
    "documents": lambda kb, it: kb.documents(include_deleted=True),
    "documents by search": lambda kb, it: kb.documents("geheim"),
    "documents first": lambda kb, it: kb.documents("geheim", include_deleted=True, limit=1),
    "documents_page": lambda kb, it: kb.documents_page("geheim", include_deleted=True, limit=1),
    "document_list": lambda kb, it: kb.document_list(DocumentQuery(("geheim",), include_deleted=True)),
    "document_list of all": lambda kb, it: kb.document_list(DocumentQuery(include_deleted=True)),
    "document_languages": lambda kb, it: kb.document_languages(),
    "texts": lambda kb, it: list(kb.texts()),
    "tags": lambda kb, it: kb.tags(),
    "audit": lambda kb, it: kb.audit(),
    "histories": lambda kb, it: [
        version.state for own in kb.histories([it.key, "open.txt"]).values() for version in own
    ],
    "replaced": lambda kb, it: kb.replaced(list(range(1, 20))),
    "counts": lambda kb, it: kb.counts(),
    "health": lambda kb, it: [store.rows for store in kb.health().stores],
    "history": lambda kb, it: kb.history(),
    "history by search": lambda kb, it: kb.history(search=QUESTION),
    "jobs": lambda kb, it: kb.jobs(ids=[it.job_id]),
    "jobs by document": lambda kb, it: kb.jobs(JobFilter(doc_key=it.key)),
    "jobs of all": lambda kb, it: [job.name for job in kb.jobs()],
    "job_counts": lambda kb, it: kb.job_counts(),
    "retry_failed": lambda kb, it: kb.retry_failed(),
    "saved_questions": lambda kb, it: kb.saved_questions(),
    "evaluations": lambda kb, it: (kb.evaluations.sets(), kb.evaluations.runs()),
    "gate": lambda kb, it: kb.evaluations.gate("open.txt", 1),
}
"""Calls that list or count."""

ASKED: dict[str, RagCall] = {
    "search": lambda rag, it: found(rag),
    "search as of a number": lambda rag, it: found(rag, as_of=rag.kb.sequence()),
    "search as of a moment": lambda rag, it: found(rag, as_of=datetime.now(UTC) - timedelta(microseconds=1)),
    "search of all versions": lambda rag, it: found(rag, versions="all"),
    "search by key": lambda rag, it: found(rag, filters=Filters(doc_keys=(it.key, "open.txt"))),
    "search by key alone": lambda rag, it: found(rag, filters=Filters(doc_keys=(it.key,))),
    "search by tag": lambda rag, it: found(rag, filters=Filters(tags=("geheim",))),
    "search of a version": lambda rag, it: found(rag, as_of=VersionRef(it.key, 1)),
    "ask": lambda rag, it: rag.ask(Query(QUESTION, as_of=VersionRef(it.key, 2))),
    "ask_events": lambda rag, it: [step.hits for step in rag.ask_events(QUESTION) if isinstance(step, PassagesStep)],
    "compare_answers": lambda rag, it: rag.compare_answers(QUESTION, VersionRef(it.key, 1), VersionRef(it.key, 2)),
    "impact": lambda rag, it: list(rag.impact(it.key, 1, [SavedQuestion("0" * 32, QUESTION, LATER)])),
    "retrieve": lambda rag, it: rag.retrieve(QUESTION, 9),
    "rag": lambda rag, it: {name: value for name, value in rag.rag(QUESTION).items() if name != "trace_id"},
    "get_all_data": lambda rag, it: rag.get_all_data(),
    "update_document": lambda rag, it: rag.update_document(it.doc_id, "mine now"),
    "delete_document": lambda rag, it: rag.delete_document(str(it.doc_id)),
}

ELSEWHERE = {
    # What they take is new, and becomes the document of whoever sends it.
    "add_file", "add_path", "add_archive", "add_text", "add_texts", "load_sample", "add_user_text",
    # They work on what the caller has been given.
    "export", "generate",
    # It answers as ``rag`` does; tests/integration/test_recordings.py tells who sees what it records.
    "rag_with_vis",
    # tests/unit/evaluation/test_sharing.py tells who reaches whose.
    "save_question", "share_question", "forget_question",
    # They are of no document.
    "sequence", "jobs_changed", "forget_answers",
    # They count rows of the stores and rewrite them, or take everything, for administrators alone.
    "check", "check_files", "repair", "reindex", "reindex_elasticsearch", "store_report", "backup",
    # Of the machine and the process themselves.
    "sample_left_out",
    "close", "work_off", "publish_due",
}  # fmt: skip


def public_methods(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))}


def test_every_public_method_is_told_what_it_may_tell() -> None:
    parts = {"evaluations", "gate"}
    ruled = {name.split()[0] for name in (*BY_NAME, *LISTS, *ASKED)} - parts | ELSEWHERE
    assert ruled == public_methods(KnowledgeBase) | public_methods(EvoRAG)


def test_every_public_method_needs_a_role() -> None:
    unruled = {
        name
        for of in (KnowledgeBase, EvoRAG)
        for name in public_methods(of)
        if not hasattr(getattr(of, name), "needed_role")
    }
    assert unruled == {"close"}


@pytest.mark.parametrize("of", [KnowledgeBase, EvoRAG])
def test_nobody_gets_beyond_their_role(still: World, of: type) -> None:
    target = still.kb if of is KnowledgeBase else still.rag
    order = list(Role)
    for name in public_methods(of) - {"close"}:
        needed: Role = getattr(of, name).needed_role
        for lesser in order[: order.index(needed)]:
            with acting(Principal("eve", lesser, 99)), pytest.raises(Forbidden):
                getattr(target, name)()


def told(call: Callable[[], Any], it: Named) -> str:
    """Return all that a call tells, without the names that the caller knew."""
    try:
        outcome = call()
    except EvoRAGError as error:
        outcome = error.as_dict()
    return it.hide(json.dumps(_plain(outcome), default=str, sort_keys=True))


def _plain(value: Any) -> Any:
    if isinstance(value, Passage):
        return [value, to_dict(value.hit)]
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return to_dict(value)


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_somebody_elses_is_as_if_it_had_never_been(still: World, name: str) -> None:
    with acting(BOB):
        hers = told(lambda: BY_NAME[name](still.kb, still.hers), still.hers)
        assert hers == told(lambda: BY_NAME[name](still.kb, NEVER), NEVER)
    assert '"not_found"' in hers
    with acting(ANN):
        assert '"not_found"' not in told(lambda: still.kb.document(still.hers.key), NEVER)


@pytest.mark.parametrize("name", LISTS)
def test_no_list_and_no_count_tells_of_what_is_somebody_elses(
    still: World, without: core.KnowledgeBase, name: str
) -> None:
    with acting(BOB):
        seen = told(lambda: LISTS[name](still.kb, still.hers), still.hers)
    assert not [mark for mark in MARKS if mark in seen.lower()]
    with acting(BOB):
        expected = told(lambda: LISTS[name](without, NEVER), NEVER)
    assert _timeless(seen) == _timeless(expected)


def _timeless(text: str) -> Any:
    """Leave out moments and the sequence number, which counts everybody's publications."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(each) for key, each in value.items() if not key.endswith("_at") and key not in _VARYING}
        return [kept(each) for each in value] if isinstance(value, list) else value

    return kept(json.loads(text))


_VARYING = ("at", "sequence")


@pytest.mark.parametrize("name", ASKED)
def test_no_answer_tells_of_what_is_somebody_elses(still: World, name: str) -> None:
    with acting(CAROL):
        hers = told(lambda: ASKED[name](still.rag, still.hers), still.hers)
        never = told(lambda: ASKED[name](still.rag, NEVER), NEVER)
    assert not [mark for mark in MARKS if mark in hers.lower()]
    assert hers == never


@pytest.mark.parametrize("who", [ANN, ROOT], ids=["ann", "root"])
def test_the_owner_and_administrators_see_a_private_document(still: World, who: Principal) -> None:
    with acting(who):
        assert "geheim" in still.kb.tags()
        assert [document.owner for document in still.kb.documents()] == ["", "ann"]
        assert "Pemba" in still.kb.text_of(still.hers.key)
        for options in (
            {},
            {"versions": "all"},
            {"as_of": still.kb.sequence()},
            {"as_of": VersionRef(still.hers.key, 1)},
        ):
            hits = still.rag.search(Query(QUESTION, **options)).hits
            assert still.hers.key in {hit.placed.doc_key for hit in hits}, options
        assert still.kb.counts().documents == 2
        assert still.kb.trace(still.hers.trace_id).query.text == QUESTION


def test_the_key_of_an_administrator_with_a_lesser_role_sees_no_private_document_of_others(world: World) -> None:
    world.kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
    _, secret = world.kb.accounts.create_key("reading", Role.READER, user="root")
    program = world.kb.accounts.principal_of_key(secret)
    assert program is not None
    with acting(program), pytest.raises(NotFound):
        world.kb.document(world.hers.key)


def crowd(world: World) -> None:
    for number in range(3):
        text = "\n\n".join(f"# Spices {n}\n\nWhich spices come from where? Number {n}." for n in range(40))
        add_private(world.kb, ANN, f"crowd{number}.md", text)


def account(rag: core.EvoRAG, depth: int) -> list[Any]:
    # While rows wait to be moved between the parts both are read, and there is more to read.
    rag.kb._projector.flush()
    trace = rag.search(Query(QUESTION, depth=depth))
    return [[leg.hits, leg.read, leg.hidden] for leg in (trace.vector, trace.keyword)] + [
        [(hit.rank, hit.placed.id, hit.score) for hit in trace.candidates]
    ]


@pytest.mark.parametrize("pushed_down", [2_000, 0])
def test_what_others_keep_private_crowds_nothing_out(
    world: World, pushed_down: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(world.kb, "pepper", "Spices come from Kerala, which is where pepper grows.")
    with acting(BOB):
        before = account(world.rag, 2)
    crowd(world)
    monkeypatch.setattr(retrieving, "_MOST_PUSHED_DOWN", pushed_down)
    with acting(BOB):
        after = account(world.rag, 2)

    def ranks(legs: Sequence[Any]) -> list[Any]:
        # The scores of words are those of all that is indexed.
        return [[[hit.chunk_id for hit in leg[0]], *leg[1:]] for leg in legs[:2]] + [legs[2]]

    assert ranks(after) == ranks(before)


def statistics(rag: EvoRAG) -> set[tuple[float, float, int]]:
    """What is told of the terms of a question beside their scores, wherever it is told."""
    query = Query(QUESTION, fresh=True)
    trace, steps = rag.ask(query), list(rag.ask_events(query))
    explained = rag.kb.insight.why_not(Query(QUESTION, depth=1), "open.txt")
    told = [hit.terms for hit in (*trace.keyword.hits, *explained.trace.keyword.hits)]
    [streamed] = [step.hits for step in steps if isinstance(step, PassagesStep)]
    for hits in (trace.hits, trace.candidates, streamed, rag.kb.trace(trace.id).hits):
        told += [hit.keyword.terms for hit in hits if hit.keyword]
    told.append(explained.keyword.terms)
    assert all(told) and all(term.score > 0 for terms in told for term in terms)
    return {(term.idf, term.tf, term.document_frequency) for terms in told for term in terms}


def test_statistics_of_terms_are_told_while_they_count_nothing_that_is_hidden(kb: core.KnowledgeBase) -> None:
    add_shared(kb)
    rag = core.EvoRAG(kb=kb)
    with acting(BOB):
        assert all(idf and tf and frequency for idf, tf, frequency in statistics(rag))
        first = rag.search(Query(QUESTION)), rag.ask(Query(QUESTION, fresh=True))
    with acting(ANN):
        kb.add_text("draft", "Nothing of what was asked.", private=True, draft=True)
    kb.work_off()
    with acting(BOB):
        assert statistics(rag) == {(0.0, 0.0, 0)}
        then = rag.search(Query(QUESTION)), rag.ask(Query(QUESTION, fresh=True))
        assert then[1].answer.text == first[1].answer.text
        assert [hit.placed.id for hit in then[0].hits] == [hit.placed.id for hit in first[0].hits]
    for who in (ANN, ROOT):
        with acting(who):
            assert all(idf and tf and frequency for idf, tf, frequency in statistics(rag))


def test_a_private_document_is_kept_beside_a_shared_one_of_the_same_name(world: World) -> None:
    upload = add_private(world.kb, BOB, "open", "Mine alone.")
    assert (upload.doc_key, upload.version) == ("~bob/open.txt", 1)
    assert "Vietnam" in world.kb.text_of("open.txt")
    with acting(ANN):
        assert [document.doc_key for document in world.kb.documents("open")] == ["open.txt"]


def test_a_next_version_of_a_private_document_stays_private(world: World) -> None:
    with acting(ANN):
        upload = world.kb.add_text("secret", "A third one.", private=True)
    assert (upload.doc_key, upload.version) == (world.hers.key, 3)
    with acting(ROOT), pytest.raises(Conflict):
        world.rag.update_document(world.hers.doc_id, "no")


def test_private_needs_somebody_whose_it_is(world: World) -> None:
    with pytest.raises(InvalidInput):
        world.kb.add_text("mine", "text", private=True)


def test_a_passage_that_others_keep_private_is_not_merged_with_a_shared_one(world: World) -> None:
    add_private(world.kb, ANN, "open", "Spices: pepper comes from Kerala and Vietnam.", title="open")
    with acting(BOB):
        trace = world.rag.search(Query(QUESTION))
    assert [(hit.placed.doc_key, len(hit.merged)) for hit in trace.candidates] == [("open.txt", 0)]


def test_the_work_of_an_upload_does_not_tell_what_others_keep_private(world: World) -> None:
    hers, never = "Spices: cloves come from Zanzibar and Pemba.", "Spices: cloves come from Zanzibar and Mafia."
    for private in (True, False):
        told = []
        for text in (hers, never):
            with acting(BOB):
                upload = world.kb.add_text("secret", text, private=private)
            world.kb.work_off()
            job = world.kb.job(str(upload.job_id))
            told.append((job.resources.get("embedded_texts"), job.stage_counts))
        assert told[0] == told[1]


def test_whoever_signed_in_acts_under_no_other_name(world: World) -> None:
    with acting(BOB):
        world.kb.delete("open.txt", actor="ann")
    assert world.kb.audit(limit=1)[0].actor == "bob"
    world.kb.restore("open.txt", actor="a program of this machine")
    assert world.kb.audit(limit=1)[0].actor == "a program of this machine"


def test_a_whole_document_is_purged_by_its_uploader_or_an_administrator(world: World) -> None:
    with acting(BOB):
        with pytest.raises(Forbidden):
            world.kb.purge("open.txt")
        world.kb.add_text("of bob", "text")
        assert world.kb.purge("of bob.txt").action == "purge"
    with acting(ANN):
        assert world.kb.purge(world.hers.key).action == "purge"


def test_what_somebody_leaves_behind_is_seen_by_administrators_alone(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
    dora = kb.accounts.create_user("dora", PASSWORD, Role.EDITOR)
    add_private(kb, Principal(dora.name, dora.role, dora.id), "left", "behind")
    kb.accounts.remove("dora")
    with acting(BOB), pytest.raises(NotFound):
        kb.document("~dora/left.txt")
    assert kb.document("~dora/left.txt").owner == "dora"
    with pytest.raises(Conflict):
        kb.accounts.create_user("dora", PASSWORD, Role.READER)


def test_steps_of_an_answer_that_are_read_elsewhere_are_those_of_whoever_asked(world: World) -> None:
    with acting(BOB):
        steps = world.rag.ask_events(QUESTION)
    told_to_bob = {type(step): step for step in steps}
    assert {hit.placed.doc_key for hit in told_to_bob[PassagesStep].hits} == {"open.txt"}
    with acting(BOB):
        assert [summary.id for summary in world.kb.history()] == [told_to_bob[DoneStep].trace.id]
