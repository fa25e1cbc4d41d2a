"""Routes of uploads in parts."""
