"""The wrappers for River: its own checks of estimators, and what its users expect of each kind."""

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, evaluate, metrics, preprocessing, utils
from sklearn.metrics import roc_auc_score

import hinged

MODELS = {
    "Classifier": hinged.Classifier(scaling="idf", normalize=True),
    "BinaryClassifier": hinged.BinaryClassifier(),
    "OrdinalClassifier": hinged.OrdinalClassifier(order=[0, 1, 2, 3]),
    "Ranker": hinged.Ranker(),
    "Regressor": hinged.Regressor(),
    "Uniclass": hinged.Uniclass(radius=0.5),
}


def rows_for(kind, n=200):
    """Rows where River's own have to be downloaded, or are no ranks."""
    rng = np.random.default_rng(3)
    for _ in range(n):
        x = dict(zip("abcd", rng.normal(size=4).tolist(), strict=True))
        if kind == "Ranker":
            yield x, {"p": x["a"] > 0, "q": x["b"] > x["c"], "r": x["d"] > 1}
        elif kind == "OrdinalClassifier":
            yield x, int(np.digitize(x["a"] + x["b"], [-1, 0, 1]))
        else:
            far = bool(rng.random() < 0.1)
            yield ({name: value + 5 for name, value in x.items()} if far else x), far


def checks_of(kind):
    for check in checks.yield_checks(hinged.to_river(MODELS[kind])):
        if kind in ("Ranker", "OrdinalClassifier", "Uniclass") and "dataset" in getattr(check, "keywords", {}):
            yield functools.partial(check.func, dataset=list(rows_for(kind)))
        else:
            yield check


@pytest.mark.parametrize("kind", MODELS)
def test_river_accepts_each_kind(kind):
    learner = hinged.to_river(MODELS[kind])
    skipped = learner._unit_test_skips()
    assert skipped == set()
    ran = 0
    for check in checks_of(kind):
        check(learner.clone())
        ran += 1
    assert ran >= 20


@pytest.mark.parametrize("kind", MODELS)
def test_a_wrapper_is_pickled_with_what_it_learnt(kind):
    learner = hinged.to_river(MODELS[kind]).clone()
    ask = "score_one" if kind == "Uniclass" else "predict_one"
    rows = list(rows_for({"Classifier": "OrdinalClassifier"}.get(kind, kind), 30))
    for x, y in rows:
        learner.learn_one(x) if kind == "Uniclass" else learner.learn_one(x, y)
    again = pickle.loads(pickle.dumps(learner))
    assert [getattr(again, ask)(x) for x, _ in rows] == [getattr(learner, ask)(x) for x, _ in rows]
    assert learner.clone().model._model is None


@pytest.mark.parametrize("kind", MODELS)
def test_a_weight_of_zero_teaches_nothing(kind):
    learner = hinged.to_river(MODELS[kind]).clone()
    (x, y), *_ = rows_for({"Classifier": "OrdinalClassifier"}.get(kind, kind), 1)
    learner.learn_one(x, w=0.0) if kind == "Uniclass" else learner.learn_one(x, y, w=0.0)
    assert (learner.model.n_rounds_, learner.model.n_updates_) == (1, 0)


def test_grids_and_pipelines_reach_the_settings():
    learner = hinged.to_river(hinged.Classifier("pa2", C=3.0))
    assert [one.model.C for one in utils.expand_param_grid(learner, {"C": [0.1, 1.0], "rule": ["pa1"]})] == [0.1, 1.0]
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), learner)
    grid = utils.expand_param_grid(pipeline, {"RiverClassifier": {"C": [0.1, 1.0]}})
    assert [one["RiverClassifier"].model.C for one in grid] == [0.1, 1.0]
    assert [one["RiverClassifier"].model.rule for one in grid] == ["pa2", "pa2"]


def test_a_frame_is_learnt_as_its_rows():
    rows = list(rows_for("OrdinalClassifier", 50))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    for model in (hinged.Classifier(), hinged.Regressor()):
        one, many = hinged.to_river(model).clone(), hinged.to_river(model).clone()
        for (x, answer), w in zip(rows, y + 1.0, strict=True):
            one.learn_one(x, answer, w=w)
        many.learn_many(X, y, w=y + 1.0)
        assert many.predict_many(X).tolist() == [one.predict_one(x) for x, _ in rows]


def test_label_dicts_make_all_their_labels_known():
    learner = hinged.to_river(hinged.Ranker()).clone()
    assert learner.predict_one({"a": 1.0}) == {}
    learner.learn_one({"a": 1.0}, {"x": True, "y": False})
    assert learner.predict_one({"a": 1.0}) == {"x": True, "y": False}


def test_numbers_and_outliers_are_judged_as_river_judges_them():
    numbers = [(x, 2 * x["a"] - x["b"]) for x, _ in rows_for("Uniclass")]
    told = evaluate.progressive_val_score(numbers, hinged.to_river(hinged.Regressor()).clone(), metrics.MAE())
    assert told.get() < 2.0
    detector = hinged.to_river(hinged.Uniclass(radius=1.0))
    scores, far = [], []
    for x, is_far in rows_for("Uniclass"):
        scores.append(detector.score_one(x))
        far.append(is_far)
        detector.learn_one(x)
    assert roc_auc_score(far, scores) > 0.9


def test_what_river_has_no_kind_for_is_refused():
    with pytest.raises(TypeError, match="no kind of estimator for a SequenceTagger"):
        hinged.to_river(hinged.SequenceTagger())


def test_a_row_that_is_refused_leaves_no_labels_behind():
    learner = hinged.to_river(hinged.Ranker()).clone()
    with pytest.raises(ValueError, match="finite"):
        learner.learn_one({"a": float("nan")}, {"x": True, "y": False})
    assert learner.predict_one({"a": 1.0}) == {}
