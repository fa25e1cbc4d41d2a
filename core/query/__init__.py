"""A question on its way to an answer: analyse, retrieve, fuse, context, extract or generate, guard; in this order."""
