"""Measured runs: each is a command that prints a number and says on what."""
