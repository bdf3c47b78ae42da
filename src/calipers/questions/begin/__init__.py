"""First questions from a folder of documents, and a first number."""
