"""What was measured before?"""
