"""The page Document."""
