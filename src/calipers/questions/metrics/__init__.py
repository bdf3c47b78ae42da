"""Which metrics there are."""
