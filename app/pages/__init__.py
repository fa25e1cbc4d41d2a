"""One module a page: it asks the facade for values and hands them to components."""
