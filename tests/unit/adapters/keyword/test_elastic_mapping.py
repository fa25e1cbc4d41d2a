"""The document of a row holds what the server is asked for, whatever text the row has."""

from __future__ import annotations

import json

import pytest

from core.adapters.keyword.elastic_mapping import document, is_of, mappings, settings
from core.model import Part
from core.ports import KeywordRow

MADE_BY = "analyser/1"


@pytest.mark.parametrize(
    ("source", "name", "version"),
    [
        ("Report.TXT#v12", "Report.TXT", 12),
        ("a#v1.txt#v3", "a#v1.txt", 3),
        ("#v2", "", 2),
        ("odd#vx", "odd", None),
    ],
)
def test_source_is_told_as_name_and_version(source: str, name: str, version: int | None) -> None:
    found = document(KeywordRow(1, 2, Part.HEAD, "text", source), "text")
    assert (found["source_filename"], found["version"], found["doc_key"]) == (name, version, name.lower())


def test_document_has_the_fields_of_the_mapping_and_no_others() -> None:
    found = document(KeywordRow(1, 2, Part.HISTORY, "text", "a.txt#v1", fingerprint=-5), "text")
    assert set(found) == set(mappings(MADE_BY)["properties"])
    assert (found["chunk_id"], found["doc_id"], found["part"], found["fingerprint"]) == (1, 2, "history", -5)


def test_lone_surrogates_are_blanks_so_that_the_document_can_be_sent() -> None:
    found = document(KeywordRow(1, 2, Part.HEAD, "lone \ud800 harbour", "a\udfff.txt#v1"), "lone harbour")
    assert json.dumps(found, ensure_ascii=False).encode("utf-8")
    assert found["content"] == "lone   harbour"


def test_index_is_of_the_analyser_that_it_was_made_for() -> None:
    assert is_of(MADE_BY, mappings(MADE_BY))
    assert not is_of("another", mappings(MADE_BY))
    assert not is_of(MADE_BY, {"properties": {}})


def test_every_filter_of_the_analysers_is_defined_or_the_servers_own() -> None:
    analysis = settings()["analysis"]
    own = {"lowercase", "asciifolding", "cjk_width", "kuromoji_baseform"}
    used = {name for analyser in analysis["analyzer"].values() for name in analyser.get("filter", ())}
    assert used == own | set(analysis["filter"])
