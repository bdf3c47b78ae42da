"""Settings every test shares."""

import os

from hypothesis import settings

# Deadlines fail on a busy machine, not on a wrong answer. In CI the same examples run each time.
settings.register_profile("calipers", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("calipers")

# A package for other processes: loaded here, its metric would stand among ours.
collect_ignore = ["data/plugin"]

# Some of the libraries report to their makers, or fetch prices, when loaded; a test stays at home.
for name, value in {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}.items():
    os.environ.setdefault(name, value)
