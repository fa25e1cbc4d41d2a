"""Text analysis that every keyword index, the chunker and the extractor share: language, sentences, terms."""
