"""Trains what tells whether a passage supports a claim (``docs/verifier.md``)."""
