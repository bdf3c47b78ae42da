"""Which kinds of queries differ from the rest?"""
