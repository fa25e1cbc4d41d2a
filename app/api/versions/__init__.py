"""Routes of versions, publications and comparisons."""
