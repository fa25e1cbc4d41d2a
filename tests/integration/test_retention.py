"""How long it is kept what people ask and do, and what they see, take and delete of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

import core
from app.main import create_app
from core.access import acting
from core.catalog.asking_schema import cached_answers
from core.catalog.schema import job_events, jobs, questions
from core.model import OwnCounts, Principal, RetentionDays, Role
from tests.builders import add

PASSWORD = "a long enough password"


def person(kb: core.KnowledgeBase, name: str, role: Role = Role.EDITOR) -> Principal:
    user = kb.accounts.create_user(name, PASSWORD, role)
    return Principal(user.name, user.role, user.id)


def rows(kb: core.KnowledgeBase, table: object) -> int:
    with kb.catalog.database.read() as tx:
        return int(tx.scalar(select(func.count()).select_from(table)) or 0)  # type: ignore[arg-type]


def in_days(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


@pytest.fixture
def asked(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """A document, a question by itself, and a conversation with one."""
    add(kb, "fees", "The yearly fee is 12 euros.")
    rag = core.EvoRAG(kb=kb)
    rag.ask("What is the yearly fee?")
    talk = kb.conversations.create("Fees")
    rag.ask(core.Query("How high is the fee?", conversation_id=talk.id))
    return kb


def test_nothing_goes_before_its_time_and_everything_after_it(asked: core.KnowledgeBase) -> None:
    retention = asked.catalog.retention
    retention.days = RetentionDays(questions=30, conversations=60, jobs=20, audit=90)
    assert set(retention.apply(in_days(19)).values()) == {0}
    assert retention.apply(in_days(21))["jobs"] == 1
    assert rows(asked, job_events) == 0
    assert retention.apply(in_days(31))["questions"] == 1
    assert rows(asked, questions) == 1 and rows(asked, cached_answers) <= 1
    assert retention.apply(in_days(61))["conversations"] == 1
    assert rows(asked, questions) == rows(asked, cached_answers) == 0
    assert core.EvoRAG(kb=asked).search("yearly fee").hits


def test_names_and_notes_go_from_the_audit_and_what_was_shown_stays(kb: core.KnowledgeBase) -> None:
    ann = person(kb, "ann", Role.ADMIN)
    with acting(ann):
        kb.add_text("fees", "The yearly fee is 12 euros.")
        kb.work_off()
        kb.unpublish("fees.txt", note="It names somebody.")
    kb.catalog.retention.days = RetentionDays(audit=10)
    assert kb.catalog.retention.apply(in_days(9))["audit"] == 0
    assert kb.catalog.retention.apply(in_days(11))["audit"] == 2
    assert [(each.action, each.actor, each.note) for each in kb.audit()] == [("unpublish", "", ""), ("publish", "", "")]


def test_without_a_setting_everything_is_kept(asked: core.KnowledgeBase) -> None:
    asked.catalog.retention.days = RetentionDays()
    assert set(asked.catalog.retention.apply(in_days(10_000)).values()) == {0}


def test_defaults_have_an_end(kb: core.KnowledgeBase) -> None:
    assert kb.settings.retention.days() == RetentionDays(365, 365, 180, 1095)


def test_jobs_that_can_be_started_again_stay(kb: core.KnowledgeBase) -> None:
    kb.cancel(str(kb.add_text("cancelled", "One text.").job_id))
    kb.add_text("waits", "Another text.")
    kb.catalog.retention.days = RetentionDays(jobs=1)
    assert kb.catalog.retention.apply(in_days(2))["jobs"] == 0
    assert rows(kb, jobs) == 2
    kb.retry(next(job.id for job in kb.jobs() if job.name.startswith("cancelled")))
    kb.work_off()
    assert kb.catalog.retention.apply(in_days(2))["jobs"] == 2


def test_users_see_take_and_delete_what_is_kept_of_them_alone(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
    ann, bob = person(kb, "ann"), person(kb, "bob")
    for who in (ann, bob):
        with acting(who):
            kb.add_text(f"note of {who.name}", f"The text of {who.name} names a fee of 12 euros.")
    kb.work_off()
    rag = core.EvoRAG(kb=kb)
    for who in (ann, bob):
        with acting(who):
            rag.ask(f"What is the fee of {who.name}?")
            rag.ask(core.Query(f"And for {who.name}?", conversation_id=kb.conversations.create("Fees").id))
            kb.accounts.create_key(f"key of {who.name}", Role.READER)
    own = kb.accounts.own_data
    with acting(ann):
        assert own.counts() == OwnCounts(questions=2, conversations=1, jobs=1, documents=1, publications=1)
        told = own.export()
        found = json.loads(told)
        assert {each["question"] for each in found["questions"]} == {"What is the fee of ann?", "And for ann?"}
        assert [each["name"] for each in found["keys"]] == ["key of ann"]
        assert [each["doc_key"] for each in found["uploads"]] == ["note of ann.txt"]
        assert "bob" not in told and "secret" not in told and "password" not in told
        assert own.delete() == OwnCounts(questions=0, conversations=0, jobs=0, documents=1, publications=1)
    with acting(bob):
        assert own.counts() == OwnCounts(questions=2, conversations=1, jobs=1, documents=1, publications=1)
    assert own.counts() == OwnCounts(questions=0, conversations=0, jobs=0, documents=0, publications=0)


def test_on_an_open_server_it_is_what_nobody_has(asked: core.KnowledgeBase) -> None:
    own = asked.accounts.own_data
    assert own.counts() == OwnCounts(questions=2, conversations=1, jobs=1, documents=1, publications=1)
    assert own.delete() == OwnCounts(questions=0, conversations=0, jobs=0, documents=1, publications=1)


def test_routes_show_send_and_delete_it(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("mori", PASSWORD, Role.ADMIN)
    add(kb, "fees", "The yearly fee is 12 euros.")
    client = create_app(kb).server.test_client()
    client.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
    assert client.get("/api/v1/me/data").status_code == 401
    client.post("/sign-in", data={"name": "mori", "password": PASSWORD})
    assert client.post("/api/v1/ask", json={"question": "What is the yearly fee?"}).status_code == 200
    assert client.get("/api/v1/me/data").json["questions"] == 1
    sent = client.get("/api/v1/me/data/export")
    assert "attachment" in sent.headers["Content-Disposition"]
    assert sent.headers["Cache-Control"] == "private, no-store"
    assert sent.json["questions"][0]["question"] == "What is the yearly fee?"
    assert client.delete("/api/v1/me/data").json["questions"] == 0
