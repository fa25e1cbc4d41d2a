"""Documents, versions, chunks and publications in the catalogue."""
