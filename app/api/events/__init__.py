"""Routes that keep telling."""
