"""Learns a round on executors that are processes of their own, one of which is killed in the middle of it."""

import json
import os
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

warnings.simplefilter("ignore")

#: Two executors with a core each, and batches of a few rows.
SETTINGS = {"spark__executor__memory": "512m", "spark__sql__execution__arrow__maxRecordsPerBatch": "10"}


def executor():
    """The process of this worker's executor: the parent of the one that this worker was forked from."""
    return int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(os.getppid())]))


def watched(place, batches):
    """Pass rows on, and kill the executor within the second partition, once; note who learnt that in whole."""
    from pyspark import TaskContext

    second = TaskContext.get().partitionId() == 1
    for number, batch in enumerate(batches):
        if second and number == 2 and not (place / "lost").exists():
            (place / "lost").write_text(str(executor()))
            os.kill(executor(), signal.SIGKILL)
            os._exit(0)  # a worker ends with its executor, but not before it has read what was sent to it
        yield batch
    if second:
        (place / "learnt").write_text(f"{executor()} {number + 1}")


def main(place, spark):
    """Learn a round with an executor killed in it, and write down what it came to."""
    from tests.scale.test_mixing import MAIL, begun

    import hinged

    parts = json.loads((place / "parts.json").read_text())
    df = spark.createDataFrame([tuple(row) for part in parts for row in part], MAIL)  # a partition for each core
    model = begun(parts[0][0])
    done = hinged.scale.fit(df.mapInArrow(partial(watched, place), MAIL), model, mix="mistakes")
    (place / "state").write_bytes(model.get_state().to_bytes())
    (place / "round").write_text(json.dumps(done.rounds[0][:4]))


if __name__ == "__main__":
    from tests.scale.quick import QUICK

    import hinged

    settings = SETTINGS | QUICK
    session = hinged.scale.local_session("local-cluster[2,1,512]", folder=Path(sys.argv[1]) / "scratch", **settings)
    main(Path(sys.argv[1]), session)
    session.stop()
