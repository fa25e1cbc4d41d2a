"""The frame around every page."""
