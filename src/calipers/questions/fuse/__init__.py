"""Find the best way to fuse recorded lanes."""
