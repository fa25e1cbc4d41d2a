"""Irregular forms of English words, which no rule leads back to the word that a list holds."""

from __future__ import annotations

_WORDS = """
arisen arose awoke awoken beaten became befell began begun beheld bereft bitten blown bought bound broke broken
brought built burnt burst caught children chose chosen clung crept dealt drank drawn dreamt driven drove drunk dwelt
eaten fallen fleeing flown flung forbade forbidden foresaw foreseen forgave forgiven forgot forgotten forsaken
fought found froze frozen geese given ground grown halves heard hidden itself knelt knives known leant leapt learnt
leaving loaves lying meant misled mistaken mistook misunderstood ourselves overcame overdone overridden oversaw
overslept overtook overwritten overwrote people proven quitting redone rewritten rewrote ridden risen shaken shelves
shone shook shown shrank shrunk slain slept slung smelt snuck sought spelt spilt split spoilt spoke spoken sprang
spread sprung stank stole stolen stood striven strove struck strung stuck stung sunken swept swollen swore sworn
swung taken taught teeth themselves thought threw thrown thrust trodden tying understood undertook underwent undid
undone unwound upheld upset vying withdrawn withdrew withheld withstood wives woken women wound woven written wrote
wrung yourselves
"""
IRREGULAR_FORMS = frozenset(_WORDS.split())
"""Those of five letters and more."""
