"""The pages and the REST interface of EvoRAG; they know `core` only by its public names."""
