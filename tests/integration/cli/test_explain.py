"""Insight on the command line, on a data folder and on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import knowledge_base
from tests.live import served


def test_why_not_says_what_keeps_a_passage_away_and_what_would_help(filled: Any) -> None:
    status, out, _ = filled("why-not", "How many days of leave?", "--doc", "旅費規程.md", "--tag", "nothing")
    assert status == 0
    assert "filtered: tag: nothing" in out and "to bring it up: ask without the filter “tag”" in out
    status, out, _ = filled("why-not", "How many days of leave?", "--doc", "Handbook.md", "--passage", "1", "--json")
    assert json.loads(out)["doc_key"] == "handbook.md"
    status, _, err = filled("why-not", "leave", "--doc", "nothing.md")
    assert status == 1 and "nothing.md" in err


def test_text_is_analysed(evorag: Any) -> None:
    _, out, _ = evorag("analyse", "宿泊料は supplies")
    assert "宿泊" in out and "シュクハク" in out
    # Words of the other language stand behind what they may stand for.
    asked = out.rpartition("asked: ")[2].split()
    assert [term for term in asked if term in ("宿泊", "料", "suppli")] == ["宿泊", "料", "suppli"]
    assert asked[1] == "accommod"
    assert json.loads(evorag("analyse", "leave", "--json")[1])["asked"][0] == "leav"


def test_vocabulary_is_imported_shown_and_indexed(filled: Any, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# words\n旅費規程, リョヒキテイ\nAB 12\n\nleave = vacation\n", "utf-8")
    status, out, err = filled("vocabulary", "import", file)
    assert (status, out) == (0, "2 words, 1 groups of synonyms, to be indexed with `evorag vocabulary reindex`\n"), err
    assert filled("vocabulary", "show")[1] == "旅費規程, リョヒキテイ\nAB 12\nleave = vacation\n"
    assert filled("search", "vacation", "--json")[1]
    status, out, err = filled("vocabulary", "reindex")
    assert (status, out) == (0, "2 words, 1 groups of synonyms, in effect\n"), err
    found = json.loads(filled("search", "vacation", "--json")[1])
    assert found["keyword"]["hits"][0]["terms"][0]["term"] == "leav"
    file.write_text(filled("vocabulary", "show", "--json")[1], "utf-8")
    assert "in effect" in filled("vocabulary", "import", file)[1]


@pytest.mark.parametrize("text", ["a = \n", "x\n", "{not json", "{}\0"])
def test_file_that_is_no_vocabulary_is_refused(evorag: Any, tmp_path: Path, text: str) -> None:
    file = tmp_path / "words.txt"
    file.write_text(text, "utf-8")
    assert evorag("vocabulary", "import", file)[0] == 1


def test_server_is_asked_as_a_data_folder(evorag: Any, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("leave = vacation\n", "utf-8")
    with knowledge_base(tmp_path, job_workers=1) as kb, served(kb) as url:
        kb.wait([str(kb.add_text("handbook.txt", "There are 14 days of leave.").job_id)])
        assert evorag("vocabulary", "import", file, "--url", url)[0] == 0
        assert evorag("vocabulary", "reindex", "--url", url)[1].endswith("in effect\n")
        assert evorag("vocabulary", "show", "--url", url)[1] == "leave = vacation\n"
        assert "asked: vacat leav" in evorag("analyse", "vacation", "--url", url)[1]
        found = evorag("why-not", "vacation", "--doc", "handbook.txt", "--url", url)
        assert found[0] == 0 and "holds: vacation" in found[1]
