"""The page that people open: one file, no network, hostile text harmless."""
