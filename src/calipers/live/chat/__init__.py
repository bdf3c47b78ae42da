"""Asking language models: the client, the prompts, and what is made of the replies."""
