"""Elements of the page Neurons."""
