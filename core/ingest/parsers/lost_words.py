"""From what on a document counts as not read as it is: what every check of a reading holds it against."""

from __future__ import annotations

import re

LEAST_RECALL = 0.9
"""Share of the words of a page that have to arrive."""
MOST_MULTIPLE = 1.5
"""Words or characters that arrive for one that is there from which the reading has multiplied them."""
STRANGE, FEW_SIGNS = 0.02, 20
"""Share of signs without a known meaning from which a part counts as not read, and how many they have to be."""
STRANGE_SIGN = re.compile("[\ufffd\ue000-\uf8ff]")
WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Signs of scripts that set no blanks between words, as a class of a pattern."""
