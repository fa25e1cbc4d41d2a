"""The messages of both languages keep to the words of the glossary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from app import i18n

GLOSSARY = Path(__file__).parents[3] / "docs" / "glossary.md"
COUNTERS = (
    "か所|ステップ|スパイク|トークン|ニューロン|バイト|ビット|ページ|ポイント|ミリ秒|人|件|個|倍|列|分|割|台|回|増|減|層|年|文|日|時間|枚|桁|次元|段階|"
    "版|番目|秒|種類|箇所|組|行|語|集団"
)
FIGURE = r"(?:\{[^{}]+\}|[0-9][0-9.,]*)"
PARTED = re.compile(rf"{FIGURE} (?:{COUNTERS}|つ)|第 {FIGURE}|[\u3040-\u30ff\u4e00-\u9fff] {FIGURE}(?:{COUNTERS})")
"""A figure with a blank between it and its counter, or before it."""
IN_LATIN = re.compile(r"[a-z ]+")


@dataclass(frozen=True)
class Entry:
    """A line of the glossary; ``held`` are the English words that the Japanese ones have to translate."""

    thing: str
    english: tuple[str, ...]
    held: tuple[str, ...]
    japanese: tuple[str, ...]
    refused: tuple[str, ...]


def entries() -> list[Entry]:
    found = []
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(("| thing", "| ---")):
            thing, english, japanese, refused = (cell.strip() for cell in line.strip("|").split("|"))
            words = [word.strip() for word in english.split(",")]
            plain = tuple(word.strip("*") for word in words)
            held = tuple(word.strip("*") for word in words if word.startswith("*"))
            found.append(Entry(thing, plain, held, _parts(japanese), _parts(refused)))
    return found


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(","))


def said(lang: str) -> dict[str, str]:
    """Every message of a language without the names that are put into it, its forms together."""
    messages = {}
    for key, message in i18n.messages(lang).items():
        forms = message if isinstance(message, str) else "\n".join(message.values())
        messages[key] = re.sub(r"\{\w+\}|\bEVORAG_\w+", "", forms)
    return messages


def has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{word}", text, re.IGNORECASE) is not None


def test_the_glossary_has_entries_and_its_words_are_used() -> None:
    english, japanese = "\n".join(said("en").values()), "\n".join(said("ja").values())
    assert len(entries()) > 20
    for entry in entries():
        assert any(has_word(english, word) for word in entry.english), entry
        assert any(word in japanese for word in entry.japanese), entry


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.english[0])
def test_no_message_uses_another_word_for_the_same_thing(entry: Entry) -> None:
    found = [
        (lang, key, word)
        for lang in ("en", "ja")
        for key, text in said(lang).items()
        for word in entry.refused
        if (lang == "en") == (IN_LATIN.fullmatch(word) is not None)
        and (has_word(text, rf"{word}\b") if lang == "en" else word in text)
    ]
    assert found == []


@pytest.mark.parametrize("entry", [each for each in entries() if each.held], ids=lambda entry: entry.held[0])
def test_where_english_says_a_word_japanese_says_its_own(entry: Entry) -> None:
    english, japanese = said("en"), said("ja")
    left = [
        key
        for key, text in english.items()
        if any(has_word(text, rf"{word}\b") for word in entry.held)
        and not any(w in japanese[key] for w in entry.japanese)
    ]
    assert left == []


def test_japanese_figures_stand_at_their_counters_without_a_blank() -> None:
    found = {
        key: parted[0]
        for key, message in i18n.messages("ja").items()
        for form in ([message] if isinstance(message, str) else message.values())
        if (parted := PARTED.search(form))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "is_parted"),
    [
        ("約 20件", True),
        ("約20 件", True),
        ("第 {number}版", True),
        ("{minutes}分 {seconds} 秒", True),
        ("約20件", False),
        ("公開番号 12 の時点", False),
        ("「{name}」と {path} の第{number}版", False),
    ],
)
def test_a_blank_at_a_counter_is_found(text: str, is_parted: bool) -> None:
    assert bool(PARTED.search(text)) is is_parted
