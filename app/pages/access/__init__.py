"""The page Access."""
