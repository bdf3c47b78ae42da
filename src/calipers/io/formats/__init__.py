"""The forms Calipers reads and writes, a module for each tool; each is found here."""
