"""Live retrievers: an adapter for each type, and the driver that sends the questions."""
