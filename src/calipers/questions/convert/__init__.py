"""The same data in another form."""
