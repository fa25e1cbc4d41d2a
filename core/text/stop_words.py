"""English words that a question does not ask for, and how they are shortened."""

from __future__ import annotations

import re

_STOP_LINES = """
    a an the and or but nor not no so than as if because although while until before after
    i me my we us our ours you your yours he him his she her hers it its itself they them their theirs
    this that these those there such some any both each only other same all most more very just also too
    is am are was were be been being do does did done have has had can could may might must shall should will would
    of at by for with about between into during to from up in out on off over under through
    what which who whom whose when where why how
"""
STOP_WORDS = frozenset(_STOP_LINES.split())
CONTRACTED = re.compile("(?:n['’]t|['’](?:s|m|re|ve|ll|d))+$")
CONTRACTED_MORE = re.compile("(?:n['’]t|['’](?:m|re|ve|ll|d))$")
CUT_SHORT = ("ca", "wo")
"""What "can't" and "won't" leave."""
