"""What a live retriever returns for one question, and why it misses what it should return."""
