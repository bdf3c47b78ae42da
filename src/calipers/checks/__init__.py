"""What is wrong, or worth knowing, about the input: counted, never silently repaired."""
