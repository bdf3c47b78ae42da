"""What became of each miss?"""
