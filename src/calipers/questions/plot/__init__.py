"""One chart."""
