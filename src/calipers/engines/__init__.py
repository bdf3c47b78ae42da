"""Where the work is done when the data outgrows the memory: shards on disk, Spark partitions."""
