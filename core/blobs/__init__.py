"""Originals and parsed texts by their hash: what pins them, what removes them, and how much room they take."""
