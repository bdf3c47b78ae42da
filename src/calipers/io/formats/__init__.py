"""The forms Calipers reads and writes, a module for each tool; ``built_in`` lists them."""
