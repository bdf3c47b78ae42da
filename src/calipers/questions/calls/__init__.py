"""What does each call of a retriever add?"""
