"""Why was each target missed?"""
