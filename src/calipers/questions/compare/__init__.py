"""Which retriever is better, and is that real?"""
