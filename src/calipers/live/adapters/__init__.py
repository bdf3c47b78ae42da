"""How each kind of live retriever is asked."""
