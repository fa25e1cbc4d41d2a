"""Keyword indexes: tantivy, Elasticsearch, and in memory."""
