"""Irregular forms of English words that the list of translations has in another form alone."""

from __future__ import annotations

_WORDS = """
arisen arose awoke awoken beaten became befell began begun beheld bereft bitten blown bought broke brought built
burst chose chosen clung crept dealt drank drawn dreamt driven drove drunk dwelt eaten fallen flown flung forbade
foresaw foreseen forgave forgiven forsaken fought froze geese grown halves itself knelt knives leant leapt learnt
loaves lying meant misled mistook misunderstood ourselves overcame overdone overridden oversaw overslept overtook
overwritten overwrote proven redone rewritten rewrote ridden risen shaken shone shook shrank shrunk slain slept
slung smelt snuck sought spelt spilt spoilt spoken sprang sprung stank stole stood striven strove struck strung
stung sunken swept swollen swore sworn swung taken taught themselves threw thrown thrust trodden undertook underwent
undid undone unwound upheld upset vying withdrawn withdrew withheld withstood wives woken woven wrote wrung
yourselves
"""
IRREGULAR_FORMS = frozenset(_WORDS.split())
"""Those of five letters and more."""
