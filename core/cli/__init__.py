"""The command line ``evorag``: its commands, what they read, and what they print."""

from core.cli.commands import main

__all__ = ["main"]
