"""Elements of the page Access."""
