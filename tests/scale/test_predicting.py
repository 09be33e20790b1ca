"""Answers as columns of a data frame are those of the model itself."""

import numpy as np
import pytest

import hinged


def test_rankings_scores_and_confidence_are_the_models(spark):
    texts = [f"{word} number {i}" for i in range(20) for word in ("tax", "cake", "goal")]
    labels = ["work", "home", "sport"] * 20
    model = hinged.TextClassifier().partial_fit(texts, labels)
    df = spark.createDataFrame(list(zip(texts, range(60), strict=True)), "text string, id long").repartition(3)
    found = sorted(hinged.scale.predict(df, model, features="text").collect(), key=lambda row: row["id"])
    scored = model.scored(texts)
    assert [row["prediction"] for row in found] == model.predict(texts).tolist()
    assert [row["ranking"] for row in found] == model.rank(texts)
    for i, row in enumerate(found):
        np.testing.assert_array_equal(row["scores"], scored.scores[i, scored.order(i)])
    np.testing.assert_array_equal([row["confidence"] for row in found], scored.confidence)
    assert df.columns == ["text", "id"]
    best = hinged.scale.predict(df, model, features="text", top=1).first()
    assert len(best["ranking"]) == len(best["scores"]) == 1
    with pytest.raises(ValueError, match="top must be"):
        hinged.scale.predict(df, model, top=0)
    with pytest.raises(ValueError, match="has a column 'prediction' already"):
        hinged.scale.predict(df.withColumnRenamed("id", "prediction"), model, features="text")


def test_other_learners_answer_too(spark):
    rows = [([float(i), 1.0], i) for i in range(10)]
    X = [x for x, _ in rows]
    df = spark.createDataFrame([*rows, (None, 10)], "x array<double>, id int").coalesce(1)
    ranker = hinged.Ranker().partial_fit(X, [{i % 2, 2} for i in range(10)])
    number = hinged.Regressor().partial_fit(X, [2.0 * i for i in range(10)])
    two = hinged.BinaryClassifier().partial_fit(X, [i > 4 for i in range(10)])
    for model, answers in [
        (ranker, [sorted(one) for one in ranker.predict(X)]),
        (number, number.predict(X).tolist()),
        (two, [str(one) for one in two.predict(X).tolist()]),
    ]:
        found = [row["prediction"] for row in hinged.scale.predict(df, model, features="x").collect()]
        assert found[-1] is None  # that row has no vector
        assert [sorted(one) if isinstance(one, list) else one for one in found[:-1]] == answers


def test_rows_of_a_stream_are_answered_as_those_of_a_batch(spark, tmp_path):
    model = hinged.TextClassifier().partial_fit(["tax form", "cake"] * 4, ["work", "home"] * 4)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.json").write_text('{"text": "the tax"}\n{"text": "a cake"}\n')
    rows = spark.readStream.schema("text string").json(str(tmp_path / "in"))
    writer = hinged.scale.predict(rows, model, features="text").writeStream.format("memory").queryName("answers")
    writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
    found = {row["text"]: row["prediction"] for row in spark.table("answers").collect()}
    assert found == {"the tax": "work", "a cake": "home"}
