"""What could judging the unjudged results change?"""
