"""Training of small language models on the documents, one at a time, each in its own process."""
