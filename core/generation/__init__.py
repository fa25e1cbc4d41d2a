"""Generators: what they are given, how one is chosen, and how what they write is taken."""
