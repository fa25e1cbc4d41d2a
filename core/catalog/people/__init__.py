"""Users, sessions and keys in the catalogue."""
