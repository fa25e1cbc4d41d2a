"""Elements of the pages Ask, History and Analyser."""
