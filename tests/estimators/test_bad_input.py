"""Bad input: a sentence that says what was wrong, what was given and what to do; and the model is as it was before."""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests import plain as papers

import hinged
from hinged.evaluate import progressive
from hinged.rules import Mira, Optimal
from hinged.sharing import Frequency, Groups

X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
Y = ["a", "b", "c", "a"]
DICTS = [{"x": 1.0, "z": 2.0}, {"y": 1.0}, {"x": 3.0, "z": 1.0}, {"y": 2.0, "z": 1.0}]
SETS = [{"a"}, {"b", "c"}, {"c"}, {"a", "b"}]


def state(model):
    """Everything a model knows, as plain values."""
    shown = {name: repr(getattr(model, name, None)) for name in ("n_features_in_", "feature_names_in_", "_columns")}
    shown["labels"] = None if model._labels is None else (list(model._labels.labels), dict(model._labels.position))
    names = model._parts.reader.names
    shown["names"] = None if names is None else (list(names.listed), dict(names.column))
    if model._model is not None:
        about, arrays, names = model._state()
        shown |= {"about": about, "all names": names}
        shown["arrays"] = {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}
    return shown


def of_matrices(**settings):
    return hinged.Classifier(**settings).partial_fit(X, Y).partial_fit(X, Y)


def of_dicts():
    return hinged.Classifier(scaling="idf").partial_fit(DICTS, Y).partial_fit(DICTS, Y)


def of_sets():
    return hinged.Ranker(sharing="hybrid", features="frequency").partial_fit(X, SETS).partial_fit(X, SETS)


def of_indicators():
    return hinged.Ranker().partial_fit(X, np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))


def refused(model, call, problem, words):
    """The call is refused with these words, and the model has not changed."""
    before = state(model)
    with pytest.raises(problem, match=words):
        call(model)
    assert state(model) == before


# ------------------------------------------------------------------ settings
def plain_function(scores, relevant, norms, margin, C, g):
    pass


SETTINGS = [
    ({"C": -0.5}, ValueError, r"C must be positive; got C=-0\.5\. Try"),
    ({"C": 0}, ValueError, r"C must be positive; got C=0\. Try"),
    ({"C": float("nan")}, ValueError, r"C must be positive; got C=nan\. Try"),
    ({"C": "large"}, TypeError, r"C must be a number; got C='large'\. Try"),
    ({"C": None}, TypeError, r"C must be a number; got C=None\. Try"),
    ({"C": [1.0]}, TypeError, r"C must be a number; got C=\[1\.0\]"),
    ({"C": True}, TypeError, r"C must be a number; got C=True"),
    ({"C": 1j}, TypeError, r"C must be a number; got C=1j"),
    ({"rule": "pa2", "C": float("inf")}, ValueError, r"C must be finite for rule='pa2'; got C=inf\. Try"),
    ({"rule": "perceptron", "C": float("inf")}, ValueError, r"C must be finite.*'perceptron'; got C=inf\. Try"),
    ({"rule": "simperc", "C": float("inf")}, ValueError, r"C must be finite.*'simperc'; got C=inf\. Try"),
    ({"margin": 0.0}, ValueError, r"margin must be positive; got margin=0\.0"),
    ({"margin": -1}, ValueError, r"margin must be positive; got margin=-1"),
    ({"margin": float("nan")}, ValueError, r"margin must be positive; got margin=nan"),
    ({"margin": float("inf")}, ValueError, r"margin must be finite; got margin=inf"),
    ({"margin": "1"}, TypeError, r"margin must be a number; got margin='1'"),
    ({"bias": float("nan")}, ValueError, r"bias must be a finite number; got bias=nan\. Try"),
    ({"bias": float("inf")}, ValueError, r"bias must be a finite number; got bias=inf\. Try"),
    ({"bias": "yes"}, ValueError, r"bias must be a finite number; got bias='yes'\. Try"),
    ({"bias": True}, ValueError, r"bias must be a finite number; got bias=True\. Try"),
    (
        {"scaling": "tfidf"},
        ValueError,
        r"scaling must be 'auto', None, 'idf', .*; got scaling='tfidf'",
    ),
    ({"scaling": True}, ValueError, r"scaling must be 'auto', None, 'idf', .*; got scaling=True"),
    ({"normalize": "no"}, (TypeError, ValueError), r"normalize.*'no'"),
    ({"average": "no"}, (TypeError, ValueError), r"average.*'no'"),
    ({"sharing": "both"}, ValueError, r"sharing must be .*'hybrid'.*; got sharing='both'"),
    ({"sharing": 3}, ValueError, r"sharing must be .*; got sharing=3"),
    ({"sharing": [{"a"}, {"b"}]}, ValueError, r"sharing must be .*Groups.*; got sharing=\["),
    ({"sharing": "single"}, ValueError, r"sharing='single' needs label features; got features=None\. Choose"),
    ({"sharing": "hybrid", "features": "last"}, ValueError, r"features='last'\. Choose one of first"),
    ({"sharing": "hybrid", "features": 5}, TypeError, r"features must be .*; got 5\. Choose"),
    ({"features": "first"}, ValueError, r"'multi' has no label features; got features='first'\. Use sharing='hybrid'"),
    ({"sharing": "single", "features": Frequency(high=0.1, low=0.2)}, ValueError, r"low=0\.2, high=0\.1"),
    ({"sharing": "single", "features": Frequency(high=float("nan"))}, ValueError, r"Frequency.*nan"),
    ({"sharing": "single", "features": Frequency(often=float("inf"))}, ValueError, r"often.*inf"),
    ({"sharing": Groups([{"a"}]), "features": "first"}, ValueError, r"Groups carries its own.*got features='first'"),
    ({"rule": "pa3"}, ValueError, r"rule must be one of perceptron, pa, .*; got rule='pa3'"),
    ({"rule": 7}, TypeError, r"rule must be .*; got 7\. Names"),
    ({"rule": None}, TypeError, r"rule must be .*; got None\. Names"),
    ({"rule": plain_function}, TypeError, r"compiled.*numba\.njit; got .*plain_function"),
    ({"rule": Optimal(solver="guess")}, ValueError, r"solver must be 'search' or 'interior-point'; got solver='guess'"),
    ({"rule": Mira(beta=0.0)}, ValueError, r"beta must be positive; got beta=0\.0"),
    ({"rule": Mira(cap=-1.0)}, ValueError, r"cap must be positive; got cap=-1\.0"),
    ({"C": 1e308}, ValueError, r"C must not exceed 1e\+50 where weights are float64; got C=1e\+308\. Try.*inf"),
    ({"C": 1e51, "rule": "perceptron"}, ValueError, r"C must not exceed 1e\+50.*got C=1e\+51"),
    ({"C": 1e16, "dtype": "float32"}, ValueError, r"C must not exceed 1e\+10 where weights are float32; got C=1e\+16"),
    ({"margin": 1e308}, ValueError, r"margin must not exceed 1e\+50.*; got margin=1e\+308"),
    ({"margin": 1e16, "dtype": "float32"}, ValueError, r"margin must not exceed 1e\+10.*; got margin=1e\+16"),
    ({"bias": 1e200}, ValueError, r"bias must not exceed 1e\+30.*; got bias=1e\+200"),
    ({"bias": -1e200}, ValueError, r"bias must not exceed 1e\+30.*; got bias=-1e\+200"),
    ({"bias": 1e16, "dtype": "float32"}, ValueError, r"bias must not exceed 1e\+10.*; got bias=1e\+16"),
    ({"rule": Mira(beta=1e300)}, ValueError, r"beta must not exceed 1e\+50.*; got beta=1e\+300"),
    ({"rule": Mira(cap=1e300)}, ValueError, r"cap must not exceed 1e\+50.*; got cap=1e\+300"),
    ({"sharing": "single", "features": Frequency(often=1e200)}, ValueError, r"often must not exceed.*often=1e\+200"),
    ({"class_weight": {"a": 1e300}}, ValueError, r"sample_weight must not exceed 1e\+50.*got 1e\+300"),
    ({"dtype": "float16"}, ValueError, r"dtype must be float32 or float64; got dtype='float16'"),
    ({"dtype": int}, ValueError, r"dtype must be float32 or float64; got dtype="),
    ({"dtype": "wide"}, (TypeError, ValueError), r"dtype must be float32 or float64; got dtype='wide'"),
    ({"n_features": 0}, ValueError, r"n_features must be a whole number of at least 1; got n_features=0"),
    ({"n_features": 2.5}, ValueError, r"n_features must be a whole number of at least 1; got n_features=2\.5"),
    ({"n_features": "3"}, ValueError, r"n_features must be a whole number of at least 1; got n_features='3'"),
    ({"class_weight": "balance"}, ValueError, r"class_weight must be .*'balanced'.*; got 'balance'"),
    ({"class_weight": [1.0, 2.0]}, ValueError, r"class_weight must be .*; got \[1\.0, 2\.0\]"),
    ({"class_weight": {"a": -1.0}}, ValueError, r"class_weight.*negative.*-1"),
    ({"class_weight": {"a": float("nan")}}, ValueError, r"class_weight.*(NaN|nan)"),
    ({"class_weight": {"a": "heavy"}}, (TypeError, ValueError), r"class_weight.*'heavy'"),
]


@pytest.mark.parametrize(
    ("settings", "problem", "words"), SETTINGS, ids=[str(s[0]).split(" at 0x")[0] for s in SETTINGS]
)
def test_a_bad_setting_is_refused_by_name_before_anything_is_learnt(settings, problem, words):
    for call in (
        lambda m: m.fit(X, Y),
        lambda m: m.partial_fit(X, Y),
        lambda m: m.learn_one(X[0], "a"),
        lambda m: progressive(m, X, Y),
    ):
        refused(hinged.Classifier(**settings), call, problem, words)
    refused(hinged.Ranker(**settings), lambda m: m.partial_fit(X, SETS), problem, words)


LARGEST = [{"C": 1e50}, {"margin": 1e50}, {"bias": 1e30}, {"C": 1e50, "margin": 1e50, "bias": -1e30}]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rule", sorted(hinged.rules.RULES))
@pytest.mark.parametrize("settings", LARGEST, ids=str)
def test_the_largest_settings_leave_every_number_finite(settings, rule, dtype):
    if dtype == "float32":
        settings = {name: 1e10 if value > 0 else -1e10 for name, value in settings.items()}
    rows = np.random.default_rng(1).normal(size=(60, 3)).astype(dtype)
    model = hinged.Classifier(rule, **settings)
    progressive(model, rows, Y * 15)
    assert np.isfinite(model.decision_function(rows)).all()
    assert np.isfinite(model.coef_).all()
    assert model.dual_ is None or np.isfinite(model.dual_)


def test_the_limit_follows_the_type_of_the_first_rows():
    words = r"C must not exceed 1e\+10 where weights are float32; got C=1e\+20"
    refused(hinged.Classifier(C=1e20), lambda m: m.partial_fit(X.astype(np.float32), Y), ValueError, words)
    model = hinged.Classifier(C=1.0).partial_fit(X.astype(np.float32), Y).set_params(C=1e20)
    refused(model, lambda m: m.partial_fit(X, Y), ValueError, words)
    assert hinged.Classifier(C=1e20).partial_fit(X, Y).n_rounds_ == 4


@pytest.mark.parametrize("epochs", [0, -1, 1.5, True, "2", None])
def test_epochs_are_a_whole_number(epochs):
    words = rf"epochs must be a whole number of at least 1; got epochs={epochs!r}"
    refused(hinged.Classifier(epochs=epochs), lambda m: m.fit(X, Y), ValueError, words)


def test_balanced_weights_need_all_labels_at_once():
    words = r"class_weight='balanced'.*fit only.*dict"
    refused(hinged.Classifier(class_weight="balanced"), lambda m: m.partial_fit(X, Y), ValueError, words)
    refused(
        hinged.Ranker(class_weight="balanced"), lambda m: m.fit(X, SETS), ValueError, words.replace("fit only.*", "")
    )


def test_groups_need_sets_and_as_many_features():
    with pytest.raises(ValueError, match=r"at least one set.*got none"):
        Groups([])
    with pytest.raises(ValueError, match=r"got 1 for 2 sets"):
        Groups([{"a"}, {"b"}], ["first"])


def test_a_bad_setting_of_a_model_that_has_learnt_is_refused_too():
    refused(
        of_matrices().set_params(C=-1.0), lambda m: m.partial_fit(X, Y), ValueError, r"C must be positive; got C=-1"
    )


# ------------------------------------------------------------------ values
def with_value(value):
    wrong = X.copy()
    wrong[2, 1] = value
    return wrong


VALUES = {
    "NaN": (with_value(np.nan), r"X contains NaN.*finite.*(drop|fill)"),
    "infinity": (with_value(np.inf), r"X contains infinity.*finite"),
    "minus infinity": (with_value(-np.inf), r"X contains infinity.*finite"),
    "sparse NaN": (sparse.csr_array(with_value(np.nan)), r"X contains NaN.*finite"),
    "sparse infinity": (sparse.coo_array(with_value(np.inf)), r"X contains infinity.*finite"),
    "NaN in float32": (with_value(np.nan).astype(np.float32), r"X contains NaN.*finite"),
    "NaN in a list": (with_value(np.nan).tolist(), r"X contains NaN.*finite"),
    "too large": (with_value(1e200), r"must not exceed.*1e\+?200.*[Ss]cale"),
    "words": ([["one", "two", "three"]] * 4, r"could not convert|numeric|numbers"),
    "nothing": ([[None, 1.0, 2.0]] * 4, r"NaN|numbers|None"),
    "complex": (X.astype(complex), r"[Cc]omplex"),
    "sparse complex": (sparse.csr_array(X.astype(complex)), r"[Cc]omplex"),
    "no rows": (np.empty((0, 3)), r"0 sample.*at least one row"),
    "no sparse rows": (sparse.csr_array((0, 3)), r"0 sample.*at least one row"),
    "no list": ([], r"(?i)expected 2d|at least one row|empty"),
    "one dimension": (X[0], r"(?is)expected 2d.*reshape"),
    "three dimensions": (X[None], r"(?i)dim 3|3D|expected <= 2"),
    "a number": (3.0, r"(?i)expected 2d|scalar"),
    "narrow": (X[:, :2], r"X has 2 features.*expecting 3"),
    "mixed rows": ([DICTS[0], [1.0, 2.0, 3.0], DICTS[2], DICTS[3]], r"dict"),
}


@pytest.mark.parametrize("what", VALUES)
def test_bad_rows_are_refused_wherever_rows_are_read(what):
    wrong, words = VALUES[what]
    y = Y[: len(wrong)] if isinstance(wrong, list) else Y
    for call in (
        lambda m: m.partial_fit(wrong, y),
        lambda m: m.fit(wrong, y) if what != "narrow" else m.predict(wrong),
        lambda m: m.predict(wrong),
        lambda m: m.decision_function(wrong),
        lambda m: m.rank(wrong),
        lambda m: m.confidence(wrong),
        lambda m: progressive(m, wrong, y),
    ):
        refused(of_matrices(), call, (ValueError, TypeError), words)


@pytest.mark.parametrize("what", sorted(set(VALUES) - {"narrow"}))
def test_a_fresh_model_that_refused_bad_rows_is_still_fresh(what):
    wrong, _ = VALUES[what]
    model = hinged.Classifier()
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(wrong, Y, classes=["declared", "too", "early"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert state(model.partial_fit(X, Y)) == state(hinged.Classifier().partial_fit(X, Y))


DICT_VALUES = {
    "NaN": ({"x": float("nan")}, ValueError, r"X contains NaN.*finite"),
    "infinity": ({"x": float("inf")}, ValueError, r"X contains infinity.*finite"),
    "a new name with NaN": ({"new": float("nan"), "x": 1.0}, ValueError, r"X contains NaN.*finite"),
    "too large": ({"x": 1e200}, ValueError, r"must not exceed.*1e\+?200.*[Ss]cale"),
    "a word": ({"x": "red"}, TypeError, r"numbers; got 'x': 'red'.*'x=red'"),
    "a numeral": ({"x": "2.5"}, TypeError, r"numbers; got 'x': '2\.5'"),
    "bytes": ({"x": b"2"}, TypeError, r"numbers; got 'x': b'2'"),
    "text of numpy": ({"x": np.str_("2")}, TypeError, r"numbers; got 'x'"),
    "a word under a new name": ({"colour": "red"}, TypeError, r"numbers; got 'colour': 'red'.*'colour=red'"),
    "nothing": ({"x": None}, TypeError, r"numbers; got 'x': None"),
    "a list": ({"x": [1.0]}, TypeError, r"numbers; got 'x': \[1\.0\]"),
    "an array": ({"x": np.array([1.0])}, TypeError, r"numbers; got 'x'"),
    "complex": ({"x": 1j}, TypeError, r"numbers; got 'x': 1j"),
}


@pytest.mark.parametrize("what", DICT_VALUES)
def test_bad_values_of_dicts_are_refused_whether_their_names_are_known_or_not(what):
    wrong, problem, words = DICT_VALUES[what]
    for call in (
        lambda m: m.learn_one(wrong, "a"),
        lambda m: m.partial_fit([DICTS[0], wrong], ["a", "new label"]),
        lambda m: m.predict([wrong]) if "new" not in what else m.learn_one(wrong, "b"),
        lambda m: m.predict_one(wrong) if "new" not in what else m.learn_one(wrong, "c"),
    ):
        refused(of_dicts(), call, problem, words)
    refused(hinged.Classifier(), lambda m: m.learn_one(wrong, "a"), problem, words)


def test_a_value_too_large_for_float32_weights_gets_a_sentence_not_a_warning():
    words = r"must not exceed.*1e\+?200.*[Ss]cale"
    model = hinged.Classifier(dtype=np.float32).partial_fit(X, Y)
    refused(model, lambda m: m.partial_fit(with_value(1e200), Y), ValueError, words)
    by_name = hinged.Classifier(dtype=np.float32).partial_fit(DICTS, Y)
    refused(by_name, lambda m: m.learn_one({"x": 1e200}, "a"), ValueError, words)


def test_a_wider_matrix_is_refused_where_nothing_is_learnt():
    wide = np.hstack([X, X])
    for call in (
        lambda m: m.predict(wide),
        lambda m: m.decision_function(wide),
        lambda m: m.rank(wide),
        lambda m: m.score_gap(wide),
        lambda m: m.confidence(wide),
        lambda m: m.explain(wide[0], "a"),
        lambda m: m.predict_one(wide[0]),
        lambda m: m.rank_one(wide[0]),
    ):
        refused(of_matrices(), call, ValueError, r"X has 6 features.*expecting 3")
    refused(of_matrices(), lambda m: m.predict([{5: 1.0}]), ValueError, r"column 5 is out of range.*3 columns")


def test_a_narrower_row_is_refused():
    refused(of_matrices(), lambda m: m.learn_one([1.0, 2.0], "a"), ValueError, r"X has 2 features.*expecting 3")


def test_one_row_is_one_row():
    for row, words in (
        (X, r"one row is .*; got an array of shape \(4, 3\)"),
        (sparse.csr_array(X), r"one row is .*; got a matrix of shape \(4, 3\)"),
        (3.0, r"one row is .*; got"),
        ("text", r"one row is .*; got"),
        (None, r"one row is .*; got"),
    ):
        refused(of_matrices(), lambda m, row=row: m.learn_one(row, "a"), (ValueError, TypeError), words)
        refused(of_matrices(), lambda m, row=row: m.predict_one(row), (ValueError, TypeError), words)


def test_more_columns_than_an_index_can_count_are_refused():
    beyond = sparse.csr_array(([1.0], ([0], [2**31])), shape=(1, 2**31 + 1))
    refused(
        hinged.Classifier(), lambda m: m.partial_fit(beyond, ["a"]), ValueError, r"at most \d+ columns.*got 2147483649"
    )
    model = of_matrices()
    refused(model, lambda m: m.learn_one({2**31: 1.0}, "a"), (TypeError, ValueError), r"column.*2147483648")
    refused(model, lambda m: m.learn_one({2**70: 1.0}, "a"), (TypeError, ValueError), r"column")


OUTSIDE = """
import numpy as np, hinged
from scipy import sparse

def stored(index, kind):
    "CSR made without SciPy's own look at the indices."
    made = sparse.csr_matrix((1, 3))
    made.data, made.indices, made.indptr = np.ones(1), np.array([index], kind), np.array([0, 1], kind)
    return made

for index, kind in ((7, np.int32), (2**30, np.int32), (-2, np.int32), (2**40, np.int64), (-2, np.int64)):
    model = hinged.Classifier().partial_fit(np.eye(3), ["a", "b", "c"])
    before = model.coef_.tobytes()
    for call in (lambda X: model.partial_fit(X, ["b"]), model.predict, lambda X: model.learn_one(X, "b")):
        try:
            call(stored(index, kind))
        except ValueError as refused:
            assert "column" in str(refused) and f"got {index}" in str(refused), refused
        else:
            raise SystemExit(f"a column index of {index} was accepted")
    assert model.coef_.tobytes() == before
"""


def test_indices_outside_the_matrix_are_refused():
    """In a process of its own: what is not refused here reads and writes memory that is not ours."""
    done = subprocess.run([sys.executable, "-c", OUTSIDE], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_matrix_means_nothing_to_a_model_of_dicts():
    for call in (lambda m: m.partial_fit(X, Y), lambda m: m.predict(X), lambda m: m.learn_one(X[0], "a")):
        refused(of_dicts(), call, ValueError, r"taught with dicts.*got a matrix.*Give dicts")


def test_names_mean_nothing_to_a_model_of_matrices():
    for call in (
        lambda m: m.partial_fit(DICTS, Y),
        lambda m: m.learn_one({"x": 1.0}, "a"),
        lambda m: m.predict_one({"x": 1.0}),
        lambda m: m.learn_one({-1: 1.0}, "a"),
        lambda m: m.learn_one({0.5: 1.0}, "a"),
    ):
        refused(of_matrices(), call, TypeError, r"taught with matrices.*column numbers; got .*Teach it with dicts")


# ------------------------------------------------------------------ answers
ANSWERS = {
    "too few": (Y[:3], ValueError, r"as many rows; got 4 rows and 3"),
    "too many": ([*Y, "a"], ValueError, r"as many rows; got 4 rows and 5"),
    "none": ([], ValueError, r"as many rows; got 4 rows and 0"),
    "no y": (None, ValueError, r"(?i)y.*None"),
    "one word": ("abca", ValueError, r"one label per row; got 'abca'.*list"),
    "one number": (3, ValueError, r"one label per row; got 3"),
    "a table": ([[1, 0]] * 4, (TypeError, ValueError), r"hashable.*list.*tuple"),
    "an array of two columns": (np.zeros((4, 2)), ValueError, r"1d.*shape \(4, 2\)"),
    "sets": (SETS, TypeError, r"hashable.*got a set.*tuple"),
    "a dict": (["a", {}, "b", "c"], TypeError, r"hashable.*got a dict"),
    "a tuple of lists": (["a", ([1],), "b", "c"], TypeError, r"label.*hashable"),
    "NaN": ([1.0, 2.0, float("nan"), 1.0], ValueError, r"y contains NaN.*(drop|name)"),
    "NaN in an array": (np.array([1.0, 2.0, np.nan, 1.0]), ValueError, r"y contains NaN"),
    "NaN of float32": ([np.float32(1), np.float32("nan"), 1, 1], ValueError, r"y contains NaN"),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_bad_labels_are_refused(what):
    wrong, problem, words = ANSWERS[what]
    for call in (lambda m: m.partial_fit(X, wrong), lambda m: m.fit(X, wrong), lambda m: progressive(m, X, wrong)):
        refused(of_matrices(), call, problem, words)
        refused(hinged.Classifier(), call, problem, words)


def test_a_bad_label_of_one_row_is_refused():
    for label, problem, words in (
        (["a"], TypeError, r"hashable.*got a list"),
        (([],), TypeError, r"label.*hashable"),
        (float("nan"), ValueError, r"NaN"),
    ):
        refused(of_matrices(), lambda m, y=label: m.learn_one(X[0], y), problem, words)
        refused(of_matrices(), lambda m, y=label: m.declare([y]), problem, words)
        refused(of_matrices(), lambda m, y=label: m.partial_fit(X, Y, classes=["a", y]), problem, words)
        refused(of_matrices(), lambda m, y=label: m.rename_label("a", y), problem, words)


SET_ANSWERS = {
    "too few": (SETS[:3], ValueError, r"as many rows; got 4.* 3"),
    "labels without sets": (Y, ValueError, r"collection of labels.*got 'a'.*Classifier"),
    "numbers": ([1, 2, 3, 4], ValueError, r"collection of labels.*got 1"),
    "one word": ("abca", ValueError, r"collection of labels per row; got 'abca'"),
    "no y": (None, ValueError, r"(?i)y.*None"),
    "unhashable labels": ([[["a"]], ["b"], ["c"], ["a"]], TypeError, r"label.*hashable"),
    "NaN": ([{float("nan")}, {1.0}, {1.0}, {1.0}], ValueError, r"NaN"),
    "an indicator of counts": (np.array([[2, 0], [0, 1], [1, 1], [0, 0]]), ValueError, r"0 and 1 only; got"),
    "an indicator with NaN": (np.array([[np.nan, 0], [0, 1], [1, 1], [0, 0]]), ValueError, r"0 and 1 only; got|NaN"),
    "a short indicator": (np.zeros((3, 2)), ValueError, r"as many rows; got 4 and 3"),
}


@pytest.mark.parametrize("what", SET_ANSWERS)
def test_bad_label_sets_are_refused(what):
    wrong, problem, words = SET_ANSWERS[what]
    for call in (lambda m: m.partial_fit(X, wrong), lambda m: progressive(m, X, wrong)):
        refused(of_sets(), call, problem, words)
        refused(hinged.Ranker(), call, problem, words)


def test_an_indicator_keeps_its_width():
    wide = np.zeros((4, 3), int)
    refused(of_indicators(), lambda m: m.partial_fit(X, wide), ValueError, r"y has 3 columns.*2")


def test_sets_and_indicators_do_not_mix():
    table = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    refused(of_sets(), lambda m: m.partial_fit(X, table), ValueError, r"indicator")


def test_a_refused_indicator_leaves_no_trace():
    refused(hinged.Ranker(C=-1.0), lambda m: m.partial_fit(X, np.eye(4)), ValueError, r"C must be positive")
    model = hinged.Ranker()
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X, np.eye(4), sample_weight=[-1.0] * 4)
    assert model.partial_fit(X, SETS).predict(X)[0] <= {"a", "b", "c"}


WEIGHTS = {
    "negative": ([1.0, -0.5, 1.0, 1.0], ValueError, r"sample_weight must not be negative; got -0\.5.*0"),
    "NaN": ([1.0, np.nan, 1.0, 1.0], ValueError, r"sample_weight must be finite; got NaN"),
    "infinity": ([1.0, np.inf, 1.0, 1.0], ValueError, r"sample_weight must be finite; got"),
    "too large": ([1.0, 1e300, 1.0, 1.0], ValueError, r"sample_weight must not exceed 1e\+50.*got 1e\+300.*C up"),
    "too few": ([1.0, 1.0], ValueError, r"sample_weight.*one number per row; got shape \(2,\) for 4"),
    "a table": (np.ones((4, 2)), ValueError, r"sample_weight.*got shape \(4, 2\) for 4"),
    "words": (["a", "b", "c", "d"], (TypeError, ValueError), r"sample_weight.*number"),
    "nothing in one": ([1.0, None, 1.0, 1.0], (TypeError, ValueError), r"sample_weight"),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_bad_weights_are_refused(what):
    wrong, problem, words = WEIGHTS[what]
    for call in (
        lambda m: m.partial_fit(X, Y, sample_weight=wrong),
        lambda m: m.fit(X, Y, sample_weight=wrong),
        lambda m: progressive(m, X, Y, sample_weight=wrong),
        lambda m: m.partial_fit(X, ["new"] * 4, classes=["newer"], sample_weight=wrong),
    ):
        refused(of_matrices(), call, problem, words)


def test_a_bad_weight_of_one_row_is_refused():
    for weight in (-1.0, float("nan"), "heavy"):
        call = lambda m, w=weight: m.learn_one(X[0], "new", sample_weight=w)  # noqa: E731
        refused(of_matrices(), call, (TypeError, ValueError), r"sample_weight")


@pytest.mark.parametrize("delay", [-1, 1.5, True, "3", None])
def test_a_bad_delay_is_refused(delay):
    words = rf"delay must be a whole number of at least 0; got delay={delay!r}"
    refused(of_matrices(), lambda m: progressive(m, X, Y, delay=delay), ValueError, words)


# ------------------------------------------------------------------ too many labels for a joint solution
@pytest.mark.parametrize("rule", ["optimal", "mira"])
def test_a_joint_rule_on_shared_weights_refuses_more_labels_than_it_can_solve_for(rule):
    many = range(2001)
    words = r"at most 2000.*got 200[1-9].*sharing='multi'.*simproj"
    settings = {"rule": rule, "sharing": "hybrid", "features": "frequency"}
    refused(hinged.Classifier(**settings), lambda m: m.declare(many), ValueError, words)
    refused(hinged.Classifier(**settings), lambda m: m.partial_fit(X, Y, classes=many), ValueError, words)
    wide, labels = np.ones((2001, 1)), list(many)
    refused(hinged.Classifier(**settings), lambda m: m.partial_fit(wide, labels), ValueError, words)
    full = hinged.Classifier(**settings).declare(range(2000))
    refused(full, lambda m: m.learn_one([1.0], "one too many"), ValueError, words)
    refused(hinged.Classifier(**settings), lambda m: m.partial_fit(X, Y, classes=range(1999)), ValueError, words)
    assert len(hinged.Classifier(rule=rule).declare(many).classes_) == 2001


# ------------------------------------------------------------------ documented no-ops
def test_one_known_label_has_no_rival_and_asks_for_nothing():
    model = hinged.Classifier().declare(["only"])
    progress = progressive(model, X, ["only"] * 4)
    assert progress.flags.tolist() == [0, 0, 0, 0]
    assert (model.n_updates_, model.n_rounds_) == (0, 4)
    np.testing.assert_array_equal(model.coef_, np.zeros((1, 3)))
    assert model.predict(X).tolist() == ["only"] * 4
    np.testing.assert_array_equal(model.confidence(X) <= 1.0, True)


def test_an_empty_set_and_a_set_of_everything_ask_for_nothing():
    model = of_sets()
    coef, shared, updates = model.coef_.tobytes(), model.shared_coef_.tobytes(), model.n_updates_
    progress = progressive(model, X, [set(), {"a", "b", "c"}, [], ("c", "b", "a")])
    assert progress.flags.tolist() == [0, 0, 0, 0]
    assert (model.coef_.tobytes(), model.shared_coef_.tobytes(), model.n_updates_) == (coef, shared, updates)


@pytest.mark.parametrize("rule", sorted(hinged.rules.RULES))
def test_a_row_without_values_moves_no_weight(rule):
    model = papers.Classifier(rule).partial_fit(X, Y).partial_fit(X, Y)
    coef = model.coef_.tobytes()
    progress = progressive(model, np.zeros((3, 3)), ["c", "b", "a"])
    assert model.coef_.tobytes() == coef
    assert progress.flags.tolist() == [1, 1, 1]  # a tie of all at 0
    assert progress.updates == (0 if rule in ("pa", "mira") else 3)


# ------------------------------------------------------------------ questions that have no answer
def test_a_model_that_has_learnt_nothing_says_so():
    for model in (hinged.Classifier(), hinged.Classifier().declare(["a", "b"])):
        for call in (
            lambda m: m.predict(X),
            lambda m: m.decision_function(X),
            lambda m: m.rank(X),
            lambda m: m.confidence(X),
            lambda m: m.explain(X[0], "a"),
        ):
            refused(model, call, NotFittedError, r"not fitted yet.*Call fit")
        for name in ("coef_", "n_rounds_", "dual_"):
            with pytest.raises(AttributeError, match=rf"{name} exists after learning"):
                getattr(model, name)
        assert model.predict_one(X[0]) is None
        assert model.rank_one(X[0]) == []


def test_an_unknown_label_is_named_beside_the_known_ones():
    for call in (
        lambda m: m.explain(X[0], "d"),
        lambda m: m.rename_label("d", "e"),
        lambda m: m.merge_labels("d", "a"),
        lambda m: m.merge_labels("a", "d"),
        lambda m: m.remove_label("d"),
    ):
        refused(of_matrices(), call, ValueError, r"label 'd' is not known; known are \['a', 'b', 'c'\]")


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "3"])
def test_a_ranking_shows_at_least_one_label(top):
    words = rf"top must be a whole number of at least 1; got top={top!r}"
    for call in (
        lambda m: m.rank(X, top=top),
        lambda m: m.rank_one(X[0], top=top),
        lambda m: m.explain(X[0], "a", top=top),
    ):
        refused(of_matrices(), call, ValueError, words)


def test_edits_that_make_no_sense_are_refused():
    refused(of_matrices(), lambda m: m.rename_label("a", "b"), ValueError, r"'b' exists already; use merge_labels")
    refused(of_matrices(), lambda m: m.merge_labels("a", "a"), ValueError, r"two labels; got 'a' twice")


# ------------------------------------------------------------------ functions of the user's own
def stumbling(failure):
    """Label features that go wrong at the fourth row."""

    def phi(x, label):
        return failure(x) if x.get(0) == 9.0 else {(name, label): value for name, value in x.items()}

    return phi


def no_answer(x):
    raise RuntimeError("the user's own trouble")


@pytest.mark.parametrize(
    ("failure", "problem", "words"),
    [
        (no_answer, RuntimeError, "the user's own trouble"),
        (lambda x: 3.0, (TypeError, ValueError), r"label features.*dict.*3\.0"),
        (lambda x: {"a": float("nan")}, ValueError, r"label features.*(NaN|nan|finite)"),
        (lambda x: {"a": "red"}, (TypeError, ValueError), r"label features.*'red'"),
    ],
    ids=["raises", "no dict", "NaN", "a word"],
)
def test_label_features_that_go_wrong_midway_leave_the_model_as_it_was(failure, problem, words):
    def taught():
        return hinged.Classifier(sharing="hybrid", features=stumbling(failure)).partial_fit(X, Y)

    rows, labels = np.vstack([X, X]), ["new", "a", "newer", *Y, "b"]
    rows[5, 0] = 9.0
    refused(taught(), lambda m: m.partial_fit(rows, labels), problem, words)
    model = taught()
    with pytest.raises(problem):
        model.partial_fit(rows, labels)
    assert state(model.partial_fit(X, [*Y[:3], "late"])) == state(taught().partial_fit(X, [*Y[:3], "late"]))


def failing(name):
    """Label features that go wrong where a row has that name."""

    def phi(x, label):
        return no_answer(x) if name in x else {(key, label): value for key, value in x.items()}

    return phi


@pytest.mark.parametrize("taught", [True, False], ids=["taught", "fresh"])
def test_label_features_that_go_wrong_leave_no_trace_of_one_row(taught):
    def made():
        model = hinged.Classifier(sharing="hybrid", features=failing("trouble"), scaling="idf")
        return model.partial_fit(DICTS, Y) if taught else model.declare(["a", "b"])

    bad = {"trouble": 1.0, "new": 2.0}
    for call in (
        lambda m: m.learn_one(bad, "a"),
        lambda m: m.learn_one(bad, "a new label"),
        lambda m: m.learn_one(bad, "a", sample_weight=0.5),
        lambda m: m.partial_fit([bad], ["b"], classes=["another", "b"]),
        lambda m: m.partial_fit([DICTS[0], bad], ["newer", "newest"]),
        lambda m: progressive(m, [DICTS[1], bad], ["newer", "a"], delay=1),
    ):
        model = made()
        refused(model, call, RuntimeError, "the user's own trouble")
        for m in (model, again := made()):
            m.learn_one({"fine": 1.0, "x": 2.0}, "late")
            m.partial_fit(DICTS, Y)
        assert state(model) == state(again)


def test_a_rule_that_does_not_compile_leaves_no_trace():
    @njit
    def broken(scores, relevant, norms, margin, C, g):
        g[0] = "no number"

    model = hinged.Classifier().partial_fit(DICTS, Y).set_params(rule=broken)
    refused(model, lambda m: m.learn_one({"new": 1.0}, "new"), TypingError, "no number|Cannot|cannot|resolve")
    refused(
        hinged.Classifier(rule=broken),
        lambda m: m.partial_fit(DICTS, Y, classes=["z"]),
        TypingError,
        "no number|Cannot|cannot|resolve",
    )


def test_a_setting_that_cannot_change_is_refused_before_labels_are_declared():
    model = of_matrices().set_params(bias=1.0)
    refused(model, lambda m: m.partial_fit(X, Y, classes=["declared"]), ValueError, r"bias cannot change")


@pytest.mark.parametrize("settings", [{}, {"sharing": "hybrid", "features": "frequency"}], ids=["multi", "hybrid"])
def test_an_interrupted_call_leaves_labels_and_weights_in_step(settings):
    """Ctrl-C while a progress bar is shown: the rounds that were done are whole, with their labels."""
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(1000, 4)), [f"label {i // 40}" for i in range(1000)]
    shown = []

    def advance(rounds):
        shown.append(rounds)
        if sum(shown) >= 500:
            raise KeyboardInterrupt

    model = hinged.Classifier(**settings).partial_fit(X[:, [0, 1, 2, 0]], Y)
    expected = hinged.Classifier(**settings).partial_fit(X[:, [0, 1, 2, 0]], Y)
    with pytest.raises(KeyboardInterrupt):
        model.learn_rounds(rows, labels, advance=advance)
    if model.n_rounds_ > 4:
        expected.partial_fit(rows[: sum(shown)], labels[: sum(shown)])
    for m in (model, expected):
        m.learn_one(rows[999], "late")
        m.partial_fit(rows[:100], labels[900:])
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.decision_function(rows), expected.decision_function(rows))
