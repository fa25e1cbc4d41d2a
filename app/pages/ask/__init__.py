"""The page Ask."""
