"""Dash elements made of values; nothing here asks the knowledge base for anything."""
