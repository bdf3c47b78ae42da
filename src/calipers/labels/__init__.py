"""The work of judging: pools, queues, judges, agreement, export."""
