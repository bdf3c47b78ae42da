"""What would people have found, where a machine judged?"""
