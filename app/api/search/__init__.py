"""Routes of questions."""
