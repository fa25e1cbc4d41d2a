"""The questions over documents of organisations stand on what the documents say."""

from __future__ import annotations

import re
from functools import cache

import pytest

from benchmarks.manuals_judge import RIGHT, plain, verdict
from benchmarks.organisations import FITTED, LEARNT, SET, organisations, questions_of, within


@cache
def text_of(organisation: str, document: str) -> str:
    return (SET / organisation / "docs" / document).read_text("utf-8")


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", plain(re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.parametrize("organisation", organisations())
def test_evidence_stands_in_its_document_and_holds_what_has_to_be_said(organisation: str) -> None:
    asked = questions_of(organisation)
    assert len({one.id for one in asked}) == len(asked) > 100
    for one in asked:
        if one.is_answerable:
            assert letters(one.evidence) in letters(text_of(organisation, one.document)), one.id
            assert verdict(one.judged(), re.sub(r"<[^>]+>", " ", one.evidence), False) == RIGHT, one.id
        else:
            assert not one.document and not one.must, one.id


def test_what_judges_was_neither_learnt_from_nor_fitted() -> None:
    assert not set(LEARNT) & set(FITTED)
    assert set(organisations()) - {*LEARNT, *FITTED} == {"g", "h"}


def test_words_are_found_whatever_signs_are_between_them() -> None:
    text = "| Motorcycle | 24p per mile |"
    assert text[slice(*(within(text, "motorcycle: 24p per mile") or (0, 0)))] == "Motorcycle | 24p per mile"
    assert within(text, "bicycle") is None
    assert within(text, "…") is None
