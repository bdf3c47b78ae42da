"""Convert data to another format."""
