"""Recordings: made with an answer or taken from a file, seen by whom they belong to, and gone with what they quote."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.access import acting
from core.errors import (
    Damaged,
    DiskFull,
    Forbidden,
    GenerationFailed,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    TooLarge,
    UnreadableRecording,
)
from core.model import Principal, Query, Recording, RecordingPart, Role, WritingStep
from core.snn.recording import load, save
from tests.builders import add, knowledge_base
from tests.doubles import BrokenOff, QueuedGenerator, RecordedGenerator, tiny_recording, use

ROOT = Path(__file__).parent.parent.parent
ADMIN = Principal("root", Role.ADMIN, 1)
ANN, BOB = Principal("ann", Role.EDITOR, 2), Principal("bob", Role.READER, 3)
QUESTION = Query("When does the museum open?", record=True)
ANSWER = "The museum opens at nine. [1]"


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "museum", "The museum opens at nine. The museum closes at six.")
    return core.EvoRAG(kb=kb)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    save(tiny_recording(), tmp_path / "sample.pt")
    return tmp_path / "sample.pt"


def writes(rag: core.EvoRAG, *answers: object, loss: Exception | None = None) -> RecordedGenerator:
    generator = RecordedGenerator(*(answers or (ANSWER,)), loss=loss)  # type: ignore[arg-type]
    use(rag.kb, generator)
    return generator


def files(kb: core.KnowledgeBase) -> list[str]:
    return sorted(path.name for path in (kb.settings.data_dir / "recordings").iterdir())


# ---- the way of an answer


def test_a_recorded_answer_names_its_recording_and_the_recording_names_its_question(rag: core.EvoRAG) -> None:
    writes(rag)
    trace = rag.ask(QUESTION)
    told = trace.generation["recording"]
    kept = rag.kb.recordings.get(told["id"])
    assert told == {"id": kept.id, "tokens": 5, "size_bytes": kept.size_bytes, "truncated": ""}
    assert (kept.name, kept.question, kept.trace_id) == (QUESTION.text, QUESTION.text, trace.id)
    assert (kept.steps, kept.tokens, kept.neurons, kept.code, kept.is_uploaded) == (8, 5, 48, "few-spike", False)
    assert rag.kb.trace(trace.id).generation["recording"] == told
    assert files(rag.kb) == [f"{kept.id}.pt"]
    assert rag.kb.recordings.disk_bytes() == kept.size_bytes == rag.kb.recordings.path(kept.id).stat().st_size


def test_an_answer_is_recorded_by_the_spiking_generator_whatever_usually_writes(kb: core.KnowledgeBase) -> None:
    add(kb, "museum", "The museum opens at nine.")
    rag = core.EvoRAG("none", kb)
    writes(rag)
    assert rag.ask(QUESTION).answer.generator.startswith("snn: ")


def test_recording_changes_nothing_else_in_the_answer(rag: core.EvoRAG) -> None:
    writes(rag, ANSWER, ANSWER)
    recorded = rag.ask(QUESTION, keep=False)
    plain = rag.ask(replace(QUESTION, record=False, generator="snn"), keep=False)
    assert recorded.answer == plain.answer
    assert recorded.prompt == plain.prompt


def test_a_question_that_is_recorded_is_neither_answered_from_the_cache_nor_kept_there(rag: core.EvoRAG) -> None:
    generator = writes(rag, ANSWER, ANSWER, ANSWER, ANSWER)
    plain = replace(QUESTION, record=False, generator="snn")
    assert [rag.ask(plain).cache is None, rag.ask(plain).cache is None] == [True, False]
    assert [rag.ask(QUESTION).cache, rag.ask(QUESTION).cache] == [None, None]
    assert generator.recorded == 2


@pytest.mark.parametrize("name", ["none", "queued"])
def test_what_cannot_be_recorded_is_refused_with_what_to_choose(rag: core.EvoRAG, name: str) -> None:
    use(rag.kb, QueuedGenerator(ANSWER))
    with pytest.raises(InvalidInput) as refused:
        rag.ask(replace(QUESTION, generator=name))
    assert "snn" in refused.value.remedy
    assert files(rag.kb) == []


def test_where_nothing_is_to_be_written_nothing_is_recorded(kb: core.KnowledgeBase) -> None:
    rag = core.EvoRAG(kb=kb)
    writes(rag)
    assert "recording" not in rag.ask(QUESTION).generation
    assert files(kb) == []


def test_an_answer_that_is_stopped_leaves_neither_an_account_nor_a_recording(rag: core.EvoRAG) -> None:
    generator = writes(rag)
    with closing(rag.ask_events(QUESTION)) as steps:
        assert any(isinstance(step, WritingStep) for step in steps)
    assert generator.recorded == 1
    assert (files(rag.kb), rag.kb.recordings.list(), rag.kb.history()) == ([], [], [])


def test_what_was_recorded_before_the_generator_failed_is_kept_with_the_extracted_answer(rag: core.EvoRAG) -> None:
    writes(rag, BrokenOff("The museum opens at", GenerationFailed("It broke.")))
    trace = rag.ask(QUESTION)
    assert trace.answer.generator == "none"
    assert rag.kb.recordings.get(trace.generation["recording"]["id"]).trace_id == trace.id


def on_the_way(error: OSError) -> Exception:
    """Return what PyTorch makes of an error of the disk."""
    made = RuntimeError("unexpected pos")
    made.__context__ = error
    return made


@pytest.mark.parametrize(
    ("loss", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk_full", "no room"),
        (on_the_way(OSError(errno.EDQUOT, "Disk quota exceeded")), "disk_full", "no room"),
        (PermissionError(errno.EACCES, "Permission denied"), "error", "Permission denied"),
    ],
    ids=["space", "quota", "permission"],
)
def test_an_answer_stays_where_the_disk_took_no_recording_and_says_why(
    rag: core.EvoRAG, loss: Exception, code: str, said: str
) -> None:
    writes(rag, loss=loss)
    trace = rag.ask(QUESTION)
    assert "nine" in trace.answer.text
    error = trace.generation["recording"]["error"]
    assert error["code"] == code and said in error["message"]
    assert rag.kb.recordings.list() == []


def test_a_file_that_went_missing_is_no_full_disk(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.doubles.save", lambda *_: None)
    writes(rag)
    error = rag.ask(QUESTION).generation["recording"]["error"]
    assert error["code"] == "error" and "its file is missing" in error["message"]


def test_a_recording_of_an_answer_that_is_not_kept_has_no_question_in_the_history(rag: core.EvoRAG) -> None:
    writes(rag)
    trace = rag.ask(QUESTION, keep=False)
    assert rag.kb.recordings.get(trace.generation["recording"]["id"]).trace_id == ""


def test_a_recording_goes_where_its_account_cannot_be_kept(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise DiskFull("no room for the account")

    writes(rag)
    monkeypatch.setattr(rag.kb.catalog.questions, "keep", refuse)
    assert rag.ask(QUESTION).answer.text
    assert (files(rag.kb), rag.kb.recordings.list()) == ([], [])


def test_nothing_is_begun_where_the_disk_has_no_room(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, recording_bytes=2**60) as kb:
        add(kb, "museum", "The museum opens at nine.")
        rag = core.EvoRAG(kb=kb)
        generator = writes(rag)
        with pytest.raises(DiskFull):
            rag.ask(QUESTION)
        assert generator.prompts == []


def test_recordings_count_as_what_a_user_keeps(tmp_path: Path, sample: Path) -> None:
    with knowledge_base(tmp_path, user_quota_bytes=2 * sample.stat().st_size - 1) as kb, acting(ANN):
        first = kb.recordings.import_file("first", sample)
        with pytest.raises(QuotaExceeded):
            kb.recordings.import_file("second", sample)
        assert files(kb) == [f"{first.id}.pt"]


# ---- rag_with_vis


def test_rag_with_vis_answers_as_rag_does_and_leaves_the_file(rag: core.EvoRAG, tmp_path: Path) -> None:
    writes(rag, ANSWER, ANSWER)
    plain = core.EvoRAG("snn", rag.kb).rag(QUESTION.text)
    path = tmp_path / "rag_neuron_data.pt"
    path.write_bytes(b"an older one")
    told = rag.rag_with_vis(QUESTION.text, path)
    assert {name: told[name] for name in ("answer", "answer_type", "documents", "citations")} == {
        name: plain[name] for name in ("answer", "answer_type", "documents", "citations")
    }
    assert told["neuron_data_path"] == str(path)
    assert path.read_bytes() == rag.kb.recordings.path(told["recording_id"]).read_bytes()
    assert load(path, 10**6).steps == 8
    assert "debug_info" not in told


def test_rag_with_vis_without_an_answer_leaves_the_file_alone(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    rag = core.EvoRAG(kb=kb)
    writes(rag)
    told = rag.rag_with_vis(QUESTION.text, tmp_path / "x.pt", return_debug_info=True)
    assert (told["recording_id"], told["neuron_data_path"]) == ("", "")
    assert told["debug_info"]["generation"]["generator"] == "snn"
    assert not (tmp_path / "x.pt").exists()


def test_rag_with_vis_refuses_a_path_before_it_asks(rag: core.EvoRAG, tmp_path: Path) -> None:
    generator = writes(rag)
    for path in (tmp_path, tmp_path / "nowhere" / "x.pt"):
        with pytest.raises(InvalidInput):
            rag.rag_with_vis(QUESTION.text, path)
    assert generator.prompts == []


# ---- files that come in


def test_a_file_is_kept_with_what_it_says_of_itself(kb: core.KnowledgeBase, sample: Path) -> None:
    kept = kb.recordings.import_file(" My\x1b[31m\u202e file\n.pt", sample)
    assert kept.name == "My [31m file"
    assert (kept.model, kept.is_uploaded, kept.trace_id) == ("model made", True, "")
    assert kb.recordings.path(kept.id).read_bytes() == sample.read_bytes()
    assert kb.recordings.list() == [kept]


def test_a_file_with_just_the_two_tensors_is_taken(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    import torch

    torch.save({"spikes": torch.eye(4, dtype=torch.int8), "membrane_potential": torch.zeros(4, 4)}, tmp_path / "two.pt")
    kept = kb.recordings.import_file("two.pt", tmp_path / "two.pt")
    assert (kept.name, kept.steps, kept.tokens, kept.neurons) == ("two", 1, 4, 4)


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04" + b"\0" * 100])
def test_another_file_is_refused_and_leaves_nothing(kb: core.KnowledgeBase, data: bytes) -> None:
    with pytest.raises(UnreadableRecording):
        kb.recordings.import_file("x.pt", io.BytesIO(data))
    assert files(kb) == []


def test_a_file_over_the_limit_is_refused_and_leaves_nothing(tmp_path: Path, sample: Path) -> None:
    with knowledge_base(tmp_path, recording_upload_bytes=sample.stat().st_size - 1) as kb:
        with pytest.raises(TooLarge):
            kb.recordings.import_file("x.pt", sample)
        assert files(kb) == []


def test_a_recording_can_be_read_after_the_limits_were_lowered(tmp_path: Path, sample: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        kept = kb.recordings.import_file("x.pt", sample)
    with knowledge_base(tmp_path, recording_upload_bytes=1, recording_bytes=1) as kb:
        assert kb.recordings.open(kept.id).neurons == kept.neurons


# ---- names, and who sees what


def test_names_are_plain_text_on_one_line(kb: core.KnowledgeBase, sample: Path) -> None:
    kept = kb.recordings.import_file("x", sample)
    name = "'; DROP TABLE recordings; -- <b>記録</b>"
    assert kb.recordings.rename(kept.id, f"  {name}\n").name == name
    assert kb.recordings.get(kept.id).name == name
    for wrong in ("", " \n", "x" * 201, "\ud800"):
        with pytest.raises(InvalidInput):
            kb.recordings.rename(kept.id, wrong)


def test_everyone_sees_their_own_recordings_and_administrators_all(rag: core.EvoRAG) -> None:
    writes(rag, ANSWER, ANSWER)
    mine = {}
    for who in (ANN, BOB):
        with acting(who):
            mine[who.name] = rag.ask(QUESTION).generation["recording"]["id"]
    recordings = rag.kb.recordings
    with acting(BOB):
        assert [each.id for each in recordings.list()] == [mine["bob"]]
        assert recordings.disk_bytes() == recordings.get(mine["bob"]).size_bytes
        for act in (
            recordings.get,
            recordings.path,
            recordings.open,
            recordings.delete,
            recordings.tokens,
            recordings.summary,
            recordings.heat_map,
            recordings.export,
            lambda other: recordings.rename(other, "mine now"),
            lambda other: recordings.spikes(other, "layers.0.query"),
            lambda other: recordings.membrane(other, "layers.0.query"),
            lambda other: recordings.compare(mine["bob"], other),
        ):
            with pytest.raises(NotFound):
                act(mine["ann"])
    with acting(ADMIN):
        assert {each.id for each in recordings.list()} == set(mine.values())
        recordings.delete(mine["ann"])
    assert files(rag.kb) == [f"{mine['bob']}.pt"]


def test_readers_put_no_files_on_the_server(kb: core.KnowledgeBase, sample: Path) -> None:
    with acting(BOB), pytest.raises(Forbidden):
        kb.recordings.import_file("x", sample)


def test_a_key_that_reads_shows_no_recording_of_private_documents_that_its_administrator_saw(
    kb: core.KnowledgeBase,
) -> None:
    with acting(ANN):
        kb.add_text("museum", "The museum opens at nine.", private=True)
    kb.work_off()
    rag = core.EvoRAG(kb=kb)
    writes(rag)
    with acting(ADMIN):
        made = rag.ask(QUESTION).generation["recording"]["id"]
        assert kb.recordings.get(made).id == made
    with acting(replace(ADMIN, role=Role.READER)):
        assert kb.recordings.list() == []
        with pytest.raises(NotFound):
            kb.recordings.path(made)


# ---- purging


def test_a_recording_goes_when_a_version_that_stood_in_its_prompt_is_purged(rag: core.EvoRAG) -> None:
    add(rag.kb, "library", "The library opens at ten.")
    writes(rag, ANSWER, "The library opens at ten. [1]", ANSWER)
    quoting = rag.ask(replace(QUESTION, top_k=1)).generation["recording"]["id"]
    other = rag.ask(Query("When does the library open?", top_k=1, record=True)).generation["recording"]["id"]
    unkept = rag.ask(replace(QUESTION, top_k=1), keep=False).generation["recording"]["id"]
    rag.kb.recordings.open(quoting)
    rag.kb.purge("museum.txt")
    assert [each.id for each in rag.kb.recordings.list()] == [other]
    assert files(rag.kb) == [f"{other}.pt"]
    for gone in (quoting, unkept):
        with pytest.raises(NotFound):
            rag.kb.recordings.open(gone)


def test_a_recorded_follow_up_goes_with_the_account_that_may_name_what_was_purged(rag: core.EvoRAG) -> None:
    add(rag.kb, "library", "The library opens at ten.")
    writes(rag, *[ANSWER] * 2)
    talk = rag.kb.conversations.create().id
    rag.ask(replace(QUESTION, record=False, top_k=1, conversation_id=talk))
    follow_up = Query("And the library?", top_k=1, record=True, conversation_id=talk)
    assert rag.ask(follow_up).hits[0].placed.doc_key == "library.txt"
    assert len(rag.kb.recordings.list()) == 1
    rag.kb.purge("museum.txt")
    assert (files(rag.kb), rag.kb.recordings.list()) == ([], [])


def test_a_recorded_follow_up_without_an_account_goes_with_any_purge(rag: core.EvoRAG) -> None:
    add(rag.kb, "library", "The library opens at ten.")
    writes(rag, *[ANSWER] * 3)
    talk = rag.kb.conversations.create().id
    rag.ask(replace(QUESTION, record=False, top_k=1, conversation_id=talk))
    follow_up = Query("And the library?", top_k=1, record=True, conversation_id=talk)
    assert rag.ask(follow_up, keep=False).hits[0].placed.doc_key == "library.txt"
    alone = Query("When does the library open?", top_k=1, record=True)
    other = rag.ask(alone, keep=False).generation["recording"]["id"]
    assert len(rag.kb.recordings.list()) == 2
    rag.kb.purge("museum.txt")
    assert [each.id for each in rag.kb.recordings.list()] == [other]


def test_what_is_purged_while_it_is_recorded_is_not_kept(rag: core.EvoRAG) -> None:
    generator = writes(rag)
    generator.during = lambda: rag.kb.purge("museum.txt")
    trace = rag.ask(QUESTION)
    assert generator.recorded == 1
    assert "recording" not in trace.generation
    assert (files(rag.kb), rag.kb.recordings.list()) == ([], [])


# ---- what a killed process leaves

KILLED = """
import os, signal, sys
from pathlib import Path
import core.platform.failpoints
from tests.builders import knowledge_base
from tests.doubles import save, tiny_recording

folder, place = Path(sys.argv[1]), sys.argv[2]
kb = knowledge_base(folder)
save(tiny_recording(), folder / "sample.pt")
kept = kb.recordings.import_file("kept", folder / "sample.pt")
print(kept.id, flush=True)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if place == "kept":
    core.platform.failpoints.on_failpoint(lambda name: die() if name == "recordings.file.kept" else None)
    kb.recordings.import_file("lost", folder / "sample.pt")
else:
    kb.recordings._remove = die
    kb.recordings.delete(kept.id)
"""


@pytest.mark.parametrize("place", ["kept", "deleted"])
def test_being_killed_between_file_and_row_leaves_whole_recordings_alone(tmp_path: Path, place: str) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), place]
    killed = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    whole = {killed.stdout.strip()} if place == "kept" else set()
    left = list((tmp_path / "data" / "recordings").glob("*.pt"))
    assert len(left) == len(whole) + 1
    with knowledge_base(tmp_path) as kb:
        assert {each.id for each in kb.recordings.list()} == whole
        assert files(kb) == [f"{each}.pt" for each in whole]
        assert all(kb.recordings.open(each).neurons == 48 for each in whole)


def test_a_recording_whose_file_is_lost_or_damaged_says_so_and_is_whole_again_once_it_is_back(
    tmp_path: Path, sample: Path
) -> None:
    with knowledge_base(tmp_path) as kb:
        kept = kb.recordings.import_file("x", sample)
        path = kb.recordings.path(kept.id)
        whole = path.read_bytes()
        path.unlink()
    with knowledge_base(tmp_path) as kb:
        assert kb.recordings.list() == [kb.recordings.get(kept.id)]
        with pytest.raises(NotFound, match="not in the data folder") as lost:
            kb.recordings.heat_map(kept.id)
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(Damaged) as damaged:
            kb.recordings.heat_map(kept.id)
        for error in (lost.value, damaged.value):
            assert "from a backup" in error.remedy and "delete the recording" in error.remedy
        path.write_bytes(whole)
        assert kb.recordings.open(kept.id).neurons == 48
        path.unlink()
        kb.recordings.delete(kept.id)
        assert kb.recordings.list() == []


def test_what_was_begun_is_removed_at_the_next_start(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        begun = kb.recordings.begin()
        begun.write_bytes(b"half")
        begun.with_name(f"{begun.name}.12ab.tmp").write_bytes(b"half")
    with knowledge_base(tmp_path) as kb:
        assert files(kb) == []


# ---- what is read out of a recording


def test_the_last_two_that_were_read_stay_in_memory(kb: core.KnowledgeBase, sample: Path) -> None:
    ids = [kb.recordings.import_file(name, sample).id for name in "abc"]
    first, second, third = (kb.recordings.open(each) for each in ids)
    assert kb.recordings.open(ids[2]) is third
    assert kb.recordings.open(ids[1]) is second
    assert kb.recordings.open(ids[0]) is not first


def test_what_is_deleted_while_it_is_asked_for_is_not_found(
    kb: core.KnowledgeBase, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kb.recordings.get

    def lost(recording_id: str) -> Recording:
        recording = found(recording_id)
        kb.recordings.delete(recording_id)
        return recording

    monkeypatch.setattr(kb.recordings, "get", lost)
    for act in (kb.recordings.open, lambda kept: kb.recordings.write(kept, tmp_path / "copy.pt")):
        with pytest.raises(NotFound):
            act(kb.recordings.import_file("x", sample).id)


def test_spikes_come_as_they_are_kept(kb: core.KnowledgeBase, sample: Path) -> None:
    kept = kb.recordings.import_file("x", sample)
    record = tiny_recording().populations["layers.1.value"]
    octets, shape = kb.recordings.spikes(kept.id, "layers.1.value")
    assert shape == (8, 5, 12)
    assert octets == record.spikes_pos.tobytes() + record.spikes_neg.tobytes()
    octets, shape = kb.recordings.spikes(kept.id, "layers.1.value", RecordingPart(first=1, end=3))
    assert shape == (8, 2, 12)
    planes = np.frombuffer(octets, np.uint8).reshape(2, 8, 2, 2)
    assert (planes[0] == record.spikes_pos[:, 1:3]).all()
    assert (planes[1] == record.spikes_neg[:, 1:3]).all()


def test_membranes_come_with_thresholds_in_units_of_the_activation(kb: core.KnowledgeBase, sample: Path) -> None:
    kept = kb.recordings.import_file("x", sample)
    record = tiny_recording().populations["layers.0.query"]
    told = kb.recordings.membrane(kept.id, "layers.0.query", RecordingPart(first=2))
    assert told["idx"] == record.trace_idx.tolist()
    assert np.allclose(told["potential"], record.membrane_potential[:, 2:])
    thresholds = record.thresholds()
    assert thresholds is not None
    assert np.allclose(told["thresholds"], thresholds[:, 2:])


def test_tokens_and_populations_come_in_the_order_of_the_network(kb: core.KnowledgeBase, sample: Path) -> None:
    told = kb.recordings.tokens(kb.recordings.import_file("x", sample).id)
    assert [token["role"] for token in told["tokens"]] == ["prompt"] * 2 + ["answer"] * 3
    assert [each["name"] for each in told["populations"]] == list(tiny_recording().populations)
    assert (told["steps"], told["total"], told["meta"]["code"]) == (8, 5, "few-spike")


def test_what_was_left_out_is_told_for_programs(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    whole = tiny_recording()
    numbers = np.arange(0, 48, 4, dtype=np.int32)
    thinned = {name: replace(each, neuron_idx=numbers, current=None) for name, each in whole.populations.items()}
    save(replace(whole, meta={**whole.meta, "left_out_tokens": 3}, populations=thinned), tmp_path / "thin.pt")
    kept = kb.recordings.import_file("thin", tmp_path / "thin.pt")
    told = kb.recordings.tokens(kept.id)
    assert told["left_out"] == {
        "currents": True,
        "thinned": 4,
        "tokens": 3,
        "membranes": 0,
        "absent": 0,
        "foreign": False,
    }
    assert [each["factor"] for each in told["populations"]] == [4] * 4
    assert kb.recordings.get(kept.id).left_out == told["left_out"]


def test_a_part_is_summarised_alone(kb: core.KnowledgeBase, sample: Path) -> None:
    kept = kb.recordings.import_file("x", sample)
    told = kb.recordings.summary(kept.id, RecordingPart(layer=1, kind="value", first=1, end=3))
    assert [row["name"] for row in told["table"]] == ["layers.1.value"]
    counts = tiny_recording().populations["layers.1.value"].counts[1:3]
    assert told["spikes"] == int(counts.sum())


@pytest.mark.parametrize("part", [RecordingPart(layer=7), RecordingPart(first=5), RecordingPart(first=2, end=2)])
def test_a_part_that_is_nothing_is_refused(kb: core.KnowledgeBase, sample: Path, part: RecordingPart) -> None:
    kept = kb.recordings.import_file("x", sample)
    with pytest.raises(InvalidInput):
        kb.recordings.summary(kept.id, part)


def test_a_recording_is_written_to_a_file_in_several_forms(
    kb: core.KnowledgeBase, sample: Path, tmp_path: Path
) -> None:
    kept = kb.recordings.import_file("x", sample)
    assert kb.recordings.write(kept.id, tmp_path / "copy.pt").read_bytes() == sample.read_bytes()
    table = kb.recordings.write(kept.id, tmp_path / "spikes.csv", "csv", RecordingPart(layer=0)).read_text()
    lines = table.splitlines()
    assert lines[0] == "population,neuron,token,step,sign"
    counts = sum(int(each.counts.sum()) for each in tiny_recording().populations.values() if each.layer == 0)
    assert len(lines) == 1 + counts
    with pytest.raises(InvalidInput):
        kb.recordings.export(kept.id, "exe")
    with pytest.raises(InvalidInput):
        kb.recordings.write(kept.id, tmp_path / "nowhere" / "x.pt")
    assert files(kb) == [f"{kept.id}.pt"]


def test_what_a_killed_process_of_several_was_recording_goes_once_nobody_can_be_at_it(
    kb: core.KnowledgeBase,
) -> None:
    folder = kb.settings.data_dir / "recordings"
    old, new = (folder / f"{sign * 32}.begun" for sign in "ab")
    for path in (old, new):
        path.write_bytes(b"The prompt quotes a document.")
    os.utime(old, (0, 0))
    kb.recordings.tidy()
    assert not old.exists() and new.exists()
