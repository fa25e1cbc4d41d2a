"""``evorag recordings …`` and ``evorag ask --record``, on a data folder and on a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import core
from core.model import Query, RecordingPart
from core.snn.recording import save
from tests.builders import add, knowledge_base
from tests.doubles import RecordedGenerator, tiny_recording, use
from tests.live import served


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    save(tiny_recording(), tmp_path / "sample.pt")
    return tmp_path / "sample.pt"


def test_recordings_are_taken_listed_shown_renamed_exported_and_deleted(evorag, sample: Path, tmp_path: Path) -> None:
    status, out, err = evorag("recordings", "import", sample, "--json")
    assert status == 0, err
    kept = json.loads(out)["id"]
    assert evorag("recordings", "list")[1].split("\t")[:2] == [kept, "sample"]
    evorag("recordings", "rename", kept, "mine \x1b[31m")
    shown = evorag("recordings", "show", kept)[1]
    assert "mine [31m" in shown
    assert "\x1b" not in shown
    assert "layers.1.value\t12\t" in shown
    status, out, err = evorag("recordings", "export", kept, "--to", tmp_path / "copy.pt")
    assert (status, out.strip()) == (0, str(tmp_path / "copy.pt")), err
    assert (tmp_path / "copy.pt").read_bytes() == sample.read_bytes()
    assert evorag("recordings", "export", kept, "--form", "exe")[0] == 2
    assert evorag("recordings", "delete", kept)[0] == 0
    status, _, err = evorag("recordings", "show", kept)
    assert (status, err.split(":")[0]) == (1, "not_found")


def test_another_file_is_refused_with_what_to_choose(evorag, tmp_path: Path) -> None:
    (tmp_path / "notes.pt").write_text("notes")
    status, _, err = evorag("recordings", "import", tmp_path / "notes.pt")
    assert status == 1
    assert "unreadable_recording" in err
    assert evorag("recordings", "list")[1] == ""


def test_a_question_on_a_server_is_recorded_and_its_recording_fetched(
    evorag, tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path / "server") as kb, served(kb) as url, core.RagClient(url) as client:
        add(kb, "museum", "The museum opens at nine.")
        kb._projector.flush()
        use(kb, RecordedGenerator(*["The museum opens at nine. [1]"] * 2))
        status, out, err = evorag("ask", "When does the museum open?", "--record", "--url", url)
        assert status == 0, err
        assert "nine" in out
        (kept,) = client.recordings.list()
        assert f"recording {kept.id}" in err
        assert client.recordings.rename(kept.id, "first").name == "first"
        assert client.ask(Query("When does it open?", record=True)).generation["recording"]["tokens"] == 5
        sent = client.recordings.import_file("sent", sample)
        assert [each.name for each in client.recordings.list()] == ["sent", "When does it open?", "first"]
        assert client.recordings.disk_bytes() == sum(each.size_bytes for each in client.recordings.list())
        assert client.recordings.write(sent.id, tmp_path / "back.pt").read_bytes() == sample.read_bytes()
        part = RecordingPart(layer=1, kind="value", first=1, end=3)
        assert client.recordings.summary(sent.id, part) == kb.recordings.summary(sent.id, part)
        assert client.recordings.spikes(sent.id, "layers.0.query") == kb.recordings.spikes(sent.id, "layers.0.query")
        assert client.recordings.compare(sent.id, kept.id)["cosine"] == pytest.approx(1.0)
        table = client.recordings.write(sent.id, tmp_path / "s.csv", "csv", part)
        assert table.read_bytes().startswith(b"population,neuron,token,step,sign\nlayers.1.value,")
        client.recordings.delete(sent.id)
        assert len(kb.recordings.list()) == 2
