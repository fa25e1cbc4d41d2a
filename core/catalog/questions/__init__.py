"""Questions that were asked, and what is kept of them: answers, conversations, evaluations, recordings."""
