"""The nouns: frozen, columnar values that every step takes and returns."""
