"""A child process that says whatever its order tells it to, as one would that a document has taken over."""

from __future__ import annotations

import json
import sys
import time

for line in sys.stdin:
    order = json.loads(line)
    for _ in range(order.get("times", 1)):
        sys.stdout.write(order["say"])
    sys.stdout.flush()
    time.sleep(order.get("stays_s", 0))
    sys.stdout.write(order.get("then", ""))
    sys.stdout.flush()
