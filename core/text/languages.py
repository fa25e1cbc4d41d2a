"""Which language a text is in: by its script first, among languages of one script by their little words and letters.

English and Japanese are what a text is taken for unless another language shows itself: their rows and questions are
analysed as if there were no other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from core.text.function_words import FUNCTION_WORDS, LATIN, LETTERS
from core.text.language import detect_language

_SAMPLE_CHARS = 6_000
_SCRIPTS = (
    ("kana", re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9f]")),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("ko", re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")),
    ("th", re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]")),
    ("lo", re.compile("[\u0e81-\u0eff]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("ar", re.compile("[\u0620-\u06ff]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("hy", re.compile("[\u0531-\u0587]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
)
_OTHER_SCRIPT = re.compile("[^\u0000-\u02ff\u1e00-\u1eff\u2000-\u2bff\u3000-\u3003\uff01-\uff5e]")
_LATIN_LETTER = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile("[a-z\u00c0-\u024f\u1e00-\u1eff]+(?:-[a-z\u00c0-\u024f\u1e00-\u1eff]+)*")

# What Chinese says all the time and Japanese hardly; a Japanese compound that holds one is taken out before.
_CHINESE_SIGNS = frozenset("的是了在也之於与與及為很被把這们們這個么麼吗嗎呢吧你您她它哪谁誰还還沒说說让讓给給从從对")
_CHINESE_ALONE = frozenset("這这們们么麼吗嗎呢吧你您她它哪谁很还说让给为從从对吃喝")
_JAPANESE_COMPOUNDS = re.compile(
    "[^這那你我他她誰哪]的|的[中確場外屋]|[終完修満魅未校]了|了[解承]|[現存所実不滞駐在内点健潜介]在|在[庫住宅校籍学位任来日京外郷]"
    "|是[非正認]|[国社]是|与[党野件]|[関寄付授給賞]与|[言波普追]及|及[第落]|為[替政]|[行作無所人]為|被[害告災爆保疑服]"
)
_CHINESE_QUESTION = re.compile(
    "[什怎][麼么]|[哪谁吗嗎呢]|多[少久長长]|几[個时時点點年天]|幾[個時點年天]|[由是]誰|^請問"
)
_LONGEST_QUESTION = 60
_JAPANESE_ONLY = frozenset("込働円図駅売読験価対応県広転伝変発沢検権児歩毎気鉄戦効単悪桜営満乗")
_ENOUGH_CHINESE = 0.05
_ENOUGH_FOREIGN, _ENOUGH_OF_A_LINE, _FEW_WORDS = 0.10, 0.15, 2
_MOST_REPEATED = 3
"""Times that a word tells: a name that begins with “Los” is none the more Spanish for standing everywhere."""
_MOST_KANA = 0.05
_NEAR = 0.7
_SIBLINGS = {"da": "no", "no": "da"}
"""Each is written so much like the other that a few lines do not tell which it is."""
_ENDINGS = {
    "de": "ungen heit heiten keit keiten lich liche lichen schaft schaften",
    "es": "ciones idad idades",
    "it": "zione zioni",
    "nl": "heid heden lijk lijke",
    "sv": "ningen ningar heten",
    "fi": "ssa ssä stä llä ltä inen isten iset kset taan tään daan ään uun",
    "hu": "ság ség ból ből tól től nál nél",
    "tr": "ları leri ının inin larda lerde",
    "pl": "ość ości",
    "da": "elser elserne",
    "no": "elser elsene",
}
_ENDS = {language: tuple(ends.split()) for language, ends in _ENDINGS.items()}
_ANY_END = tuple(end for ends in _ENDS.values() for end in ends)
_ASKED_BEHIND = frozenset(("je", "tu", "il", "ils", "elle", "elles", "nous", "vous"))
"""Stand behind the verb of a French question, with a hyphen."""
_MOST_WORDS = 65_536
_ENDED = 7
"""Letters of a word whose ending tells of a language."""

_SAYING: dict[str, list[str]] = {}
"""The languages that a little word is one of."""
for _language, _words in FUNCTION_WORDS.items():
    for _said in _words:
        _SAYING.setdefault(_said, []).append(_language)


@lru_cache(maxsize=4_096)
def language_of(text: str) -> str:
    """Return the code of the language that a text is in; ``en`` where no other one shows itself."""
    if detect_language(text) == "ja":
        sample = text[:_SAMPLE_CHARS]
        return "zh" if _has_little_kana(sample) and _script_of(sample) == "han" and _is_chinese(sample) else "ja"
    return _language_of(text[:_SAMPLE_CHARS])


def language_asked(question: str) -> str:
    """Return the code of the language that a question is in; ``en`` where it is not certain."""
    if (language := language_of(question)) != "en":
        return language
    found = languages_asked(question)
    return found[0] if found and set(found) <= {found[0], _SIBLINGS.get(found[0])} and found[0] != "zh" else "en"


def languages_asked(question: str) -> tuple[str, ...]:
    """Return the languages, besides English and Japanese, that a question may be in; one where it is certain."""
    return _languages_asked(question[:_SAMPLE_CHARS])


def _language_of(sample: str) -> str:
    script = _script_of(sample)
    if script:
        return "en" if script in ("han", "kana") else script
    scores, words = _scores(sample)
    best = max(LATIN, key=lambda language: scores[language])
    foreign = scores[best]
    if foreign <= 1.5 * scores["en"]:
        return "en"
    is_told = foreign >= _FEW_WORDS and foreign >= _ENOUGH_FOREIGN * words
    is_short_and_told = foreign >= max(1, 2.5 * scores["en"]) and foreign >= _ENOUGH_OF_A_LINE * words
    return best if is_told or is_short_and_told else "en"


@lru_cache(maxsize=1_024)
def _languages_asked(question: str) -> tuple[str, ...]:
    script = _script_of(question)
    if script == "han":
        return ("zh",)
    if script:
        return ()
    scores, _ = _scores(question)
    best = max(LATIN, key=lambda language: scores[language])
    if scores["en"] >= scores[best]:
        return ()
    near = [language for language in LATIN if scores[language] >= _NEAR * scores[best]]
    near += [sibling for language, sibling in _SIBLINGS.items() if language in near and sibling not in near]
    return tuple(sorted(near, key=lambda language: -scores[language]))


def _script_of(text: str) -> str:
    """Return the script that most letters are in, named by its language where it has one; empty for Latin."""
    if text.isascii() or not _OTHER_SCRIPT.search(text):
        return ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    latin = len(_LATIN_LETTER.findall(text))
    han, kana = counts.pop("han"), counts.pop("kana")
    if han + kana:
        counts["han" if _is_little(kana, han) else "kana"] = han + kana
    most = max(counts, key=lambda name: counts[name])
    # Five Latin letters make a word, two signs of these scripts.
    return most if counts[most] * 2.5 > latin else ""


def _has_little_kana(text: str) -> bool:
    """Tell whether a text has so little kana that it can be Chinese; else other scripts need not be counted."""
    (_, is_kana), (_, is_han), *_ = _SCRIPTS
    return _is_little(len(is_kana.findall(text)), len(is_han.findall(text)))


def _is_little(kana: int, han: int) -> bool:
    return kana <= _MOST_KANA * (han + kana)


def _is_chinese(text: str) -> bool:
    """Tell Chinese from Japanese without kana: by signs that only one writes, and by those that Chinese repeats."""
    if len(text) <= _LONGEST_QUESTION and _CHINESE_QUESTION.search(text):
        return True
    plain = _JAPANESE_COMPOUNDS.sub("", text)
    han = sum(1 for _ in _SCRIPTS[1][1].finditer(text))
    foreign = sum(sign in _CHINESE_ALONE or _is_not_japanese(sign) for sign in text)
    japanese = sum(sign in _JAPANESE_ONLY for sign in text)
    said = sum(sign in _CHINESE_SIGNS for sign in plain)
    if japanese > foreign:
        return False
    if foreign >= 2 or (foreign and han <= 20):
        return foreign >= 0.02 * han
    return han >= 12 and said >= 2 and said >= _ENOUGH_CHINESE * han


@lru_cache(maxsize=8_192)
def _is_not_japanese(sign: str) -> bool:
    """Tell whether a Chinese character stands in no Japanese character set of everyday use."""
    if not _SCRIPTS[1][1].match(sign):
        return False
    try:
        sign.encode("cp932")
    except UnicodeEncodeError:
        return True
    return False


def _scores(text: str) -> tuple[dict[str, float], int]:
    """Return how much tells of each language, and how many words there are; what several share tells of each less."""
    scores = dict.fromkeys(FUNCTION_WORDS, 0.0)
    words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
    counts = Counter(words)
    for evidence, count in zip(map(_known_evidence.__getitem__, counts), counts.values(), strict=True):
        if evidence:
            told = min(count, _MOST_REPEATED)
            for language, weight in evidence:
                scores[language] += weight * told
    return scores, len(words)


Evidence = tuple[tuple[str, float], ...]


class _KnownEvidence(dict[str, Evidence]):
    """What words tell, made when one is first asked for."""

    def __missing__(self, word: str) -> Evidence:
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = evidence = _evidence(word)
        return evidence


_known_evidence = _KnownEvidence()


def _evidence(word: str) -> Evidence:
    if len(word) == 1 and word.isascii():
        # An initial, a unit or a code.
        return ()
    # “Peut-on” and “dois-je” are French; “Wi-Fi” is not Romanian, where “fi” is a little word.
    parts = [part for part in word.split("-") if len(part) > 1] or [word]
    parts = parts[-1:] if parts[-1] in _ASKED_BEHIND else parts
    said = [
        language for language in _SAYING.get(parts[0], ()) if all(language in _SAYING.get(part, ()) for part in parts)
    ]
    languages = {"da" if language == "no" else language for language in said}
    found = {language: 1 / len(languages) for language in said}
    if not word.isascii():
        beyond = {sign for sign in word if sign > "\x7f"}
        written = [language for language, letters in LETTERS.items() if beyond <= set(letters)]
        for language in written:
            found[language] = found.get(language, 0.0) + 0.5 / len(written)
    if len(word) >= _ENDED and word.endswith(_ANY_END):
        for language, ends in _ENDS.items():
            if word.endswith(ends):
                found[language] = found.get(language, 0.0) + 0.5
    return tuple(found.items())
