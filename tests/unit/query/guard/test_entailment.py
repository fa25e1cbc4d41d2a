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
    ("Adults pay 10 euros and children pay 5 euros.", "Children pay 5 euros."),
    ("The Hakone plant was enlarged in 1987 and sold in 1999.", "In 1999 the Hakone plant was sold."),
    ("The seminar is held in May.", "The seminar is held in May."),
    ("May is when the seminar is held.", "The seminar is held in May."),
    ("The Japanese plant makes pumps.", "The plant in Japan makes pumps."),
    ("No more than 5 users can connect.", "Up to 5 users can connect."),
    ("At most 3 users can connect.", "No more than 3 users can connect."),
    ("No fewer than 5 users can connect.", "At least 5 users can connect."),
    ("Entry is free for non-members of the club.", "Entry is free for non-members."),
    ("Entry is free for non-members.", "Entry is free for those who are not members."),
    ("The temperature is −5 °C.", "The temperature is minus 5 °C."),
    ("Pages 10 - 12 are missing.", "Pages 10 to 12 are missing."),
    ("The hotel has two hundred rooms.", "The hotel has 200 rooms."),
    ("The hotel has 25 rooms.", "The hotel has twenty-five rooms."),
    ("It is open from 09:00 to 18:30.", "It is open from 9:00 to 18:30."),
    ("Use version 2.1.", "Use version 2.1."),
    ("Use version 2.", "Use version 2.0."),
    ("Python 3.10 is needed.", "Python version 3.10 is needed."),
    ("The value must not be less than 5.", "The value must be at least 5."),
    ("The plant sells PCs.", "The plant sells a PC."),
    ("On Monday the price fell, and on Tuesday it rose.", "On Tuesday the price rose."),
    ("The price increased by 5 percent.", "The price rose by 5 percent."),
    ("工場は1987年に開設され、3,776人が働いている。", "工場は1987年に開設されました。"),
    ("大人は1000円、子供は500円です。", "子供は500円です。"),
    ("温度は氷点下5度です。", "温度はマイナス5度です。"),
    ("期限は三か月以内です。", "期限は3か月以内です。"),
    ("期限は三週間です。", "期限は3週間です。"),
    ("宿泊は二泊です。", "宿泊は2泊です。"),
    ("長さは八文字です。", "長さは8文字です。"),
    ("非会員も利用できる。", "非会員も利用できます。"),
    ("社員以外が参加する。", "社員以外が参加します。"),
    ("会員は入場できる。それ以外は禁止。", "会員は入場できます。"),
    ("箱根工場は1987年に開設され、1999年に経営難で閉鎖された。", "箱根工場は1999年に閉鎖された。"),
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
    ("Entry is free for non-members.", "Entry is free for members.", "negation"),
    ("Entry is free for members.", "Entry is free for non-members.", "negation"),
    ("Members may vote.", "Members must vote.", "negation"),
    ("Siemens bought Varian in 2021.", "Varian bought Siemens in 2021.", "agents"),
    ("Berg rose to power in Odawara.", "Odawara rose to power in Berg.", "agents"),
    ("The Hakone plant makes pumps.", "The Nagoya plant makes pumps.", "name"),
    ("Use -D to define a name.", "Use -d to define a name.", "identifier"),
    ("Set max_width to change it.", "Set min_quux to change it.", "identifier"),
    ("It makes pumps.", "Penguins live on cold coasts.", "words"),
    ("Adults pay 10 euros, children pay 5 euros.", "Adults pay 5 euros.", "figure"),
    ("Adults pay 10 euros and children pay 5 euros.", "Adults pay 5 euros.", "figure"),
    (
        "The roof was repaired in 2021 and replaced in 2019.",
        "The roof was repaired in 2019 and replaced in 2021.",
        "figure",
    ),
    (
        "Hotels cost 50 euros and meals cost 120 euros per night.",
        "Meals cost 50 euros and hotels cost 120 euros per night.",
        "figure",
    ),
    ("The seminar is held in March.", "The seminar is held in May.", "name"),
    ("The seminar may be held in March.", "The seminar is held in May.", "name"),
    ("It was signed on 3 March 2021.", "It was signed on 3 May 2021.", "name"),
    ("The planned contract was signed by Bob.", "The contract was signed by Ann.", "name"),
    ("The guardian spoke to Bob.", "The guardian spoke to Ian.", "name"),
    ("The JavaScript library is free.", "The library in Java is free.", "name"),
    ("JavaScriptで書く。", "Javaで書く。", "name"),
    ("No more than 5 users can connect.", "At least 5 users can connect.", "direction"),
    ("Not less than 5 users can connect.", "At most 5 users can connect.", "direction"),
    ("The temperature is -5 °C.", "The temperature is 5 °C.", "figure"),
    ("The temperature is 5 °C.", "The temperature is -5 °C.", "figure"),
    ("It falls to minus 5 degrees.", "It falls to 5 degrees.", "figure"),
    ("The hotel has two hundred rooms.", "The hotel has 100 rooms.", "figure"),
    ("The hotel has twenty-five rooms.", "The hotel has 20 rooms.", "figure"),
    ("The hotel has twenty-five rooms.", "The hotel has 5 rooms.", "figure"),
    ("It is open from 10:00 to 18:30.", "It is open from 10:30 to 18:00.", "figure"),
    ("Use version 2.1.", "Use version 2.10.", "figure"),
    ("Use version 2.10.", "Use version 2.1.", "figure"),
    ("バージョン2.1が必要です。", "バージョン2.10が必要です。", "figure"),
    ("Sales decreased by 5 percent.", "Sales increased by 5 percent.", "direction"),
    ("The option is disabled on this server.", "The option is enabled on this server.", "direction"),
    ("The office opens at 9 pm.", "The office opens at 9 am.", "direction"),
    ("Oil prices fell.", "Oil prices rose.", "direction"),
    ("工場は1987年に開設された。", "工場は1978年に開設された。", "figure"),
    ("大人は1000円、子供は500円です。", "大人は500円です。", "figure"),
    ("売上は減少した。", "売上は増加した。", "direction"),
    ("設定は無効です。", "設定は有効です。", "direction"),
    ("期間は30日である。", "期間は30か月である。", "unit"),
    ("30日以上かかる。", "30日以下かかる。", "direction"),
    ("開始直前に点検する。", "開始直後に点検する。", "direction"),
    ("見学は許可されている。", "見学は許可されていない。", "negation"),
    ("見学はできません。", "見学はできます。", "negation"),
    ("温度は氷点下5度です。", "温度は5度です。", "figure"),
    ("温度は5度です。", "温度は−5度です。", "figure"),
    ("受付は地下2階です。", "受付は2階です。", "figure"),
    ("受付は2階です。", "受付は地下2階です。", "figure"),
    ("非会員は利用できる。", "会員は利用できる。", "negation"),
    ("社員以外が参加する。", "社員が参加する。", "negation"),
    ("社員が参加する。", "社員以外が参加する。", "negation"),
    ("不参加の場合は連絡する。", "参加の場合は連絡する。", "negation"),
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
