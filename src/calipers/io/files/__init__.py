"""Files as bytes: opened, looked at, spilled to disk, written whole or not at all."""
