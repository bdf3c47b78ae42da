"""Evaluation on Spark, by the kernels that are used everywhere."""
