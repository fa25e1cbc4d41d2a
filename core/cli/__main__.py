"""``python -m core.cli`` is ``evorag``."""

from core.cli import main

main()
