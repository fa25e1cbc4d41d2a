"""Evaluation: question sets, runs of them, what differs between two runs, and what a draft would change."""
