"""Tables read lazily from files and memory."""
