"""From passages to an answer: context and prompt, extraction, citations."""
