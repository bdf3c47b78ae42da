"""Will it hold when the corpus grows?"""
