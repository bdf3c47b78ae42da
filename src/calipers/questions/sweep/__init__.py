"""Which k should be used?"""
