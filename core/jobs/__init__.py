"""Background work: the local queue, and what people do with jobs."""
