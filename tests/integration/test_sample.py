"""The sample knowledge base is complete, consistent with its questions, and accepted by the product itself."""

import re
import zipfile
from collections import Counter

import pytest

from core import sample

ACCEPTED = {"txt", "md", "markdown", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "html", "htm", "gdoc", "csv"}


def test_every_accepted_format_is_in_the_sample():
    assert {document.path.suffix[1:] for document in sample.documents()} == ACCEPTED


def test_second_versions_follow_all_first_ones_and_differ_from_them():
    documents = list(sample.documents())
    assert [document.version_order for document in documents] == sorted(d.version_order for d in documents)
    first = {document.name: document.path.read_bytes() for document in documents if document.version_order == 1}
    second = {document.name: document.path.read_bytes() for document in documents if document.version_order == 2}
    assert len(second) >= 5
    assert all(first[name] != content for name, content in second.items())
    assert Counter(name.isascii() for name in second).keys() == {True, False}


def test_second_versions_change_a_figure():
    paths = {document.version_order: document.path for document in sample.documents() if "DHC-2140" in document.name}
    figures = {order: _pictures(path) for order, path in paths.items()}
    assert figures[1]
    assert figures[1] != figures[2]


def _pictures(path):
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in archive.namelist() if re.search(r"media/.*\.png$", name)]


def test_sample_stays_small():
    assert sum(document.path.stat().st_size for document in sample.documents()) < 3_000_000


@pytest.mark.parametrize("question", sample.questions(), ids=lambda question: question.question)
def test_question_names_a_document_of_the_sample(question):
    assert question.document in {document.name for document in sample.documents()}


def test_questions_come_in_both_languages():
    assert len(sample.questions("en")) >= 6
    assert len(sample.questions("ja")) >= 6
