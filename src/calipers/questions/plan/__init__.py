"""How many queries are needed?"""
