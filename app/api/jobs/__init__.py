"""Routes of background work."""
