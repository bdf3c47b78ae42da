"""A Spark session, classic or through Connect, for the tests that need one.

``make spark`` sets ``CALIPERS_SPARK`` to one kind and then to the other: a process can hold one
kind of session. Without it these tests are left out, as they take Java and half a minute.
"""

import os
import sys
import warnings

import pytest

KIND = os.environ.get("CALIPERS_SPARK")
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    # Few rows are through before code is compiled for them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""What makes small data quick; nothing of it changes a result."""


@pytest.fixture(scope="session")
def session():
    if KIND not in ("classic", "connect"):
        pytest.skip("Spark is tested by make spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        for name, value in SMALL.items():
            builder = builder.config(name, value)
        if KIND == "connect":
            found = builder.remote("local[2]").getOrCreate()
        else:
            found = builder.master("local[2]").getOrCreate()
        # Batches that cut queries.
        found.conf.set(BATCH, "50")
        yield found
        found.stop()
