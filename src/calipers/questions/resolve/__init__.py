"""Where do quotes stand in the documents?"""
