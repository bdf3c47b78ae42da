"""What a retriever searches in: documents and chunks."""
