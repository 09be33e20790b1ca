"""Learns a stream of files by key in a process of its own, which stops where it is told to, to be killed there."""

import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

SCHEMA = "user string, at long, body string, subject string, label string"


def pause(place, name):
    """Say that this place was reached, and wait to be killed, where a file asks for it."""
    if (place / f"stop-{name}").exists():
        (place / f"reached-{name}").touch()
        time.sleep(600)


def learn(place, spark):
    """Learn all files that are there, one in a micro-batch, and end."""
    import hinged

    folder = str(place)

    def within(batches):
        yield from batches
        pause(Path(folder), "within")

    def after(frame, number):
        frame.mapInArrow(within, frame.schema).count()
        pause(place, f"after-{number}")

    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(place / "in"))
    learnt = hinged.scale.learn_keyed(rows, hinged.TextClassifier(), key="user", order="at", buckets=3)
    query = learnt.writeStream.foreachBatch(after).outputMode("update").trigger(availableNow=True)
    query.option("checkpointLocation", str(place / "checkpoint")).start().awaitTermination()


if __name__ == "__main__":
    from tests.scale.quick import QUICK

    import hinged

    session = hinged.scale.local_session("local[2]", folder=Path(sys.argv[1]) / "scratch", **QUICK)
    learn(Path(sys.argv[1]), session)
    session.stop()
