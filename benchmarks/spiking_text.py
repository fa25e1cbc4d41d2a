"""A text that calibration has not seen, for perplexities; written for this purpose, 860 tokens of SmolLM2."""

from __future__ import annotations

_WRAPPED = """The lighthouse at Cape Morrow was built between 1871 and 1874, after three ships had been lost on the
reef within a single winter. The tower is made of granite blocks, each of which was cut in the quarry on the far side
of the bay and brought across on barges when the sea was calm. It stands forty-one metres high. For the first fifty
years its lamp burned rapeseed oil and later paraffin; a keeper had to carry the fuel up two hundred and six steps
every evening and wind the clockwork that turned the lens. Electricity came in 1926, and in 1988 the last keeper left.
Since then the light has been watched from an office in the city.

The people of the village remember the keepers well. They were often lonely men, but not all of them. One kept a diary
about the birds that struck the glass on foggy nights, and his notes are still used by scientists who want to know how
the routes of migration have changed. Another taught the children to read the weather from the colour of the horizon.
When the wind turns to the north and the gulls sit on the roofs, the old women say, it is better to stay at home.

How does a lens of this kind work? A simple glass ball that gathered the light of a flame would have to be so thick
that it would swallow much of what passes through it, and so heavy that no machine could turn it. The idea was to cut
away the inside of the glass and to keep only the surface, broken into rings. Each ring bends the light by just the
right angle, so that all of it leaves in a flat beam. With this arrangement a lamp that is no brighter than a few
dozen candles can be seen from a distance of more than thirty kilometres. The number of beams and the speed of the
rotation give each lighthouse its own pattern of flashes, and sailors can tell from the pattern where they are.

Today most ships find their way with the help of satellites. Some people therefore ask why the towers should be kept
at all. The answer of the harbour office is short: a receiver can fail, a battery can be empty, and a screen can show
the wrong number, but a light on a rock is either there or it is not. Maintenance costs about sixty thousand euros a
year, most of which is spent on paint, because salt water attacks the iron of the gallery. Visitors can climb the
tower on weekends from May to September. The entrance fee is five euros, and children pay half. The shop at the foot
of the tower sells postcards, honey and a small book about the wrecks.

In the spring of last year a storm broke two of the windows and flooded the engine room. The repair took eleven weeks.
During this time a temporary lamp was hung from a mast beside the tower, and the old lens was taken apart and cleaned
for the first time since the war. The workers found a message scratched into the brass frame, with a date and two
names. No one in the village knew the names, but a letter to the newspaper brought an answer within a few days: they
belonged to a young couple who had spent their wedding night in the tower, with the permission of the keeper, in the
summer of 1937. Their granddaughter lives on the other side of the world. She was sent a photograph of the
inscription, and she wrote back that she had always believed the story to be an invention.

If you plan a visit, take the bus that leaves from the station at a quarter past nine. The journey takes about forty
minutes. Wear warm clothes even in summer, because the wind on the gallery is stronger than you expect, and bring
something to eat, since there is no restaurant nearby. Dogs have to wait outside. The path from the bus stop follows
the edge of the cliff and is not suitable for wheelchairs, but the harbour office can open the service road for
visitors who ask for it two days in advance. From the top you see the whole reef at low tide, black and sharp like the
back of an animal, and it is easy to understand why the light was built.
"""
UNSEEN_TEXT = "\n\n".join(" ".join(paragraph.split()) for paragraph in _WRAPPED.split("\n\n"))
PARAGRAPHS = tuple(UNSEEN_TEXT.split("\n\n"))

QUESTIONS = (
    (0, "When was the lighthouse at Cape Morrow built?", "1871"),
    (0, "What is the tower made of?", "granite"),
    (0, "How high is the tower?", "forty-one"),
    (0, "When did electricity come to the lighthouse?", "1926"),
    (0, "In which year did the last keeper leave?", "1988"),
    (1, "What did one keeper keep a diary about?", "birds"),
    (1, "From what did a keeper teach the children to read the weather?", "horizon"),
    (1, "Where do the gulls sit when it is better to stay at home?", "roof"),
    (2, "Into what is the surface of the glass broken?", "rings"),
    (2, "From what distance can the lamp be seen?", "thirty"),
    (2, "From what can sailors tell where they are?", "pattern"),
    (3, "How much does maintenance cost a year?", "sixty"),
    (3, "On what is most of the money spent?", "paint"),
    (3, "How much is the entrance fee?", "five"),
    (3, "What does the shop sell?", "honey"),
    (4, "How many weeks did the repair take?", "eleven"),
    (4, "Where did the workers find a message?", "brass"),
    (4, "In which year did the couple spend their wedding night in the tower?", "1937"),
    (5, "How long does the journey by bus take?", "forty"),
    (5, "How many days in advance must visitors ask for the service road?", "two"),
)
"""Of which paragraph, the question, and what its answer contains."""
