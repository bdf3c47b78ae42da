"""Evaluation on Spark, by the same kernels as on one machine."""
