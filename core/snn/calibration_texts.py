"""The texts from which a model's channels are measured, ~2,000 tokens, in English and Japanese, written for this.

They have what answers are made of: rules, dates, figures, tables, lists, code, questions and conversation.
"""

from __future__ import annotations

CALIBRATION_TEXTS = (
    """Rules of the reading room

The reading room is open from Tuesday to Saturday between 10:30 and 18:15, and on the first Sunday of every month until
noon. Readers register once, at the desk beside the stairs, with a document that carries a photograph. The card costs
4 euros and is valid for 24 months; children under twelve and members of the society pay nothing. Up to six volumes may
be taken to a table at a time. Maps, letters and anything printed before 1850 stay in the strong room and are read
under the eyes of an assistant, with pencils only. Whoever damages a book pays for its repair, at most 350 euros.

1. Bags and coats are left in the lockers.
2. Telephones are silent; conversations take place in the hall.
3. Photographs without flash are allowed where no red mark is on the spine.
4. The last orders are taken forty-five minutes before closing.""",
    """When the pressure in the second chamber falls below 2.4 bar, the controller closes the inlet valve, waits for
eight seconds and tries again. After three failures it stops the pump and lights the amber lamp. Before anyone opens the
housing, the main switch has to be turned off and locked, because the capacitors keep a dangerous voltage for about
five minutes. The filter is changed every 1,200 hours of operation; its torque is 18 N·m. Do not reuse the gasket.

| part | number | interval | tool |
| --- | --- | --- | --- |
| oil filter | HX-2207 | 1,200 h | strap wrench |
| air filter | HX-2310 | 600 h | none |
| belt | B-91 | 5,000 h | 13 mm spanner |

def next_service(hours: float, interval: float = 1200.0) -> float:
    # How many hours remain until the part has to be changed.
    return interval - hours % interval""",
    """My grandmother kept bees on the roof of a bakery. In the evenings, when the ovens had gone out and the street
smelled of rye, she climbed the ladder with a lantern and listened. "They are counting," she used to tell us, and we
believed her. Years later I learned that a colony in June may hold fifty thousand animals, that each of them lives
six weeks, and that the sound is the beating of wings at some two hundred and thirty strokes a second. None of this
made what she had said untrue. The lantern hangs in my kitchen now, and the roof belongs to a bank.

The treaty of the three valleys was signed in 1623, after eleven years of quarrels over water. It gave the upper
villages the right to the stream from dusk until dawn and the lower ones the rest of the day. Historians disagree
about whether it was ever obeyed: the accounts of the mill show fines in almost every summer up to 1701.""",
    """Question: How long may an employee carry unused holidays over into the next year, and who decides?

Answer: Unused holidays can be carried over until 31 March [1]. The head of the department decides about longer periods,
at most six months, when the reason was illness or parental leave [2]. The passages do not say what happens with days
that are left after that.

From: Amara Okafor
To: the planning group
Subject: Budget for the third quarter

Hello everyone, thank you for the figures. Travel came to $48,300, which is 7.5% less than planned, while licences rose
from $12,000 to $15,750. Could you please check line 14 again? If nothing changes we will have to postpone the new
server until November. Best regards, Amara""",
    """Photosynthesis turns light, water and carbon dioxide into sugar and oxygen. The first steps take place in the
membranes of the thylakoids, where chlorophyll absorbs mostly red and blue light; the second, the Calvin cycle,
fixes carbon in the stroma. A leaf uses only one or two per cent of the energy that falls on it. In mathematics, a
prime is a whole number greater than one that nothing divides but one and itself: 2, 3, 5, 7, 11, 13. Euclid proved
that there is no largest one. Suppose there were; multiply all of them and add one: the result has a divisor that is
not in the list.

Is the museum far from the station? It is about 900 metres: turn left at the fountain, cross the bridge, and you will
see a white tower. The tram number 6 goes there as well, every twelve minutes, and the ride takes four.""",
    """You answer questions from documents. Say only what they say, and name the document after each sentence.

Document 1 (handbook.pdf, page 12): Employees who cycle to work receive a kilometre allowance of 0.21 per kilometre.
The allowance is paid at the end of each quarter. Document 2 (notes.md): Since 1 May, electric bicycles count as well.
Speed pedelecs, which go up to 45 km/h, do not. Document 3 (menu.txt): Soup, bread, baked trout with almonds, plums.

When is the bicycle allowance paid, and does an electric bicycle count?

The bicycle allowance is paid at the end of each quarter [1]. Electric bicycles have counted since 1 May [2], except
speed pedelecs [2]. I do not know how many kilometres are paid at most; none of the documents mentions a limit.

Why does ice float? Because water expands by about nine per cent when it freezes, so that ice is lighter than what it
swims in. How do you say "good morning" in Japanese? おはようございます. And thank you? ありがとうございます.""",
    """会議室の利用について。会議室は平日の午前九時から午後七時まで使用できます。予約は三日前までに総務課へ申し込んでください。
利用後は机と椅子を元の位置に戻し、照明と空調を切ってください。飲食は第二会議室に限り認めます。料金は一時間につき千二百円です。""",
    """装置を点検する前に必ず電源を切り、十分間待ってから蓋を開けること。フィルターは六か月ごと、または運転時間が1,500時間に
達したときに交換する。異常な音や振動があれば直ちに運転を止め、担当者に連絡する。記録は五年間保管する。""",
    """質問:有給休暇は翌年に繰り越せますか。回答:はい、最大二十日まで繰り越せます。春になると川沿いの桜が咲き、町の人々は
弁当を持って集まる。祖父はその木の下で、昔ここに渡し船があったことを話してくれた。""",
)
