"""Calipers inside other evaluation tools: one module each, loaded only when imported."""
