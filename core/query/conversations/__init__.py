"""Conversations, and follow-up questions made standalone."""
