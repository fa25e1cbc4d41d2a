"""Where originals are kept: in files, or at a URL with a cache before it."""
