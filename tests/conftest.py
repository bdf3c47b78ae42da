"""Settings every test shares."""

import os

from hypothesis import settings

# Deadlines fail on a busy machine, not on a wrong answer. In CI the same examples run each time.
settings.register_profile("calipers", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("calipers")

# A package for other processes: loaded here, its metric would stand among ours.
collect_ignore = ["data/plugin"]
