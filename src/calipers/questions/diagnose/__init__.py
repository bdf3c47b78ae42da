"""Why does it fail?"""
