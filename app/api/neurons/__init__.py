"""Routes of recordings and of models."""
