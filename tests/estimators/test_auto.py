"""Settings that are "auto": what the first row decides, for how long, and how well a newcomer does with them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from tests import plain as papers

import hinged
from hinged.evaluate import progressive
from hinged.mercer import Gaussian

KINDS = (hinged.Classifier, hinged.Ranker, hinged.BinaryClassifier, hinged.Regressor, hinged.OrdinalClassifier)
SIDE_BY_SIDE = KINDS[:4]
OF_LABELS = KINDS[:2]
WIDTH = 4
SOFT = hinged.rules.Optimal(slack=1.0)
every_kind = pytest.mark.parametrize("kind", KINDS)


def columns(n=40, seed=1):
    """Columns of numbers, each with a unit and a mean of its own."""
    return np.random.default_rng(seed).normal(size=(n, WIDTH)) * [1.0, 30.0, 0.01, 5.0] + [100.0, -7.0, 0.0, 2.0]


def words(n=40, seed=2):
    """Counts of words; a row has a few of many."""
    counts = np.random.default_rng(seed).poisson(0.25, size=(n, 12)).astype(float)
    counts[:, 0] = 0.0  # the first row has a gap in any case
    counts[0, 1] = 1.0
    return counts


def named(X):
    return [{f"w{j}": float(row[j]) for j in np.flatnonzero(row)} for row in X]


INPUTS = {
    "matrix": columns,
    "frame": lambda: pd.DataFrame(columns(), columns=list("abcd")),
    "sparse": lambda: sparse.csr_array(words()),
    "dicts": lambda: named(words()),
}
every_input = pytest.mark.parametrize("form", INPUTS)


def answers(kind, n=40, seed=3):
    """What a kind of learner is told, labels one after another."""
    drawn = np.random.default_rng(seed).integers(0, 2 if kind is hinged.BinaryClassifier else 3, n).tolist()
    if kind is hinged.Ranker:
        return [{f"label {r}", f"label {(r + 1) % 4}"} for r in drawn]
    if kind is hinged.Regressor:
        return [100.0 + 3.0 * r for r in drawn]
    return sorted(drawn[:5]) + drawn[5:] if kind is hinged.OrdinalClassifier else [f"label {r}" for r in drawn]


def rows_of(X):
    """Every row as one learner is given it."""
    if isinstance(X, pd.DataFrame):
        return [X.iloc[[i]] for i in range(len(X))]
    return X if isinstance(X, list) else [X[[i]] for i in range(X.shape[0])]


def declared(model, kind):
    """A learner of ranks that knows them in advance; a late one must not lie between others."""
    return model.declare([0, 1, 2]) if kind is hinged.OrdinalClassifier else model


def seen(model, X):
    """Scores and counts to the last bit."""
    ask = model.predict if isinstance(model, hinged.Regressor) else model.decision_function
    return np.asarray(ask(X)).tolist(), model.n_mistakes_, model.n_updates_, getattr(model, "experts_", None)


def taught(kind, form, **settings):
    return declared(kind(**settings), kind).partial_fit(INPUTS[form](), answers(kind))


# ------------------------------------------------------------------ what is chosen
@every_kind
@pytest.mark.parametrize("form", ["matrix", "frame"])
def test_columns_of_numbers_are_standardised(kind, form):
    settled = taught(kind, form).settled_
    assert (settled["scaling"], settled["normalize"]) == ("standard", False)
    if kind is hinged.OrdinalClassifier:
        assert (settled["rule"], settled["C"], settled["average"], settled["bias"]) == (SOFT, 10**0.5, True, 0.0)
        return
    sets = kind is hinged.Ranker
    assert settled["rule"] == (SOFT if sets else "optimal" if kind in OF_LABELS else "pa1")
    assert settled["bias"] == 1.0 / np.sqrt(WIDTH)
    assert (len(settled["C"]), settled["average"]) == (1 if sets else 2, "expert")


@every_kind
@pytest.mark.parametrize("form", ["sparse", "dicts"])
def test_rows_with_gaps_are_scaled_feature_by_feature(kind, form):
    settled = taught(kind, form).settled_
    assert (settled["scaling"], settled["normalize"]) == ("mixed", False)
    if kind is hinged.OrdinalClassifier:
        assert settled["bias"] == 0.0
    else:  # words need no constant feature, label sets do
        assert settled["bias"] == (0.5 if kind is hinged.Ranker else 0.0)
    if kind in SIDE_BY_SIDE:
        assert (len(settled["C"]), settled["average"]) == (1, "expert")


@pytest.mark.parametrize("form", ["matrix", "dicts"])
def test_numbers_to_predict_are_scaled_with_the_rows(form):
    assert taught(hinged.Regressor, form).settled_["target_scaling"] == "standard"
    assert taught(hinged.Regressor, form, scaling=None).settled_["target_scaling"] is None


@every_kind
@every_input
def test_nothing_is_left_to_choose(kind, form):
    for settings in ({}, {"C": 0.5}, {"average": True}, {"scaling": None}, {"scaling": None, "average": True}):
        assert "auto" not in taught(kind, form, **settings).settled_.values()


@every_kind
def test_settings_that_are_given_stay(kind):
    given = {"rule": "pa1", "C": 0.5, "scaling": "idf", "normalize": False, "average": False, "bias": 0.25}
    settled = taught(kind, "matrix", **given).settled_
    assert {name: settled[name] for name in given} == given


@pytest.mark.parametrize("kind", SIDE_BY_SIDE)
def test_an_explicit_step_is_one_learner(kind):
    model = taught(kind, "matrix", C=0.5)
    assert (model.settled_["C"], model.settled_["average"], model.experts_) == (0.5, False, {})
    assert taught(kind, "matrix").experts_ != {}


@pytest.mark.parametrize("kind", SIDE_BY_SIDE)
def test_a_rule_that_reads_no_step_size_is_one_learner(kind):
    model = taught(kind, "matrix", rule="pa")
    assert (model.settled_["rule"], model.settled_["C"], model.settled_["average"]) == ("pa", 1.0, False)
    assert model.experts_ == {}


PLAIN = {"rule": "pa1", "C": 1.0, "scaling": None, "normalize": False, "average": False, "bias": 0.0}


@pytest.mark.parametrize("kind", SIDE_BY_SIDE)
@every_input
def test_with_a_kernel_every_choice_is_the_plain_one(kind, form):
    model = taught(kind, form, kernel=Gaussian(0.1))
    assert {name: model.settled_[name] for name in PLAIN} == PLAIN
    twin = declared(getattr(papers, kind.__name__)(kernel=Gaussian(0.1)), kind)
    twin.partial_fit(INPUTS[form](), answers(kind))
    assert seen(model, INPUTS[form]()) == seen(twin, INPUTS[form]())


@pytest.mark.filterwarnings("ignore:margin=.* is out of reach")
@pytest.mark.parametrize("kind", OF_LABELS)
def test_on_a_simplex_every_choice_is_the_plain_one(kind):
    assert taught(kind, "matrix", geometry="entropy").settled_ == PLAIN


@pytest.mark.parametrize("kind", OF_LABELS)
def test_shared_vectors_are_one_learner_of_words_by_rarity(kind):
    settled = taught(kind, "dicts", sharing="hybrid", features="tfidf").settled_
    assert settled == PLAIN | {"scaling": "idf", "normalize": True}
    settled = taught(kind, "matrix", sharing="hybrid", features="distance").settled_
    assert settled == PLAIN
    settled = taught(kind, "dicts", sharing="single", features=lambda x, label: {label: 1.0}).settled_
    assert settled == PLAIN


def test_groups_without_label_features_are_one_learner_of_scaled_rows():
    groups = hinged.sharing.Groups([{"label 0", "label 1"}, {"label 2"}])
    settled = taught(hinged.Classifier, "matrix", sharing=groups).settled_
    assert settled == PLAIN | {"scaling": "standard", "bias": 0.5}


# ------------------------------------------------------------------ the first row decides
@every_kind
@every_input
def test_one_row_at_a_time_is_one_batch_to_the_last_bit(kind, form):
    X, y = INPUTS[form](), answers(kind)
    at_once, one_by_one = (declared(kind(), kind) for _ in range(2))
    at_once.partial_fit(X, y)
    for x, answer in zip(rows_of(X), y, strict=True):
        one_by_one.learn_one(x, answer)
    assert one_by_one.settled_ == at_once.settled_
    assert seen(one_by_one, X) == seen(at_once, X)


@pytest.mark.parametrize("kind", SIDE_BY_SIDE)  # ranks have thresholds in place of a constant feature
def test_only_the_first_row_is_looked_at(kind):
    least = 0.5 if kind is hinged.Ranker else 0.0
    numbers_first = np.vstack([np.full((1, 12), 2.5), words()])
    model = kind().partial_fit(sparse.csr_array(numbers_first), answers(kind, 41))
    assert model.settled_["bias"] == max(least, 1.0 / np.sqrt(12))
    words_first = np.vstack([words(1), np.full((40, 12), 2.5)])
    model = kind().partial_fit(sparse.csr_array(words_first), answers(kind, 41))
    assert model.settled_["bias"] == least


@every_kind
def test_later_rows_of_another_form_change_no_setting(kind):
    X, y = words(), answers(kind)
    model = declared(kind(), kind).partial_fit(X, y)
    before = model.settled_
    assert model.partial_fit(sparse.csr_array(X), y).settled_ == before


@every_kind
def test_fit_on_other_input_chooses_anew(kind):
    model = kind().fit(columns(), answers(kind))
    assert model.settled_["scaling"] == "standard"
    model.fit(named(words()), answers(kind))
    assert model.settled_["scaling"] == "mixed"
    assert seen(model, named(words())) == seen(kind().fit(named(words()), answers(kind)), named(words()))


@every_kind
@every_input
def test_a_refused_first_call_leaves_nothing_chosen(kind, form):
    model, X = kind(), INPUTS[form]()
    before = dict(vars(model))
    for call in (model.partial_fit, model.fit):
        with pytest.raises((ValueError, TypeError)):
            call(X, answers(kind)[:-1])
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X, answers(kind), sample_weight=[-1.0] * 40)
    assert {name: value for name, value in vars(model).items() if name != "_lock"} == before
    assert not hasattr(model, "settled_")
    other = declared(model, kind).partial_fit(named(words()), answers(kind))
    assert seen(other, named(words())) == seen(taught(kind, "dicts"), named(words()))


# ------------------------------------------------------------------ what was chosen is kept
def by_file(model, folder):
    model.save(folder / "model")
    return hinged.load(folder / "model")


COPIES = {
    "file": by_file,
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "deep copy": lambda model, _: copy.deepcopy(model),
    "copy of an unchanged setting": lambda model, _: copy.deepcopy(model).set_params(epochs=3),
}


@every_kind
@every_input
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_goes_on_by_what_was_chosen(kind, form, way, tmp_path):
    X, model = INPUTS[form](), taught(kind, form)
    other = COPIES[way](model, tmp_path)
    assert other.settled_ == model.settled_
    assert other.get_params()["scaling"] == "auto"
    assert seen(other, X) == seen(model, X)
    for one in (model, other):
        one.partial_fit(X, answers(kind, seed=4))
    assert other.settled_ == model.settled_
    assert seen(other, X) == seen(model, X)


@every_kind
def test_a_clone_has_chosen_nothing(kind):
    fresh = clone(taught(kind, "dicts"))
    assert fresh.get_params() == kind().get_params()
    assert declared(fresh, kind).partial_fit(columns(), answers(kind)).settled_["scaling"] == "standard"


@every_kind
def test_spelling_out_what_was_chosen_is_refused_as_a_change_or_changes_nothing(kind):
    model = taught(kind, "matrix")
    before = seen(model, columns())
    model.set_params(scaling="idf")
    with pytest.raises(ValueError, match="scaling"):
        model.partial_fit(columns(), answers(kind))
    assert seen(model.set_params(scaling="auto"), columns()) == before
    model.partial_fit(columns(), answers(kind))


@pytest.mark.parametrize("kind", SIDE_BY_SIDE)
def test_a_step_size_is_refused_where_several_learn(kind):
    model = taught(kind, "matrix").set_params(C=0.5)
    with pytest.raises(ValueError, match="C cannot change between 'auto' and a number"):
        model.partial_fit(columns(), answers(kind))
    model.set_params(C="auto").partial_fit(columns(), answers(kind))


# ------------------------------------------------------------------ a newcomer
def test_wine_is_learnt_from_raw_columns_with_few_mistakes():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    assert progressive(hinged.Classifier(), X[order], y[order]).mistakes <= 10


def test_two_wines_are_told_apart_from_raw_columns():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(np.flatnonzero(y < 2))
    assert progressive(hinged.BinaryClassifier(), X[order], y[order]).mistakes <= 10


def test_stars_are_graded():
    model = hinged.OrdinalClassifier(order=["poor", "fair", "good"])
    for stars, grade in [(1, "poor"), (2, "poor"), (3, "fair"), (4, "good"), (5, "good")] * 20:
        model.learn_one({"stars": stars}, grade)
    assert [model.predict_one({"stars": n}) for n in range(1, 6)] == ["poor", "poor", "fair", "good", "good"]


def houses(n=1000):
    """Prices far from 0 by columns in units of their own."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.gamma(4.0, 1e4, n), rng.integers(1, 60, n), rng.normal(35.6, 2.0, n)])
    return X, 2e5 + 4.0 * X[:, 0] - 900.0 * X[:, 1] - 8e3 * (X[:, 2] - 35.6) + rng.normal(0.0, 2e4, n)


@pytest.mark.parametrize("numbers", [lambda: load_diabetes(return_X_y=True, scaled=False), houses])
def test_raw_numbers_are_predicted_better_than_by_their_mean(numbers):
    X, y = numbers()
    told = progressive(hinged.Regressor(epsilon=0.0), X, y)
    so_far = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])
    assert np.mean(told.losses[20:]) < 0.9 * np.mean(np.abs(y - so_far)[20:])
    fitted = hinged.Regressor(epochs=3).fit(X, y)
    assert fitted.score(X, y) > 0.35


def test_queues_taught_once_by_their_words_are_predicted_right():
    model = hinged.Classifier()
    lessons = {
        "billing": "invoice payment refund card",
        "technical": "error crash login screen",
        "sales": "price offer licence discount",
    }
    for queue, text in lessons.items():
        model.learn_one(dict.fromkeys(text.split(), 1), queue)
    assert [model.predict_one(dict.fromkeys(text.split(), 1)) for text in lessons.values()] == list(lessons)
    assert model.predict_one({"my": 1, "card": 1}) == "billing"
    assert model.predict_one({"login": 1, "again": 1}) == "technical"


# ------------------------------------------------------------------ corners
@pytest.mark.parametrize("kind", SIDE_BY_SIDE)
@pytest.mark.parametrize("empty", [{}, sparse.csr_array((1, 4))], ids=["dict", "sparse"])
def test_an_empty_first_row_is_one_of_words(kind, empty):
    model = kind()
    model.learn_one(empty, answers(kind)[0])
    assert model.settled_["bias"] == (0.5 if kind is hinged.Ranker else 0.0)


def test_a_sparse_matrix_may_have_gaps_whatever_its_first_row():
    rows = {scaling: np.array(row) for scaling, row in {"full": [[5.0, 1, 7]], "late": [[0.0, 5, 7]]}.items()}
    settled = [hinged.Classifier().partial_fit(sparse.csr_array(row), ["a"]).settled_ for row in rows.values()]
    assert [each["scaling"] for each in settled] == ["mixed", "mixed"]


@pytest.mark.parametrize("change", [{"C": 1.0}, {"rule": "pa"}, {"average": True}], ids=str)
@pytest.mark.parametrize("kind", [hinged.Classifier, hinged.BinaryClassifier])
def test_settings_that_a_model_cannot_follow_are_not_saved(kind, change, tmp_path):
    model = kind().partial_fit(columns(), answers(hinged.BinaryClassifier))
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(**change).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("average", [True, False, "auto"])
def test_two_labels_on_one_vector_have_twice_the_cap(average):
    def caps(kind):
        C = kind(average=average).partial_fit(INPUTS["dicts"](), answers(hinged.BinaryClassifier)).settled_["C"]
        return np.atleast_1d(C).tolist()

    assert caps(hinged.BinaryClassifier) == [2.0 * C for C in caps(hinged.Classifier)]
