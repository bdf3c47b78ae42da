"""Adapters: how to query each type of live retriever."""
