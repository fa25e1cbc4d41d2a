"""What a sentence names again is of the one before it."""

from __future__ import annotations

import pytest

from core.query.answer.answer_types import names_again


@pytest.mark.parametrize(
    ("sentence", "before", "expected"),
    [
        ("When that happens, raise this limit.", "The limit is 5.", True),
        ("These options are for tests.", "There is an option for each.", True),
        ("値はこの制限を超えません。", "制限は5です。", True),
        ("Use an option that will work.", "It will rain.", False),
        ("By this time it is ready.", "It sometimes fails.", False),
        ("The limit is what this limit was.", "The limit is 5.", False),
        ("きのこの種類は多い。", "種類を選ぶ。", False),
    ],
)
def test_a_thing_is_named_again(sentence: str, before: str, expected: bool) -> None:
    assert names_again(sentence, before) is expected
