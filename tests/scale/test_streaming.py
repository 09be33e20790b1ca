"""A model for each key from a stream: exactly what local learners come to, also where the driver is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.scale.stream_child import SCHEMA, learn
from tests.scale.test_keyed import by_hand, events, many, noted, of_user, plain
from tests.scale.test_mixing import bits

import hinged
from hinged.scale import Lessons, streaming

NAMES = ("user", "at", "body", "subject", "label")


def write(place, number, rows):
    """Put a file of rows where the stream reads."""
    (place / "in").mkdir(exist_ok=True)
    lines = (json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)
    path = place / "in" / f"{number}.json"
    path.write_text("".join(lines))
    os.utime(path, (1e9 + number, 1e9 + number))  # the stream takes files in order of age


def kept(spark, place):
    """The model of each key in the checkpoint, as bits."""
    found = hinged.scale.keyed_models(spark, str(place / "checkpoint")).collect()
    return {row["key"]: bits(Lessons.from_bytes(row["model"]).learner(noted())) for row in found}


def expected(*files):
    return {user: bits(model) for user, model in by_hand(*files).items()}


def test_a_stream_in_pieces_gives_the_models_of_local_learners(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "LEAST", 500)  # so that logs are emptied on the way
    files = [events(9, 6, seed) for seed in (0, 7, 13)]
    for number, rows in enumerate(files):
        write(tmp_path, number, rows)
    learn(tmp_path, spark)
    assert kept(spark, tmp_path) == expected(*files)


def test_two_thousand_keys_with_fifty_events_each_from_a_stream(spark, tmp_path):
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    X, users, labels = many()
    times = pa.array(np.arange(len(X)) * 10**6).cast(pa.timestamp("us", "UTC"))  # a second apart
    rows = pa.table({"user": users, "at": times, "x": X.tolist(), "label": labels})
    rng, half = np.random.default_rng(0), len(X) // 2
    for number in range(2):
        path = tmp_path / "in" / f"{number}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows.slice(half * number, half).take(rng.permutation(half)), path)
        os.utime(path, (1e9 + number, 1e9 + number))  # as above
    stream = spark.readStream.schema("user long, at timestamp, x array<double>, label string")
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    learnt = hinged.scale.learn_keyed(stream, plain(), key="user", order="at", features="x", buckets=8)
    query = learnt.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    found = hinged.scale.keyed_models(spark, str(tmp_path / "checkpoint")).collect()
    assert sorted(int(row["key"]) for row in found) == list(range(2000))
    for row in found:
        assert bits(Lessons.from_bytes(row["model"]).learner(plain())) == of_user(int(row["key"]))


def ended(stream, place, name, **asked):
    """Learn what is there of a stream, and end; the rows that it told."""
    learnt = hinged.scale.learn_keyed(stream, hinged.TextClassifier(), order="at", features="text", buckets=2, **asked)
    query = learnt.writeStream.format("memory").queryName(name).outputMode("update").trigger(availableNow=True)
    query.option("checkpointLocation", str(place / name)).start().awaitTermination()
    return stream.sparkSession.table(name).collect()


def lessons(spark, place, name):
    """The texts that each key was taught, in order."""
    found = hinged.scale.keyed_models(spark, str(place / name)).collect()
    return {row["key"]: [one.x for one in Lessons.from_bytes(row["model"]).lessons()] for row in found}


def test_late_and_repeated_events_are_what_the_page_says(spark, tmp_path):
    def event(user, minute, text):
        return {"user": user, "at": f"2026-01-01T00:{minute:02}:00", "text": text, "label": text[0]}

    first = [event(True, 5, "b5"), event(True, 3, "a3"), event(False, 4, "c4"), event(None, 1, "x1")]
    later = [event(True, 6, "d6"), event(True, 4, "late4"), event(False, 4, "c4")]  # late; sent again
    (tmp_path / "in").mkdir()
    for number, rows in enumerate((first, later)):
        path = tmp_path / "in" / f"{number}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, (1e9 + number, 1e9 + number))  # as above
    stream = spark.readStream.schema("user boolean, at timestamp, text string, label string")
    stream = stream.option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    before = spark.createDataFrame([(True, 1, "z", "z")], "user boolean, at int, text string, label string")
    known = hinged.scale.learn_keyed(before, hinged.TextClassifier(), key="user", order="at", features="text")
    told = ended(stream, tmp_path, "plain", key="user", known=known)
    taught = lessons(spark, tmp_path, "plain")
    assert taught == {"true": ["z", "a3", "b5", "late4", "d6"], "false": ["c4", "c4"]}
    (unkeyed,) = [row for row in told if row["key"] is None]
    assert (unkeyed["rows"], unkeyed["skipped"]) == (0, 1)
    assert unkeyed["problem"] == "the key in column 'user' is null"
    once = stream.withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["user", "at", "text"])
    ended(once, tmp_path, "once", key="user")
    assert lessons(spark, tmp_path, "once") == {"true": ["a3", "b5", "late4", "d6"], "false": ["c4"]}


def test_a_stream_goes_on_from_what_a_batch_learnt(spark, tmp_path):
    first, later = events(5, 6), events(6, 4, seed=5)
    asked = {"key": "user", "order": "at"}
    known = hinged.scale.learn_keyed(spark.createDataFrame(first, SCHEMA), hinged.TextClassifier(), **asked)
    write(tmp_path, 0, later)
    rows = spark.readStream.schema(SCHEMA).json(str(tmp_path / "in"))
    learnt = hinged.scale.learn_keyed(rows, hinged.TextClassifier(), known=known, buckets=2, **asked)
    query = learnt.writeStream.format("memory").queryName("told").outputMode("update").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    assert kept(spark, tmp_path) == expected(first, later)
    assert {row["key"]: row["rows"] for row in spark.table("told").collect()} == dict.fromkeys(
        (f"u{i}" for i in range(6)), 4
    )


def kill_at(place, name):
    """Start the stream in a process of its own and kill all of that, the driver too, once it has reached a place."""
    (place / f"stop-{name}").touch()
    places = os.pathsep.join([str(Path(hinged.__file__).parents[1]), str(Path(__file__).parents[2])])
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": places}
    command = [sys.executable, str(Path(__file__).with_name("stream_child.py")), str(place)]
    with (place / f"said-{name}").open("w") as said:
        child = subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True)
        try:
            deadline = time.monotonic() + 300
            while not (place / f"reached-{name}").exists():
                assert child.poll() is None, (place / f"said-{name}").read_text()[-2000:]
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    (place / f"stop-{name}").unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups to kill")
def test_no_row_is_lost_or_learnt_twice_where_the_driver_is_killed(spark, tmp_path):
    files = [events(7, 5, seed) for seed in (0, 7)]
    for number, rows in enumerate(files):
        write(tmp_path, number, rows)
    kill_at(tmp_path, "within")  # states of the first micro-batch have changed, and are not committed
    kill_at(tmp_path, "after-1")  # those of the second are committed, the micro-batch itself is not
    learn(tmp_path, spark)
    assert kept(spark, tmp_path) == expected(*files)


@pytest.mark.parametrize("nothing", [None, float("nan"), np.datetime64("NaT")])
def test_events_without_a_place_are_the_last_of_their_key(nothing):
    pd = pytest.importorskip("pandas")
    one = np.datetime64("2001-01-01") if isinstance(nothing, np.datetime64) else 1.0
    keys, places = (["b", "a", "a"], ["a", "b"]), ([one, nothing, one], [nothing, nothing])
    frames = [
        pd.DataFrame({"keys": [k], "places": [p], "lessons": [[f"{n}{i}" for i in range(len(k))]], "problems": [k]})
        for n, k, p in zip("xy", keys, places, strict=True)
    ]
    found = [(key, lesson) for key, _, lesson, _ in streaming._in_order(iter(frames))]
    assert found == [("a", "x2"), ("a", "x1"), ("a", "y0"), ("b", "x0"), ("b", "y1")]


def test_what_a_stream_cannot_do_is_said(spark, tmp_path):
    write(tmp_path, 0, events(1, 2))
    rows = spark.readStream.schema(SCHEMA).json(str(tmp_path / "in"))
    with pytest.raises(ValueError, match="sorted by one column"):
        hinged.scale.learn_keyed(rows, hinged.TextClassifier(), key="user", order=["at", "label"])
    with pytest.raises(ValueError, match="buckets must be"):
        hinged.scale.learn_keyed(rows, hinged.TextClassifier(), key="user", order="at", buckets=0)
