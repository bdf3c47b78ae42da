"""Set queries aside, to confirm what was tuned on the others."""
