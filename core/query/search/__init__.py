"""From a question to ranked passages: both legs, their fusion, reranking, the choice of the first."""
