"""Which questions did users really ask?"""
