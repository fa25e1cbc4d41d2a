"""Elements of the page Compare."""
