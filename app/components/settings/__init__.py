"""Elements of the pages Settings, Stores and API."""
