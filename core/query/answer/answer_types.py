"""What kind of thing a question asks for, and where a sentence offers such a thing.

A light, general reading by the question's own words; a kind that cannot be told stays ``thing`` and offers nothing.
Nor do ``steps``, which are told in sentences of any form.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from core.text.language import detect_language

Span = tuple[int, int]

_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion "
    "half third quarter once twice dozen first second fourth fifth"
)
_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_SEASONS = "spring summer autumn winter today yesterday tomorrow"


def _words(words: str) -> str:
    return "|".join(words.split())


_KANJI_DIGITS = "〇一二三四五六七八九十百千万億兆数半"
_TIME_UNITS = "[かヶカケヵ]月|[かヶカケヵ]年|営業日|年|月|日|世紀|時|分|秒|週|曜|頃|代|期|ごろ|時代"
_DURATION = (
    rf"\b(?:\d+|{_words(_NUMBER_WORDS)})[ -](?:business |working |calendar )?"
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?)\b"
)
_OFFERS = {
    "date": re.compile(
        rf"\d{{3,4}}s?\b|\d+(?:st|nd|rd|th)\b|\b(?:{_words(_MONTHS)})\b(?:\s+\d+)?"
        rf"|\b(?:{_words(_DAYS + ' ' + _SEASONS)})\b"
        rf"|{_DURATION}|\b(?:centur(?:y|ies)|decades?)\b|\b\d{{1,2}}(?::\d\d\b|\s?[ap]\.?m\b)|\bnoon\b|\bmidnight\b"
        rf"|[\d{_KANJI_DIGITS}]+\s?(?:{_TIME_UNITS})|[月火水木金土日]曜|毎[日週月年]|月末|末日|翌|(?:明治|大正|昭和|平成|令和|江戸|室町|鎌倉|平安|奈良)",
        re.IGNORECASE,
    ),
    "number": re.compile(
        rf"\d[\d,.]*\s?%?|\b(?:{_words(_NUMBER_WORDS)})\b|[{_KANJI_DIGITS}]+(?=[^\s、。])", re.IGNORECASE
    ),
    "name": re.compile(
        r"\b[A-Z][\w'’.-]*(?:\s+(?:of|the|de|van|von|and|for|[A-Z][\w'’.-]*))*"
        r"|[ァ-ヴー]{2,}(?:[・＝=][ァ-ヴー]+)*|[一-鿿々]{2,}|[「『][^」』]+[」』]"
    ),
    "reason": re.compile(
        r"\b(?:because|due to|owing to|since|as a result|in order to|so that|caused by|leads? to|led to)\b"
        r"|\b(?:thanks to|reason)\b"
        r"|ため|から|ので|により|によって|よって|原因|理由|せい|結果",
        re.IGNORECASE,
    ),
    "manner": re.compile(
        r"\b(?:by|through|using|via|with|method|means)\b|によって|により|を用い|を使|方法|通じて|ことで", re.IGNORECASE
    ),
    "called": re.compile(
        r"\b(?:called|named|known as|termed|referred to|nicknamed|titled|dubbed)\b|[「『\"“][^」』\"”]+[」』\"”]"
        r"|と呼|という|といい|と称|とも|の名|の略|を指",
        re.IGNORECASE,
    ),
}
_FURTHER_OFFERS = tuple(
    (re.compile(asks, re.IGNORECASE), re.compile(offered, re.IGNORECASE))
    for asks, offered in (
        (
            r"\bhow long\b",
            r"\b\d[\d.,]*[ -]?"
            r"(?:[mck]?m|(?:milli|centi|kilo)?met(?:er|re)s?|in|inch(?:es)?|ft|feet|foot|yards?|miles?)\b",
        ),
        (
            r"\bhow often\b|頻度|何[日週年か]?おき",
            r"\b(?:hourly|daily|weekly|monthly|quarterly|yearly|annually|every|each (?:day|week|month|year|time))\b"
            r"|毎[日週月年回朝晩]|おき|ごと",
        ),
    )
)
"""What answers a question beside what its kind offers, by the question's words."""
_MEASURED = ("date", "number")

_NAMES = "名前|名称|別名|通称|愛称|呼び名|俗称|略称"
NAME_ASKED = rf"(?:{_NAMES})(?:を(?:教|知|答|挙|述)|(?:は|って|とは|が)?(?:何|なん|どう(?:い|呼|言)|[?？。]*$))"
"""Japanese that asks for a name, in contrast to what is only about one: 名前の変更方法は？"""

_ASKS = (
    (
        "date",
        r"\bwhen(?:['’]s|(?: exactly)? (?:is|are|was|were|do|does|did|will|would|can|could|should|shall|must|may|might"
        r"|has|have|had)(?:n['’]t)?)\b|\b(?:tell (?:me|us)|say|know|find out|since|until|till|from|by) when\b"
        r"|^\W*(?:and |so )?when(?: to\b| and\b| (?:in|at|on|after|before|during|else)\b|\W*$)|\bhow long\b"
        r"|\b(?:what|which)\s+(?:\w+\s+)?(?:year|date|day|month|century|decade|time|era)\b"
        r"|いつ(?!も|でも|の間)|何年|何月|何日|何世紀|何時|何曜|何年代|(?:時期|期間|年|年代|世紀|日|時代|頃)[はにをが]?(?:いつ|何|どの)?[?。か]*$",
    ),
    (
        "number",
        r"\bhow (?:many|much|old|tall|far|high|deep|big|large|fast|often|wide|heavy)\b"
        r"|\bwhat (?:percent(?:age)?|number|amount|proportion|fraction|share|portion|age|size|population|rank)\b"
        r"|何(?:人|個|%|パーセント|割|回|つ|種|ヶ|か|カ|番|位|本|枚|台|件|社|校|倍|歳|才|円|ドル|km|キロ|メートル|m|度|階|冊|票|点|名|戸|隻|機|頭|匹|条|号)"
        r"|いくつ|いくら|どのくらい|どれくらい|どれほど"
        r"|(?:(?<![関変引係複])数|割合|人口|面積|比率|確率|量|長さ|高さ|距離|金額|価格|年齢)(?!とは)は?(?:何|いくつ|いくら|どの|どれ)?[^、。]{0,4}$",
    ),
    (
        "reason",
        r"\bwhy\b|\bwhat (?:\w+ )?(?:reason|cause[ds]?)\b|\bfor what reason\b|なぜ|何故|どうして|理由|原因|何のため",
    ),
    (
        "name",
        r"\bwho(?:m|se)?\b|\bwhere\b|\b(?:what|which) (?:\w+ )?(?:city|country|state|place|person|people|team|company|"
        r"organi[sz]ation|nation|county|river|region|president|king|author|scientist|player|group|university|school|party|continent)\b"
        r"|誰|だれ|どこ|どなた|何者|何人か|どの(?:国|都市|県|地域|人)|何(?:国|県|市|州|島|駅|党|家|王)|人物|人名|都市は|国は|氏名",
    ),
    (
        "called",
        r"\bwhat .+ (?:called|named|known as|nicknamed)\b"
        r"|\b(?:what|which)(?: (?:other|english))? (?:name|term|word|title)\b"
        r"|\bwhat(?:['’]s| is| was| are| were)\b"
        r"(?:(?!\b(?:of|for|to|in|if|when|that)\b)[^,])*\b(?:name|term|word|title)\b"
        r"|何と(?:い|言|呼|称)|なんと(?:い|言|呼)|何という|(?:どんな|どのような|どういう)名"
        rf"|{NAME_ASKED}",
    ),
    ("steps", r"^how (?:do|can|could|should|would|must|might|to)\b|どのように|どうやって"),
    (
        "manner",
        r"^how\b(?! (?:do|can|could|should|would|must|might|to)\b)|\bin what way\b|\bby what means\b|どんな方法",
    ),
)
_ASKS_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS)
_ASKED_UNIT = re.compile(r"(?:何|どの|どんな)([一-鿿々ァ-ヴーA-Za-z%]{1,3})")
_PRONOUN = re.compile(
    r"(?:he|she|it|they|this|these|those|that|his|her|its|their|such|the latter|the former|both)\b"
    r"|(?:これ|それ|この|その|あれ|あの|彼|同|こう|そう|ここ|そこ|当時|なお|また|しかし|そして|なかでも|ただし|さらに)"
    r"|のよう[にな]|とすると|と(?:入力|書|設定|指定|記述|表示|実行|すれ|する)",
    re.IGNORECASE,
)


_NAMED_AGAIN = re.compile(
    r"\b(?:this|these|those|such) (?!(?:will|have|does|they|this|when|time|case|way|means?)\b)([a-z]{4,}?)s?\b"
    r"|(?<![どの])(?:この|その|これらの|それらの)([\u30a1-\u30ff\u4e00-\u9fff]{2,})",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"(?:[,、，:：]|例えば|たとえば)\s*\Z")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The kind of answer that a question expects; ``unit`` is the word that Japanese asks for after 何."""

    kind: str
    unit: str = ""

    @property
    def shows(self) -> bool:
        """Whether a text shows that it offers such a thing."""
        return self.kind in _OFFERS


def expected_answer(question: str) -> Expectation:
    """Read the kind: ``date``, ``number``, ``reason``, ``name``, ``called``, ``steps``, ``manner``, or ``thing``.

    The first that the question's words tell counts, in Japanese the last.
    """
    text = unicodedata.normalize("NFKC", question).strip()
    found = [(match.start(), kind) for kind, pattern in _ASKS_COMPILED for match in pattern.finditer(text)]
    pick = max if detect_language(text) == "ja" else min
    kind = pick(found, key=lambda place: place[0])[1] if found else "thing"
    unit = _ASKED_UNIT.search(text)
    return Expectation(kind, unit.group(1) if unit else "")


def offers(text: str, expectation: Expectation, question: str) -> list[Span]:
    """Return the spans of ``text`` that could be what is expected and that the question does not hold itself."""
    asked = question.casefold()
    cue = expectation.kind in ("reason", "manner", "called")
    return sorted(
        found.span()
        for pattern in _offered(expectation.kind, question)
        for found in pattern.finditer(text)
        if cue or found.group().strip().casefold() not in asked
    )


@lru_cache(maxsize=64)
def _offered(kind: str, question: str) -> tuple[re.Pattern[str], ...]:
    if kind not in _OFFERS:
        return ()
    further = (offered for asks, offered in _FURTHER_OFFERS if asks.search(question)) if kind in _MEASURED else ()
    return (_OFFERS[kind], *further)


def refers_back(sentence: str) -> bool:
    """Tell whether a sentence begins with a word that points to the one before it."""
    return _PRONOUN.match(sentence) is not None


def names_again(sentence: str, before: str) -> bool:
    """Tell whether a sentence means by "this limit" or この制限 the limit of the sentence before it."""
    for match in _NAMED_AGAIN.finditer(sentence):
        thing = match[1] or match[2]
        named = re.compile(rf"\b{thing}s?\b" if match[1] else re.escape(thing), re.IGNORECASE)
        if named.search(before) and not named.search(sentence[: match.start()]):
            return True
    return False


def leads_on(sentence: str) -> bool:
    """Tell whether a sentence ends so that what stands below it belongs to it: with a colon, a comma or "例えば"."""
    return _OPEN_END.search(sentence) is not None
