"""Below which score should nothing be returned?"""
