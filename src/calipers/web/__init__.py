"""The web app: browse, compare and judge. One file per page or resource, each a thin call."""
