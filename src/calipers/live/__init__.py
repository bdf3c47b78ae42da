"""Live retrievers: how each kind is asked, and the driver that asks all questions."""
