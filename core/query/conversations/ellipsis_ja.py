"""Japanese questions that leave out what the one before has said: 「日本では？」「図書館は？」「-nは？」."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.query.conversations.readings import Readings
from core.text import japanese

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*", re.ASCII)
_UNIT = (
    "(?:年度?|か月|ヶ月|カ月|月|日間?|時間?|分|秒|円|人|名|回|件|%|％|条|章|版|歳|個|台|階|度|週間?|泊|本|枚|メートル"
    "|キロ)"
)
_AMOUNT = re.compile(rf"[0-9０-９][0-9０-９.,]*[万億千百]?(?P<unit>{_UNIT})?")
_CASE = re.compile(r"(?P<noun>.+?)(?P<case>では?|には?|から|まで|へ)$")
_KATAKANA = re.compile("[ァ-ヺー・]+")
_LATIN = re.compile(r"[A-Za-z][\w.+#-]*|[\w.+#-]*[A-Za-z]", re.ASCII)
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w-]+", re.ASCII)
_PROPERTY = re.compile(
    r"(?:期限|期間|日数|温度|湿度|圧力|料金|費用?|金額|価格|値|数|率|額|者|先|場所|方法|条件|時間|時刻|サイズ|重さ|長さ|高さ|広さ|大きさ|上限|下限"
    r"|手当|日当|定員|人口|面積|寸法|重量|速度|容量|単位|範囲|理由|手順)$"
)
_ASKS = "誰|だれ|何|どこ|いつ|なぜ|どの|どんな|どう|どれ|どちら|いくら|いくつ"
_ASKS_UNIT = re.compile(f"何{_UNIT}")
_OPPOSITES = (
    ("最大", "最小"),
    ("最長", "最短"),
    ("最高", "最低"),
    ("上限", "下限"),
    ("新型", "旧型"),
    ("平日", "休日"),
    ("開始", "終了"),
    ("最初", "最後"),
    ("社内", "社外"),
    ("国内", "海外"),
    ("往路", "復路"),
    ("入力", "出力"),
    ("公開", "非公開"),
    ("昼間", "夜間"),
    ("旧版", "新版"),
    ("午前", "午後"),
    ("大人", "子供"),
)
_SURE, _LEAST, _MARGIN = 2.0, 0.0, 1.0


@dataclass(frozen=True, slots=True)
class _Noun:
    """A run of nouns with its place, and the particle behind it."""

    text: str
    start: int
    end: int
    particle: str


def in_place(what: str, before: str, topic: str, front: str) -> Readings:
    """Return the question before with ``what`` in the place of its like; ``front`` where none is like it."""
    options = _OPTION.findall(before)
    if _OPTION.fullmatch(what):
        return Readings(before.replace(options[0], what)) if len(set(options)) == 1 else Readings(front)
    if re.match(r"[0-9０-９]", what) and not re.search("[A-Za-z]", what):
        return _amount(what, before, front)
    for pair in _OPPOSITES:
        if what in pair:
            other = pair[1 - pair.index(what)]
            return Readings(before.replace(other, what)) if before.count(other) == 1 else Readings(front)
    cased = _CASE.match(what)
    noun, case = (cased["noun"], cased["case"].removesuffix("は")) if cased else (what, "")
    found = list(_nouns(before))
    for each in found:
        if noun.startswith(f"{each.text}の") or (each.text.endswith("中") and noun.startswith(f"{each.text[:-1]}の")):
            return Readings(f"{before[: each.start]}{_of(noun, each)}{before[each.end :]}")
    scored = sorted(((_likeness(noun, case, each, topic), -each.start, each) for each in found), reverse=True)
    if not scored or scored[0][0] < _LEAST:
        return Readings(front)
    score, _, best = scored[0]
    if case and score < _SURE and all(each.particle != case for each in found):
        return Readings(front)
    margin = score - scored[1][0] if len(scored) > 1 else _MARGIN
    made = f"{before[: best.start]}{noun}{before[best.end :]}"
    if _PROPERTY.search(noun) and topic.endswith(best.text) and noun[-1] != best.text[-1] and _ASKS_UNIT.search(before):
        # The unit that the other property was asked in need not suit this one.
        made = f"{topic[: -len(best.text)]}{noun}は？" if topic != best.text else made
    return Readings(made) if score >= _SURE and margin >= _MARGIN else Readings(made, front)


def _amount(what: str, before: str, front: str) -> Readings:
    given = _AMOUNT.match(what)
    like = [each for each in _AMOUNT.finditer(before) if given is not None and each["unit"] == given["unit"]]
    like = [each for each in like if not re.search(r"[A-Za-z-]$", before[: each.start()])]
    if given is None or len(like) != 1:
        return Readings(front)
    rest = re.sub(r"^(?:では?|には?|の)$", "", what[given.end() :])
    return Readings(f"{before[: like[0].start()]}{given.group()}{rest}{before[like[0].end() :]}")


def _of(noun: str, place: _Noun) -> str:
    return f"{noun}の" if not place.particle else noun


def _nouns(text: str) -> Iterator[_Noun]:
    """Yield the runs of nouns of a question, without words that ask, the counters behind them, and 追加 in 追加する."""
    start, at, run, asks, last = 0, 0, "", False, ""
    words = [(word.surface, kind) for word, _, kind, _ in described(text)]
    for surface, kind in [*words, ("", "end")]:
        is_part = kind.startswith(("名詞", "接頭詞")) or (kind == "" and surface.strip(" 、。？?！!,") != "")
        asks = bool(re.match(_ASKS, surface)) or (asks and _is_counter(surface, kind))
        if surface == "の" or kind == "end" or not is_part or asks:
            is_done = kind.startswith("動詞") and last.endswith("サ変接続")
            if run and not is_done and not re.fullmatch(r"[0-9０-９]+", run):
                yield _Noun(run, start, at, surface)
            run, start = "", at + len(surface)
            at += len(surface)
            continue
        start = start if run else at
        run, last = run + surface, kind
        at += len(surface)


def described(text: str) -> Iterator[japanese.Described]:
    """Yield the words of a question; 重さ, which the dictionary gives as an adjective and さ, as one noun."""
    stem: japanese.Described | None = None
    for each in japanese.described(text):
        if stem is not None and each.word.surface == "さ":
            name = f"{stem.word.surface}さ"
            yield japanese.Described(
                japanese.Word(name, name, False, True), stem.reading + each.reading, "名詞・一般", ""
            )
            stem = None
            continue
        if stem is not None:
            yield stem
        stem = each if each.part_of_speech.startswith("形容詞") else None
        if stem is None:
            yield each
    if stem is not None:
        yield stem


def _is_counter(surface: str, kind: str) -> bool:
    return kind.startswith("名詞・接尾") or re.fullmatch(_UNIT, surface) is not None


def _likeness(noun: str, case: str, other: _Noun, topic: str) -> float:
    """Tell how well a noun could stand in the place of another one."""
    if noun == other.text:
        return -9.0
    score = 1.0 if topic.startswith(other.text) and topic != other.text else 0.5 if topic == other.text else 0.0
    if case and other.particle == case:
        score += 2.0
    for kind, worth in ((_CODE, 4.0), (_LATIN, 2.0), (_KATAKANA, 1.5)):
        is_given, is_other = bool(kind.fullmatch(noun)), bool(kind.fullmatch(other.text))
        score += worth if is_given and is_other else -1.0 if is_given != is_other else 0.0
    is_property, is_other_property = bool(_PROPERTY.search(noun)), bool(_PROPERTY.search(other.text))
    score += 1.5 if is_property and is_other_property else -2.0 if is_property != is_other_property else 0.0
    if noun[-1] == other.text[-1] and not noun[-1].isascii():
        score += 3.0
    return score
