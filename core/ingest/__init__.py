"""From bytes to blocks to chunks: what happens to a file before it can be searched."""
