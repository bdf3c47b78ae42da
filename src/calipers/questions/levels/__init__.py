"""How good is it for evidence, for chunks, for documents?"""
