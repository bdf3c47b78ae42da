"""How much does the index lose against an exact search?"""
