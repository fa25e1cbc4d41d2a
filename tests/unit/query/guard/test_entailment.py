"""A span supports what it says, in other words and order too, and nothing that differs in what matters."""

from __future__ import annotations

import pytest

from core.query.guard.entailment import contradiction_of

MAIN = "The pump must not be opened before the pressure falls below 5 bar, unless Anna Berg signs form F-12."
TRUE = [
    ("The plant was opened in 1987 and employs 3,776 people.", "In 1987 the plant was opened."),
    ("The plant was opened in 1987 and employs 3,776 people.", "The plant employs 3776 people."),
    ("Users can choose pumps and valves.", "Users can select valves and pumps."),
    ("The file contains ten lines.", "According to the document, the file contains 10 lines."),
    ("Siemens bought Varian in 2021.", "In 2021, Siemens bought Varian."),
    ("In 1998 Berg founded Hakone Pumps.", "Hakone Pumps was founded in 1998 by Berg."),
    (MAIN, "The pump must not be opened before the pressure falls below 5 bar."),
    ("工場は1987年に開設され、3,776人が働いている。", "工場は1987年に開設されました。"),
    ("ポンプやバルブを製造している。", "バルブやポンプを製造しています。"),
    ("申請は30日以内に提出しなければならない。", "文書によると、申請は30日以内に提出しなければなりません。"),
]
FALSE = [
    ("The plant was opened in 1987 and employs 3,776 people.", "The plant was opened in 1988.", "figure"),
    ("It ran from 1917 to 1918.", "It ran from 1917 to 1917.", "figure"),
    ("Notice is given within 30 days.", "Notice is given within 30 hours.", "unit"),
    ("The tank holds at least 5 litres.", "The tank holds at most 5 litres.", "direction"),
    ("The tank holds up to 5 litres.", "The tank holds 5 litres.", "direction"),
    ("Check the oil before the start.", "Check the oil after the start.", "direction"),
    ("The maximum weight is given.", "The minimum weight is given.", "direction"),
    ("Visitors are allowed in the hall.", "Visitors are not allowed in the hall.", "negation"),
    ("Visitors are not allowed in the hall.", "Visitors are allowed in the hall.", "negation"),
    ("Members may vote.", "Members must vote.", "negation"),
    ("Siemens bought Varian in 2021.", "Varian bought Siemens in 2021.", "agents"),
    ("Berg rose to power in Odawara.", "Odawara rose to power in Berg.", "agents"),
    ("The Hakone plant makes pumps.", "The Nagoya plant makes pumps.", "name"),
    ("Use -D to define a name.", "Use -d to define a name.", "identifier"),
    ("Set max_width to change it.", "Set min_quux to change it.", "identifier"),
    ("It makes pumps.", "Penguins live on cold coasts.", "words"),
    ("工場は1987年に開設された。", "工場は1978年に開設された。", "figure"),
    ("期間は30日である。", "期間は30か月である。", "unit"),
    ("30日以上かかる。", "30日以下かかる。", "direction"),
    ("開始直前に点検する。", "開始直後に点検する。", "direction"),
    ("見学は許可されている。", "見学は許可されていない。", "negation"),
    ("見学はできません。", "見学はできます。", "negation"),
    ("箱根工場はポンプを製造する。", "箱根工場はバルブを製造する。", "name"),
    ("アンナがベルクを訪ねた。", "ベルクがアンナを訪ねた。", "agents"),
]


@pytest.mark.parametrize(("span", "claim"), TRUE)
def test_what_a_span_says_in_other_words_or_order_is_no_contradiction(span: str, claim: str) -> None:
    assert contradiction_of(claim, span) == ""


@pytest.mark.parametrize(("span", "claim", "why"), FALSE)
def test_what_differs_is_told_by_its_kind(span: str, claim: str, why: str) -> None:
    assert contradiction_of(claim, span) == why
    assert contradiction_of(span, span) == ""


def test_a_name_that_a_pronoun_stands_for_may_come_from_before_the_span() -> None:
    assert contradiction_of("The Hakone plant makes pumps.", "It makes pumps.", "The Hakone plant is old.") == ""
    assert (
        contradiction_of("The Hakone plant makes pumps.", "Odawara makes pumps.", "The Hakone plant is old.") == "name"
    )
