"""How did the metrics move over time?"""
