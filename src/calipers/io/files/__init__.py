"""Files as bytes: open, inspect, spill to disk, write atomically."""
