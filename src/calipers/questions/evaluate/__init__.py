"""How good are the results at each k?"""
