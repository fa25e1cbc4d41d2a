"""Routes of evaluation."""
