"""Did it get worse?"""
