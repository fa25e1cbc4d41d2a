"""What form an answer has to have: one place, a list, steps, or both sides of a comparison.

Read from the question's own words; where these do not tell, one place is enough.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum


class Form(StrEnum):
    """The form of an answer."""

    PLACE = "place"
    LIST = "list"
    STEPS = "steps"
    COMPARISON = "comparison"


_COMPARISON = re.compile(
    r"\b(?:differences?|distinguish\w*|comparison|versus|vs\.?)\b|\bdifferent from\b|\bhow (?:do|does|did) .+ differ\b"
    r"|違い(?!ま)|(?:どう|何が|どこが|どのように)(?:違|異な)|比較|使い分け|差は",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^(?:list|name|enumerate)\b|\blist (?:all|the|of)\b"
    r"|\b(?:what|which)(?: \w+){0,2} (?!(?:does|is|was|has|this|process|access|class|bus|status|alias)\b)"
    r"\w+(?<![sui])s (?:are|can|do|does|exist|must|may|should|have|has|could|were|will|is|there|belong|come)\b"
    r"|\bwhat are\b|\bwhich are\b"
    r"|\b(?:for|in|into|of|by|from|on) (?:what|which) (?:\w+ )?\w+(?<![sui])s\b"
    r"|一覧を|列挙|どれとどれ|(?:すべて|全部)(?:教え|挙げ|知り)|何がありますか|何があるか"
    r"|(?:どんな|どのような|どういう)[^。？?]{1,20}が(?:ある|あり|でき|使え|用意)"
    r"|どれですか$|何と何|種類(?:は|を)|(?:項目|条件|選択肢|候補|理由|値)(?:は|には)(?:何|どんな|どのような|どれ)",
    re.IGNORECASE,
)
_KINDS = re.compile(r"(?:何|(?:どんな|どのような|どういう|どういった)[^。？?]{1,20})が(?:あり|ある|使え|用意)")
"""Asks what there is: 支払い方法は何がありますか asks for no steps, whatever 方法 says."""
_STEPS = re.compile(
    r"\bhow (?:do|can|would|should|could|might|to|must|am|are|is)\b"
    r"(?! (?:long|many|much|often|old|far|big|large|it|they) )"
    r"|\bsteps?\b|\bprocedure\b|\bwhat (?:do|should|must|can) (?:i|we|you|one) do\b"
    r"|\b(?:the|a|any) way to\b|\bin (?:what|which) order\b"
    r"|手順|方法|やり方|仕方|しかた|どうすれば|どうしたら|どうやって|どうやれば|どのようにすれば|どのように(?:して|し)"
    r"|する(?:に|のに)は|には[？?。]?$|たい(?:です|のですが|ん(?:です|だけど))?[。？?]?$",
    re.IGNORECASE,
)
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:between|compar(?:e|ed|ing|ison)(?: of)?) (?P<one>.{2,60}?) (?:and|with|to) (?P<other>.{2,60}?)[?.]?$",
        r"(?P<one>\S{2,30}) (?:versus|vs\.?) (?P<other>\S{2,30})",
        r"\b(?:do|does|is|are) (?P<one>.{2,60}?) (?:differ|different) from (?P<other>.{2,60}?)[?.]?$",
        r"(?P<one>[^、。はが]{1,30}?)と(?P<other>[^、。]{1,30}?)(?:の(?:違い|差|使い分け)"
        r"|(?:は|では|で)(?:何が|どう|どこが)?違|を比|(?:は|では)(?:何が|どう|どこが)異な)",
    )
)


def sides_compared(question: str) -> tuple[str, str] | None:
    """Return what a question compares with what, None where it does not say both."""
    text = unicodedata.normalize("NFKC", question).strip()
    found = next((match for pattern in _SIDES if (match := pattern.search(text))), None)
    return (found["one"], found["other"]) if found else None


def form_wanted(question: str) -> Form:
    """Return the form that a question in English or Japanese wants its answer in."""
    text = unicodedata.normalize("NFKC", question).strip()
    if _COMPARISON.search(text) or sides_compared(text):
        return Form.COMPARISON
    for form, pattern in ((Form.LIST, _KINDS), (Form.STEPS, _STEPS), (Form.LIST, _LIST)):
        if pattern.search(text):
            return form
    return Form.PLACE
