"""The web app: browse, compare and judge. Each page or resource is a thin call of the library."""
