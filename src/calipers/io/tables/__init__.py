"""Tables on their way in and out, read lazily."""
