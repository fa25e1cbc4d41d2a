"""Embedding models and the cross-encoder."""
