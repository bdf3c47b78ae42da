"""Simulations of everything the library concludes, with the library's own functions."""
