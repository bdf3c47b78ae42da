"""The formats that Calipers reads and writes, found by their modules here."""
