"""The vector and keyword indexes: which generation is active, how both follow the catalogue, and their repair."""
