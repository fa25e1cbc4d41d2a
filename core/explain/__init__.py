"""Insight: why a passage was found or was not, what the analyser makes of a text, and the vocabulary it goes by."""
