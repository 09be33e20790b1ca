"""scikit-learn's interface without its import: what is answered here, and what its counterpart answers."""

import os
import pickle
import subprocess
import sys

import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor

import hinged

EVERY = (
    hinged.BinaryClassifier,
    hinged.Classifier,
    hinged.OrdinalClassifier,
    hinged.Ranker,
    hinged.Regressor,
    hinged.SequenceTagger,
    hinged.TextClassifier,
    hinged.TextRanker,
    hinged.Trials,
    hinged.Uniclass,
    hinged.text.Hasher,
    hinged.text.Vocabulary,
)


def modules_after(program, tmp_path):
    """The packages that a fresh process has imported once it has run the program."""
    report = "\nimport sys\nprint(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program + report],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "program",
    [
        "import hinged; m = hinged.Classifier(); m.learn_one({'a': 1}, 'x'); m.predict_one({'a': 1}); m.save('m')",
        "import hinged; m = hinged.TextClassifier(); m.learn_one('win a prize', 'spam'); m.rank_one('a prize')",
        "import hinged; m = hinged.Regressor(); m.learn_one({'a': 1}, 2.0); m.predict_one({'a': 1})",
        "import hinged; m = hinged.Ranker(); m.learn_one({'a': 1}, {'x'}); m.save('n'); hinged.load('n')",
    ],
)
def test_learning_dicts_and_text_imports_neither_scikit_learn_nor_pandas(program, tmp_path):
    assert modules_after(program, tmp_path) & {"sklearn", "pandas", "matplotlib", "pyarrow", "rich", "typer"} == set()


@pytest.mark.parametrize("kind", EVERY)
def test_parameters_are_those_of_the_constructor(kind):
    model = kind()
    name = next(iter(model.get_params()))
    assert clone(model).get_params() == model.get_params()
    assert kind(**model.get_params(deep=False)).get_params() == model.get_params()
    assert model.set_params(**{name: None}) is model
    assert model.get_params()[name] is None


def test_an_unknown_parameter_is_refused_by_name():
    with pytest.raises(ValueError, match="Invalid parameter 'sharpness' for estimator Classifier"):
        hinged.Classifier().set_params(sharpness=2)


def test_parameters_of_parameters_are_found():
    pipeline = sklearn.pipeline.make_pipeline(hinged.text.Hasher(bits=9), hinged.Classifier())
    assert pipeline.get_params()["hasher__bits"] == 9
    assert pipeline.set_params(classifier__C=2.0)[1].C == 2.0


def test_what_was_changed_is_shown():
    assert repr(hinged.Classifier("pa1", C=2.0)) == "Classifier(C=2.0, rule='pa1')"
    assert "Classifier" in hinged.Classifier()._repr_html_()


def test_kinds_of_estimators_are_told_apart():
    assert is_classifier(hinged.OrdinalClassifier())
    assert is_regressor(hinged.Regressor())
    assert is_outlier_detector(hinged.Uniclass())
    assert not is_classifier(hinged.Regressor())


def test_metadata_is_requested_and_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = hinged.Classifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert clone(model).get_metadata_routing().fit.requests == {"sample_weight": True}
        X = [[float(i), 1.0] for i in range(12)]
        scores = sklearn.model_selection.cross_val_score(
            model, X, [0, 1] * 6, params={"sample_weight": [1.0] * 12}, cv=2
        )
    assert len(scores) == 2


def test_missing_attributes_are_reported_as_before():
    with pytest.raises(AttributeError, match="classes_ exists after the first label is known"):
        hinged.Classifier().classes_  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'sharpness'"):
        hinged.Classifier().sharpness  # noqa: B018
    assert not hasattr(hinged.Classifier(), "set_shape_request")


def test_estimators_are_pickled():
    model = hinged.Classifier(C=2.0)
    model.learn_one({"a": 1}, "x")
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_one({"a": 1}), again.C) == ("x", 2.0)


def test_sparse_rows_of_words_make_no_data_frame():
    assert hinged.text.Hasher().set_output(transform="default").transform(["a b"]).shape[0] == 1
    with pytest.raises(ValueError, match="sparse"):
        hinged.text.Hasher().set_output(transform="pandas")
