"""The process is killed at every point of uploading and indexing, and nothing acknowledged is lost."""
