"""Elements of the page Evaluate."""
