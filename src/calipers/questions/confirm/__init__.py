"""One claim on the sealed queries."""
