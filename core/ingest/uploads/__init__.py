"""Uploads in parts: bytes arrive over many connections, lie in files under random names, and become documents once."""
