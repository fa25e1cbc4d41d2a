"""Training from the knowledge base: in a process of its own, stopped and gone on with, and never on what is private."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import core
from core.access import acting
from core.errors import Conflict, DiskFull, Forbidden, InvalidInput, NotFound, Purged, StoreUnavailable
from core.model import Document, GeneratorState, Principal, Prompt, Role, Sampling, TrainingLabels, TrainingState
from core.snn.jobs import TrainingSource, begin_job, working_on
from core.snn.train import carry_out
from core.training.facade import Trainings
from tests.builders import add, knowledge_base
from tests.trained import COURSE, TEXT, begun, trained

LABELS = TrainingLabels("small")


def standard(kb: core.KnowledgeBase) -> tuple[str, GeneratorState]:
    line = next(line for line in kb.generators.health() if line.name == "standard")
    return line.model, line.state


def models(kb: core.KnowledgeBase) -> Path:
    return kb.settings.data_dir / "models"


def test_training_ends_with_the_knowledge_base_and_is_resumed_to_a_model_that_writes(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        owner = kb.accounts.create_user("owner", "a long enough password", Role.ADMIN)
        with acting(Principal("owner", Role.ADMIN, owner.id)):
            kb.add_text("diary", "A secret of mine. " * 50, private=True)
        kb.work_off()
        add(kb, "hours", TEXT)
        kb.set_tags("hours.txt", ["rules"])
        assert kb.training.start(LABELS, COURSE).state is TrainingState.RUNNING
        with pytest.raises(Conflict, match="running"):
            kb.training.start(TrainingLabels("other"), COURSE)
        with pytest.raises(Conflict, match="running"):
            kb.training.discard("small")
        deadline = time.monotonic() + 300
        while kb.training.status("small").step < 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        job = json.loads((models(kb) / "training" / "small" / "job.json").read_text())
    assert (job["documents"], job["tags"]) == ([["hours.txt", 1]], ["rules"])
    with knowledge_base(tmp_path) as kb:
        left = kb.training.status("small")
        assert left.state is TrainingState.CANCELLED and left.step >= 1
        assert standard(kb)[1] is GeneratorState.UNAVAILABLE
        kb.training.resume("small")
        done = kb.training.wait("small", 300)
        assert (done.state, done.step) == (TrainingState.DONE, 30) and (done.held_out_loss or 9) < 2
        assert kb.training.artifact("small").is_chosen
        generator = kb.generators.get("standard")
        assert generator is not None
        assert "opens at" in "".join(generator.write(Prompt("", "The office", "en"), Sampling(max_tokens=12), 60))
        assert not (models(kb) / "training" / "small").exists()


@dataclass(frozen=True)
class Shelf:
    """A library of documents like the one that is there, by other names."""

    found: Document
    keys: Sequence[str]
    text: Callable[[str], str]

    def documents(self) -> list[Document]:
        return [replace(self.found, doc_key=key) for key in self.keys]

    def text_of(self, key: str, version: int, /) -> str:
        return self.text(key)


def learning_from(kb: core.KnowledgeBase, keys: Sequence[str], text: Callable[[str], str]) -> Trainings:
    add(kb, "hours", TEXT)
    return Trainings(models(kb), kb.generators, Shelf(kb.document("hours.txt"), keys, text))


def test_cancelled_while_texts_are_gathered_leaves_no_text_and_can_be_resumed(kb: core.KnowledgeBase) -> None:
    read: list[str] = []
    reached = threading.Event()

    def text_of(key: str) -> str:
        read.append(key)
        if len(read) > 5:
            reached.set()
            time.sleep(0.05)
        return TEXT

    training = learning_from(kb, [*map(str, range(400))], text_of)
    assert training.start(LABELS, COURSE).state is TrainingState.RUNNING
    for again in (False, True):
        if again:
            reached.clear()
            assert training.resume("small").state is TrainingState.RUNNING
        assert reached.wait(60)
        assert training.cancel("small").state is TrainingState.CANCELLED
        assert training.cancel("small").state is TrainingState.CANCELLED
        assert not (models(kb) / "training" / "small").exists()
    assert len(read) < 400
    assert [each.name for each in training.trainings()] == ["small"]
    with pytest.raises(Conflict, match="taken"):
        training.start(LABELS, COURSE)
    training.discard("small")
    assert training.trainings() == []
    with pytest.raises(NotFound):
        training.resume("small")


def test_failure_while_texts_are_gathered_is_told_and_leaves_no_text(kb: core.KnowledgeBase) -> None:
    def text_of(key: str) -> str:
        if key == "purged":
            raise Purged("This version was purged.")
        if key == "broken":
            raise StoreUnavailable("The file cannot be read.", remedy="Look at the disk.")
        return TEXT

    training = learning_from(kb, ["hours", "purged", "broken"], text_of)
    training.start(LABELS, COURSE)
    failed = training.wait("small")
    assert (failed.state, failed.error) == (TrainingState.FAILED, "The file cannot be read.")
    assert (failed.code, failed.remedy) == ("store_unavailable", "Look at the disk.")
    assert not (models(kb) / "training" / "small").exists() and training.trainings() == [failed]
    training.discard("small")
    assert training.trainings() == []


def test_training_that_another_process_is_at_is_left_alone(kb: core.KnowledgeBase) -> None:
    job = begun(models(kb))
    with working_on(job.work):
        assert kb.training.status("small").state is TrainingState.RUNNING
        for act in (kb.training.resume, kb.training.discard, kb.training.cancel):
            with pytest.raises(Conflict, match="elsewhere"):
                act("small")
        with pytest.raises(Conflict, match="elsewhere"):
            carry_out(job, stopped=threading.Event())
    assert kb.training.status("small").state is TrainingState.CANCELLED
    kb.training.discard("small")


def test_training_is_not_begun_where_its_checkpoints_would_fill_the_disk(kb: core.KnowledgeBase) -> None:
    begun(models(kb))

    def full(size_bytes: int) -> None:
        raise DiskFull("There is no room on the disk of the data folder.")

    with pytest.raises(DiskFull):
        Trainings(models(kb), kb.generators, kb._reader, full).resume("small")


def test_model_named_in_the_settings_is_found_once_it_is_trained_and_never_after_it_is_deleted(tmp_path: Path) -> None:
    def state(kb: core.KnowledgeBase) -> GeneratorState:
        return next(line.state for line in kb.generators.health() if line.name == "huggingface")

    with knowledge_base(tmp_path, llm_model="one") as kb:
        add(kb, "gone", TEXT)
        before = kb.generators.get("huggingface")
        trained(models(kb), "one", [("gone.txt", 1)], steps=2)
        kb.training.choose("one")
        opened = kb.generators.get("huggingface")
        assert opened is not before and state(kb) is GeneratorState.IDLE
        kb.delete("gone.txt")
        kb.purge("gone.txt")
        assert kb.training.artifacts() == []
        assert kb.generators.get("huggingface") is not opened


def test_training_that_fails_says_why_and_what_to_do_and_stays_until_it_is_discarded(kb: core.KnowledgeBase) -> None:
    job = begin_job(models(kb), LABELS, COURSE, [TrainingSource("A few words.")])
    with pytest.raises(InvalidInput):
        carry_out(job, stopped=threading.Event())
    failed = kb.training.status("small")
    assert (failed.state, failed.code) == (TrainingState.FAILED, "invalid_input")
    assert "65 are needed" in failed.error and "Discard" in failed.remedy
    kb.training.discard("small")
    assert kb.training.trainings() == []


def test_nothing_to_learn_from_is_told_at_once(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="no document"):
        kb.training.start(LABELS, COURSE)
    assert kb.training.trainings() == []


def test_chosen_model_writes_at_once_and_its_deletion_closes_the_generator(kb: core.KnowledgeBase) -> None:
    for name in ("one", "two"):
        trained(models(kb), name, steps=2)
    assert standard(kb)[1] is GeneratorState.UNAVAILABLE
    for name in ("one", "two"):
        assert kb.training.choose(name).is_chosen
        assert standard(kb)[0].startswith(f"{name} ") and standard(kb)[1] is GeneratorState.IDLE
    kb.training.delete("one")
    assert standard(kb)[1] is GeneratorState.IDLE
    kb.training.delete("two")
    assert standard(kb)[1] is GeneratorState.UNAVAILABLE and kb.training.artifacts() == []


def test_models_and_trainings_go_with_the_version_that_they_learnt_from(kb: core.KnowledgeBase) -> None:
    for name in ("gone", "stays"):
        add(kb, name, TEXT + name)
        trained(models(kb), f"of-{name}", [(f"{name}.txt", 1)], steps=2)
        begun(models(kb), f"for-{name}", [(f"{name}.txt", 1)])
    kb.training.choose("of-gone")
    kb.delete("gone.txt")
    kb.purge("gone.txt")
    assert [each.name for each in kb.training.artifacts()] == ["of-stays"]
    assert {each.name for each in kb.training.trainings()} == {"for-stays", "of-stays"}
    assert standard(kb)[1] is GeneratorState.UNAVAILABLE


@pytest.mark.parametrize("left", [b"", b'{"documents": [["gone.', b'{"documents": 5}'])
def test_model_that_cannot_tell_any_more_what_it_learnt_from_goes_with_any_version(
    kb: core.KnowledgeBase, left: bytes
) -> None:
    add(kb, "gone", TEXT)
    told = trained(models(kb), "torn", [("gone.txt", 1)]) / "training_sources.json"
    begun(models(kb), "torn-job", [("gone.txt", 1)])
    trained(models(kb), "whole", [("other.txt", 1)])
    for path in (told, models(kb) / "training" / "torn-job" / "job.json"):
        path.write_bytes(left)
    kb.purge("gone.txt")
    assert kb.catalog.purges.pending() == []
    assert [each.name for each in kb.training.artifacts()] == ["whole"]
    assert not (models(kb) / "training" / "torn-job").exists()


def test_who_is_no_administrator_sees_models_and_changes_none(kb: core.KnowledgeBase) -> None:
    trained(models(kb), steps=2)
    begun(models(kb), "left")
    training = kb.training
    with acting(Principal("reader", Role.EDITOR, 7)):
        assert [each.name for each in training.artifacts()] == ["small"]
        assert {each.name for each in training.trainings()} == {"left", "small"}
        for act in (
            lambda: training.choose("small"),
            lambda: training.delete("small"),
            lambda: training.start(LABELS),
            lambda: training.cancel("left"),
            lambda: training.resume("left"),
            lambda: training.discard("left"),
        ):
            with pytest.raises(Forbidden):
                act()
    assert training.artifact("small").name == "small"
