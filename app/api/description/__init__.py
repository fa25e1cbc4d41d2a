"""What routes say of themselves, and the reading of requests by it."""
