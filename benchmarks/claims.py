"""True and false claims made from sentences of documents, each of a kind, to hold a guard of written answers against.

A false claim says what its passage does not: another number or unit, an entity in another's place, the opposite, the
other direction, a name that nobody has, or it is a sentence of the documents under the question of another document. A
true one is a sentence as it stands, with its parts in another order, shortened, or in slightly other words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.text import japanese
from core.text.language import detect_language
from core.text.sentences import split_sentences

FALSE_KINDS = ("number", "unit", "entity", "agents", "negated", "direction", "name", "question")
TRUE_KINDS = ("verbatim", "reordered", "shortened", "paraphrased")


@dataclass(frozen=True, slots=True)
class ClaimPassage:
    """A passage with a question that one of its sentences answers, where one is known."""

    title: str
    text: str
    question: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer might say about ``passage``, under a question or none; ``of`` is the sentence it was made from."""

    text: str
    kind: str
    is_true: bool
    passage: ClaimPassage
    question: str
    language: str
    of: str


Change = Callable[[random.Random, str, ClaimPassage, Sequence[ClaimPassage]], str]

_FIGURE = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w,])|(?<![\w.,-])\d+(?:\.\d+)?(?![\d-])")
_JAPANESE_FIGURE = re.compile(r"(?<![\d.,A-Za-z-])\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_IDENTIFIER = re.compile(r"(?<!\S)(?:--?[a-zA-Z][\w-]*|[a-z]+_[a-z_]+|/(?:etc|usr|var)/[\w./]*\w)")
_NUMBER_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"]
_UNITS = [
    ("years", "months"),
    ("year", "month"),
    ("days", "weeks"),
    ("hours", "minutes"),
    ("seconds", "minutes"),
    ("months", "weeks"),
    ("minutes", "days"),
    ("weeks", "hours"),
    ("miles", "metres"),
    ("km", "m"),
    ("kilometers", "miles"),
    ("kilometres", "miles"),
    ("feet", "inches"),
    ("metres", "feet"),
    ("meters", "yards"),
    ("percent", "points"),
    ("bytes", "bits"),
    ("million", "billion"),
    ("thousand", "million"),
    ("billion", "million"),
    ("people", "families"),
    ("characters", "lines"),
    ("°C", "°F"),
    ("yen", "dollars"),
    ("JPY", "USD"),
    ("EUR", "JPY"),
    ("mm", "cm"),
    ("kg", "g"),
    ("MB", "GB"),
    ("ms", "s"),
    ("points", "goals"),
    ("times", "days"),
    ("games", "seasons"),
]
_JAPANESE_UNITS = [
    ("年間", "日間"),
    ("年度", "月"),
    ("か月", "週間"),
    ("ヶ月", "年"),
    ("カ月", "日"),
    ("時間", "日"),
    ("分", "秒"),
    ("万人", "億人"),
    ("人", "社"),
    ("円", "ドル"),
    ("キロメートル", "メートル"),
    ("km", "m"),
    ("メートル", "センチ"),
    ("%", "倍"),
    ("パーセント", "倍"),
    ("歳", "年"),
    ("日", "か月"),
    ("回", "年"),
    ("台", "人"),
    ("位", "年"),
    ("種", "本"),
    ("cm", "km"),
    ("mm", "m"),
    ("kg", "g"),
    ("世紀", "年"),
    ("m", "km"),
    ("月", "日"),
    ("本", "台"),
    ("年", "か月"),
]
_POLES = """
    maximum/minimum largest/smallest highest/lowest longest/shortest most/fewest first/last before/after more/less
    higher/lower larger/smaller longer/shorter above/below over/under increased/decreased increase/decrease
    rose/fell north/south east/west northern/southern eastern/western left/right early/late earlier/later
    earliest/latest upper/lower up/down enable/disable enabled/disabled enables/disables include/exclude
    includes/excludes including/excluding won/lost allow/forbid allows/forbids allowed/forbidden begin/end
    begins/ends began/ended start/stop starts/stops input/output read/write reads/writes inside/outside
    always/never all/none oldest/newest at_least/at_most greater/less best/worst strong/weak cold/hot top/bottom
    open/close previous/next add/remove adds/removes ascending/descending accept/reject import/export
    optional/mandatory with/without
"""
_JAPANESE_POLES = """
    最大/最小 最高/最低 最長/最短 以上/以下 以前/以降 増加/減少 上昇/下降 北部/南部 東部/西部 北西/南東 北/南
    最初/最後 前半/後半 上流/下流 勝利/敗北 開始/終了 有効/無効 許可/禁止 追加/削除 左/右 多い/少ない 高い/低い
    大きい/小さい 長い/短い 前に/後に 入力/出力 可能/不可能 上位/下位 拡大/縮小 内側/外側 最古/最新 初めて/最後に
    高く/低く 多く/少なく 東/西 前/後 上/下 強い/弱い 大きな/小さな
"""
_INVENTED = ["Quexington", "Vandermoor", "Brellick", "Ostrawen", "Tarquille", "Zephrana", "Mordavia", "Kelthorpe"]
_INVENTED_JAPANESE = [
    "ザルトニア",
    "ベルモント商会",
    "ケルソープ",
    "鷹羽根村",
    "モルダヴィス",
    "霧ヶ淵",
    "ヴァンドレア",
    "椿原忠友",
]
_INVENTED_IDENTIFIERS = ["--frobnicate", "--zap-all", "max_quux_size", "/etc/quuxd.conf"]
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|should|must|may|has been|have been|had)\b(?! not|n't|not)"
)
_NEGATED = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|may|do|does|did|has|have|had) not\b")
_JAPANESE_NEGATIONS = [
    (one, other)
    for one, other in (
        pair.split("/")
        for pair in [
            "ではない。/である。",
            "ではなかった。/であった。",
            "できない。/できる。",
            "しない。/する。",
            "いない。/いる。",
            "ません。/ます。",
            "ならない。/",
            "である。/ではない。",
            "であった。/ではなかった。",
            "だった。/ではなかった。",
            "できる。/できない。",
            "できます。/できません。",
            "されている。/されていない。",
            "している。/していない。",
            "ている。/ていない。",
            "された。/されなかった。",
            "した。/しなかった。",
            "される。/されない。",
            "する。/しない。",
            "します。/しません。",
            "です。/ではありません。",
            "がある。/がない。",
            "ます。/ません。",
            "った。/",
        ]
    )
]
_SYNONYMS = """
    located/situated near/close_to began/started begins/starts many/numerous also/additionally because/since
    large/big use/employ used/utilised uses/utilises help/assist shows/displays show/display about/approximately
    however/nevertheless called/named became/turned_into made/produced built/constructed often/frequently
    such_as/like must/has_to important/significant allows/permits allow/permit creates/makes specify/give
    specifies/gives file/file contains/holds contain/hold purchase/buy several/multiple received/got obtained/got
    whole/entire children/kids famous/well-known various/different movie/film film/movie quickly/rapidly job/job
    died/passed_away
"""
_JAPANESE_ENDINGS = [
    (one, other)
    for one, other in (
        pair.split("/")
        for pair in [
            "であった。/でした。",
            "である。/です。",
            "している。/しています。",
            "されている。/されています。",
            "ている。/ています。",
            "された。/されました。",
            "した。/しました。",
            "される。/されます。",
            "する。/します。",
            "だった。/でした。",
            "がある。/があります。",
            "できる。/できます。",
            "なった。/なりました。",
            "いる。/います。",
            "った。/ったとされる。",
            "です。/である。",
        ]
    )
]
_JAPANESE_SYNONYMS = """
    約/およそ 位置する/ある 行われた/実施された 使用/利用 作成/作製 および/と 及び/と 多くの/数多くの さらに/また
    しかし/だが 全て/すべて 利用/使用 非常に/とても 最も/一番 開始/スタート 一部/一部分 様々な/さまざまな
    現在は/今は ため、/ので、 場合/とき
"""
_FRAMES = ("According to the document, {}", "The text says that {}", "In short, {}")
_FRAMES_JAPANESE = ("文書によると、{}", "資料では、{}")


def sentences(text: str) -> list[str]:
    """Return the sentences of a passage that say something by themselves."""
    found = []
    for start, end in split_sentences(text):
        said = " ".join(text[start:end].split())
        is_japanese = detect_language(said) == "ja"
        low, high = (14, 120) if is_japanese else (35, 240)
        if low <= len(said) <= high and said.endswith(("。", ".")) and (is_japanese or said[0].isupper()):
            found.append(said)
    return found


def claims(passages: Sequence[ClaimPassage], seed: int, per_kind: int) -> list[Claim]:
    """Return at most so many claims of each kind and language, drawn from all passages in turn."""
    draw = random.Random(seed)
    order = list(passages)
    draw.shuffle(order)
    made: list[Claim] = []
    for kind in (*FALSE_KINDS, *TRUE_KINDS):
        count = {"en": 0, "ja": 0}
        for number, passage in enumerate(order):
            if min(count.values()) >= per_kind:
                break
            others = order[number + 1 : number + 40] + order[: max(0, number + 40 - len(order))]
            others = [other for other in others if other.title != passage.title]
            claim = next(_made(kind, draw, passage, others), None)
            if claim is not None and count[claim.language] < per_kind:
                count[claim.language] += 1
                made.append(claim)
    return made


def _made(kind: str, draw: random.Random, passage: ClaimPassage, others: Sequence[ClaimPassage]) -> Iterator[Claim]:
    said = sentences(passage.text)
    draw.shuffle(said)
    if kind == "question":
        yield from _under_another_question(said, passage, others)
        return
    if passage.question:
        is_told_once = passage.answer and passage.text.count(passage.answer) == 1
        said = [one for one in said if is_told_once and passage.answer in one]
    for sentence in said:
        language = detect_language(sentence)
        if language not in ("en", "ja"):
            continue
        text = _CHANGES[kind][language](draw, sentence, passage, others)
        if text and (text != sentence or kind == "verbatim"):
            yield Claim(text, kind, kind in TRUE_KINDS, passage, passage.question, language, sentence)


def _under_another_question(
    said: Sequence[str], passage: ClaimPassage, others: Sequence[ClaimPassage]
) -> Iterator[Claim]:
    for sentence in said:
        language = detect_language(sentence)
        for other in others:
            if other.question and detect_language(other.question) == language:
                yield Claim(sentence, "question", False, passage, other.question, language, sentence)
                return


# ---- false ones


def _number(draw: random.Random, sentence: str, passage: ClaimPassage, _: Sequence[ClaimPassage]) -> str:
    pattern = _JAPANESE_FIGURE if detect_language(sentence) == "ja" else _FIGURE
    found = list(pattern.finditer(sentence))
    if not found:
        words = [match for match in re.finditer(r"\b[a-z]+\b", sentence) if match.group() in _NUMBER_WORDS]
        if not words:
            return ""
        match = draw.choice(words)
        other = draw.choice([word for word in _NUMBER_WORDS if word != match.group()])
        return _put(sentence, match, other)
    match = draw.choice(found)
    beside = [one for one in pattern.findall(passage.text) if _value(one) != _value(match.group())]
    if beside and draw.random() < 0.5:
        return _put(sentence, match, draw.choice(beside))
    digits = match.group()
    place = draw.randrange(len(digits.rstrip("0")) or 1)
    while not digits[place].isdigit():
        place -= 1
    digit = str((int(digits[place]) + draw.randint(1, 8) - (place == 0)) % 9 + 1)
    changed = digits[:place] + digit + digits[place + 1 :]
    return _put(sentence, match, changed) if _value(changed) != _value(digits) else ""


def _unit(draw: random.Random, sentence: str, *_: object) -> str:
    if detect_language(sentence) == "ja":
        for unit, other in _JAPANESE_UNITS:
            match = re.search(rf"(?<=[0-9０-９万億]){re.escape(unit)}(?![A-Za-z])", sentence)
            if match:
                return _put(sentence, match, other)
        return ""
    number = rf"(?:\d|\b(?:{'|'.join(_NUMBER_WORDS)}))"
    for unit, other in draw.sample(_UNITS, len(_UNITS)):
        match = re.search(rf"{number}\s?({re.escape(unit)})\b", sentence)
        if match:
            return sentence[: match.start(1)] + other + sentence[match.end(1) :]
    return ""


def _entity(draw: random.Random, sentence: str, passage: ClaimPassage, others: Sequence[ClaimPassage]) -> str:
    """Put a name, or in Japanese a noun, of another sentence in the place of one."""
    own = names(sentence)
    if not own:
        return ""
    inside = [name for name in names(passage.text) if name not in sentence]
    outside = [name for other in others[:6] for name in names(other.text) if name not in passage.text]
    pool = inside if inside and draw.random() < 0.6 else outside
    name = draw.choice(own)
    fitting = [one for one in pool if one not in name and name not in one]
    return sentence.replace(name, draw.choice(fitting), 1) if fitting else ""


def _agents(draw: random.Random, sentence: str, *_: object) -> str:
    """Let two names change places, where they are not merely listed."""
    own = names(sentence)
    if len(own) < 2:
        return ""
    first, second = sorted(draw.sample(own, 2), key=sentence.index)
    start, end = sentence.index(first), sentence.rindex(second)
    between = sentence[start + len(first) : end]
    if first in second or second in first or len(between) < 4 or sentence.count(first) + sentence.count(second) > 2:
        return ""
    if re.search(r"^\W*(?:and|or|&)\W|[,、・/]|^(?:と|や|および|及び|または)|\b(?:and|or)\b|[（(]", between):
        return ""
    if not re.search(r"[a-z]{4}|[ぁ-ん]", between):
        return ""
    return sentence[:start] + second + between + first + sentence[end + len(second) :]


def _negated(draw: random.Random, sentence: str, *_: object) -> str:
    if detect_language(sentence) == "ja":
        for ending, other in _JAPANESE_NEGATIONS:
            if sentence.endswith(ending):
                return sentence.removesuffix(ending) + other if other else ""
        return ""
    if match := _NEGATED.search(sentence):
        return sentence[: match.end(1)] + sentence[match.end() :]
    found = list(_AUXILIARY.finditer(sentence))
    if not found:
        return ""
    match = draw.choice(found)
    word = match.group()
    if word.endswith("been"):
        return _put(sentence, match, word.replace(" been", " not been"))
    shortened = {"is": "isn't", "are": "aren't", "was": "wasn't", "can": "cannot", "must": "mustn't"}
    return _put(sentence, match, draw.choice([f"{word} not", shortened.get(word, f"{word} never")]))


def _direction(draw: random.Random, sentence: str, *_: object) -> str:
    if detect_language(sentence) == "ja":
        for pair in _JAPANESE_POLES.split():
            for one, other in (pair.split("/"), pair.split("/")[::-1]):
                place = sentence.find(one)
                alone = len(one) > 1 or re.search(rf"(?<![一-鿿ァ-ヺ]){one}(?=[のにへをがは、])", sentence)
                if place >= 0 and alone:
                    match = re.search(rf"(?<![一-鿿]){one}(?![一-鿿])", sentence) if len(one) == 1 else None
                    return _put(sentence, match, other) if match else sentence.replace(one, other, 1)
        return ""
    poles = [pole.replace("_", " ").split("/") for pole in _POLES.split()]
    draw.shuffle(poles)
    for pole in poles:
        for one, other in (pole, pole[::-1]):
            if match := re.search(rf"\b{one}\b", sentence, re.IGNORECASE):
                other = other.capitalize() if match.group()[0].isupper() else other
                if one in ("last", "right", "most", "with", "over", "up", "down", "may", "well", "all"):
                    continue
                return _put(sentence, match, other)
    return ""


def _name(draw: random.Random, sentence: str, *_: object) -> str:
    identifiers = _IDENTIFIER.findall(sentence)
    if identifiers:
        return sentence.replace(draw.choice(identifiers), draw.choice(_INVENTED_IDENTIFIERS), 1)
    own = names(sentence)
    if not own:
        return ""
    pool = _INVENTED_JAPANESE if detect_language(sentence) == "ja" else _INVENTED
    return sentence.replace(draw.choice(own), draw.choice(pool), 1)


def names(text: str) -> list[str]:
    """Return names inside of English sentences, and Japanese proper nouns and words in katakana."""
    if detect_language(text) != "ja":
        return list(dict.fromkeys(_NAME.findall(text)))
    found: list[str] = []
    for run in re.findall("[ぁ-ゖァ-ヺー一-鿿々]+", text):
        for one in japanese.described(run):
            is_katakana = re.fullmatch("[ァ-ヺー]{3,}", one.word.surface)
            if (one.part_of_speech.startswith("名詞・固有名詞") and len(one.word.surface) > 1) or is_katakana:
                found.append(one.word.surface)
    return list(dict.fromkeys(found))


# ---- true ones


def _verbatim(_: random.Random, sentence: str, *__: object) -> str:
    return sentence


def _reordered(draw: random.Random, sentence: str, *_: object) -> str:
    if detect_language(sentence) == "ja":
        if match := re.fullmatch(
            r"([^、。]{2,14}(?:には|では|年に|日に|月に|から|で|に))、([^、。]{3,20}[はが])、?([^。]{4,})。", sentence
        ):
            return f"{match[2]}{match[1]}、{match[3]}。"
        if match := re.search(r"([一-鿿ァ-ヺー]{2,9})(と|や)([一-鿿ァ-ヺー]{2,9})(?=[のをがはで])", sentence):
            return _put(sentence, match, match[3] + match[2] + match[1])
        if match := re.fullmatch(r"([^、。]{3,20}は)、?([^、。]{3,25}(?:に|で|から|まで))、([^。]{4,})。", sentence):
            return f"{match[2]}、{match[1]}{match[3]}。"
        return ""
    if match := re.fullmatch(
        r"((?:In|On|At|During|After|Since|By|From|For|With|If|When|Until) [^,.]{3,50}), ([^.;]{20,})\.", sentence
    ):
        rest, lead = match[2], match[1]
        rest = rest[0].upper() + rest[1:]
        return f"{rest} {lead[0].lower()}{lead[1:]}."
    if match := re.search(r"\b([a-z]{4,}) (and|or) ([a-z]{4,})(?=[ .,])", sentence):
        return _put(sentence, match, f"{match[3]} {match[2]} {match[1]}")
    if match := re.fullmatch(r"([A-Z][^,.;]{15,90}?) ((?:in|on|at|during|since|until) [^,.;]{3,30})\.", sentence):
        return f"{match[2][0].upper()}{match[2][1:]}, {match[1][0].lower() if match[1].split()[0] in ('The', 'It', 'They', 'A', 'This', 'He', 'She') else match[1][0]}{match[1][1:]}."  # noqa: E501
    return ""


def _shortened(_: random.Random, sentence: str, *__: object) -> str:
    bare = re.sub(r"\s?[（(][^（()）]{2,60}[)）]", "", sentence)
    if detect_language(sentence) == "ja":
        if bare != sentence and len(bare) > 12:
            return bare
        if match := re.fullmatch(
            r"(?:しかし|また|さらに|そのため|なお|そして|ただし|一方|このため|特に|例えば)、?(.{10,})", sentence
        ):
            return match[1]
        if match := re.fullmatch(r"[^、。]{2,12}(?:に|で|には|では|年|頃)、([^。]{4,}[はが][^。]{6,}。)", sentence):
            return match[1]
        return ""
    if bare != sentence:
        return bare
    if match := re.fullmatch(
        r"([^,;]{30,}?),? (?:which|who|where|although|because|while|since|as well as|including|such as|so) .{5,}\.",
        sentence,
    ):
        return match[1] + "."
    if match := re.fullmatch(
        r"(?:However|Moreover|Also|Furthermore|Then|In addition|For example|Additionally|Thus), (.{25,})", sentence
    ):
        return match[1][0].upper() + match[1][1:]
    if match := re.fullmatch(r"([^,;]{40,}), (?:and|but) [^,]{8,}\.", sentence):
        return match[1] + "."
    return ""


def _paraphrased(draw: random.Random, sentence: str, *_: object) -> str:
    text, changes = sentence, 0
    if detect_language(sentence) == "ja":
        for one, other in (pair.split("/") for pair in _JAPANESE_SYNONYMS.split()):
            if one in text and changes < 1:
                text, changes = text.replace(one, other, 1), changes + 1
        for ending, other in _JAPANESE_ENDINGS:
            if text.endswith(ending):
                text, changes = text.removesuffix(ending) + other, changes + 1
                break
        return draw.choice(_FRAMES_JAPANESE).format(text) if changes and draw.random() < 0.3 else text
    for one, other in (pair.replace("_", " ").split("/") for pair in _SYNONYMS.split()):
        if changes < 2 and (match := re.search(rf"\b{one}\b", text)):
            text, changes = _put(text, match, other), changes + 1
    grouped = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"\b(is|are|was|were|do|does|did) not\b", r"\1n't", grouped)
    if (not changes or draw.random() < 0.3) and re.match(r"(?:The|It|They|A|An|This|In|He|She) ", text):
        text = draw.choice(_FRAMES).format(text[0].lower() + text[1:])
    return text


def _put(text: str, match: re.Match[str], other: str) -> str:
    return text[: match.start()] + other + text[match.end() :]


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))


_BOTH: dict[str, Change] = {
    "number": _number,
    "unit": _unit,
    "entity": _entity,
    "agents": _agents,
    "negated": _negated,
    "direction": _direction,
    "name": _name,
    "verbatim": _verbatim,
    "reordered": _reordered,
    "shortened": _shortened,
    "paraphrased": _paraphrased,
}
_CHANGES = {kind: {"en": change, "ja": change} for kind, change in _BOTH.items()}
