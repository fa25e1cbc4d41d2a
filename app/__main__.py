"""``python -m app`` is ``evorag serve``."""

import sys

from core.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["serve"]
    main()
