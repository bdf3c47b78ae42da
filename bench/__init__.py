"""Speed and memory against other tools, as ratios. See README.md."""
