"""How good is it, at which k?"""
