"""May this change be merged?"""
