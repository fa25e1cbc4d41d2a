"""Trains what is added to the packaged encoder where it reads questions; passages keep their vectors."""
