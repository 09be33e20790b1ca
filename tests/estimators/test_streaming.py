"""What streaming promises: cut it as you like, labels and features come when they come, and edits keep the rest."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests import plain as papers
from tests.estimators.own_rule import half_of_pa

import hinged
from hinged.evaluate import progressive

SCHEMES = {
    "multi": {},
    "single first": {"sharing": "single", "features": "first"},
    "single frequency": {"sharing": "single", "features": "frequency"},
    "single distance": {"sharing": "single", "features": "distance"},
    "single tfidf": {"sharing": "single", "features": "tfidf"},
    "hybrid frequency": {"sharing": "hybrid", "features": "frequency"},
    "hybrid distance": {"sharing": "hybrid", "features": "distance"},
    "own features": {"sharing": "hybrid", "features": lambda x, r: {(name, r): v for name, v in x.items()}},
    "groups": {"sharing": hinged.sharing.Groups([{0}, {1}, {2, 3}, {0, 1, 2}])},
    "groups with features": {"sharing": hinged.sharing.Groups([{0}, {1, 2}, {0, 1, 2, 3}], [None, None, "frequency"])},
}
OPTIONS = {
    "plain": {},
    "scaled": {"scaling": "idf", "normalize": True, "bias": 0.5},
    "standard": {"scaling": "standard", "bias": 0.5},
    "average": {"average": True},
    "float32": {"dtype": np.float32, "scaling": "idf", "average": True},
}


#: Label features that count words, which scaling="standard" refuses.
COUNTING = ("single frequency", "single tfidf", "hybrid frequency", "groups with features")
PAIRS = [(scheme, options) for scheme in SCHEMES for options in OPTIONS]
PAIRS = [pair for pair in PAIRS if pair[1] != "standard" or pair[0] not in COUNTING]


def stream(seed, rounds=60, features=8, labels=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 4, (rounds, features)) * (rng.random((rounds, features)) < 0.5)
    y = np.argmax(X @ rng.normal(size=(features, labels)), axis=1)
    return X.astype(float), y.tolist()


def mail(seed, rounds, labels, vocabulary=60):
    """Dicts whose names and labels appear over time."""
    rng = np.random.default_rng(seed)
    rows, y = [], []
    for t in range(rounds):
        known = 2 + (labels - 2) * t // rounds
        label = int(rng.integers(0, known))
        words = rng.integers(0, 5 + vocabulary * (t + 1) // rounds, 4)
        rows.append({f"w{w}": float(c) for w, c in zip(words, rng.integers(1, 4, 4), strict=True)} | {f"l{label}": 1.0})
        y.append(f"label {label}")
    return rows, y


def facts(model, probes):
    """Everything learnt that can be seen, to compare bit for bit."""
    shown = {
        "classes": model.classes_.tolist(),
        "counts": (model.n_rounds_, model.n_mistakes_, model.n_updates_, model.n_novel_),
        "dual": model.dual_,
        "coef": (model.coef_.dtype, model.coef_.tobytes()),
        "scores": model.decision_function(probes).tobytes(),
        "confidence": model.confidence(probes).tobytes(),
    }
    if hasattr(model, "shared_coef_"):
        shown["shared"] = model.shared_coef_.tobytes()
    return shown


# ------------------------------------------------------------------ cut as you like
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(("scheme", "options"), PAIRS, ids="-".join)
def test_learning_one_by_one_equals_learning_a_matrix_bit_for_bit(scheme, options, weighted):
    X, y = stream(1)
    weights = np.random.default_rng(2).choice([0.0, 0.25, 1.0, 3.0], len(y)) if weighted else None
    settings = SCHEMES[scheme] | OPTIONS[options]
    whole = hinged.Classifier(rule="simproj", **settings).partial_fit(X, y, sample_weight=weights)
    one = hinged.Classifier(rule="simproj", **settings)
    for i in range(len(y)):
        one.learn_one(X[i], y[i], sample_weight=None if weights is None else weights[i])
    assert facts(one, X) == facts(whole, X)


@pytest.mark.parametrize("rule", sorted(hinged.rules.RULES))
@pytest.mark.parametrize("scheme", ["multi", "hybrid frequency"])
def test_every_rule_may_learn_row_by_row(rule, scheme):
    X, y = stream(3)
    whole = hinged.Classifier(rule=rule, **SCHEMES[scheme]).partial_fit(X, y)
    one = hinged.Classifier(rule=rule, **SCHEMES[scheme])
    for x, label in zip(X, y, strict=True):
        one.learn_one(x, label)
    assert facts(one, X) == facts(whole, X)


def sparse_stream(rounds, features, most, zeros=0.0, labels=5):
    """Sparse rows of any length up to `most`, none among them; some of the values kept are 0."""
    rng = np.random.default_rng(rounds)
    lengths = rng.integers(0, most + 1, rounds)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    columns = [np.sort(rng.choice(features, n, replace=False)) for n in lengths]
    values = rng.integers(1, 4, indptr[-1]) * (rng.random(indptr[-1]) >= zeros)
    X = csr_array((values.astype(np.float32), np.concatenate(columns).astype(np.int32), indptr), (rounds, features))
    return X, np.argmax(X @ rng.normal(size=(features, labels)), axis=1)


@pytest.mark.parametrize("zeros", [0.0, 0.05], ids=["", "zeros"])
@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("rule", ["pa1", "pa2", "simproj", "optimal"])
def test_sparse_rows_one_after_the_other_are_learnt_as_each_alone(rule, bias, zeros):
    X, y = sparse_stream(300, 30, 12, zeros)
    whole = hinged.Classifier(rule=rule, bias=bias).partial_fit(X, y, classes=range(5))
    one = hinged.Classifier(rule=rule, bias=bias).declare(range(5))
    for i in range(len(y)):
        one.partial_fit(X[i : i + 1], y[i : i + 1])
    assert 0 < whole.n_updates_ < 300
    assert facts(one, X) == facts(whole, X)


BATCHES = st.tuples(st.integers(1, 400), st.sampled_from([12, 20, 40, 90]), st.sampled_from([2, 5, 12, 70]))
EDITS = st.sampled_from(["remove", "merge", "pickle"])


@given(
    st.lists(BATCHES | EDITS, min_size=1, max_size=6), st.sampled_from(["pa1", "simproj"]), st.sampled_from([0.0, 0.5])
)
def test_rows_learnt_at_once_and_one_by_one_stay_equal_through_growth_and_edits(deeds, rule, bias):
    whole, one = (hinged.Classifier(rule=rule, bias=bias).declare(range(2)) for _ in range(2))
    width = 0
    for deed in deeds:
        if isinstance(deed, tuple):
            rounds, width, labels = deed[0], max(width, deed[1]), deed[2]
            X, y = sparse_stream(rounds, width, 12, labels=labels)
            whole.partial_fit(X, y)
            for i in range(rounds):
                one.partial_fit(X[i : i + 1], y[i : i + 1])
        elif deed == "pickle":
            whole = pickle.loads(pickle.dumps(whole))
        elif width and len(whole.classes_) > 2:
            last, first = whole.classes_[-1], whole.classes_[0]
            for model in (whole, one):
                model.remove_label(last) if deed == "remove" else model.merge_labels(last, first)
    if width:
        assert facts(one, X) == facts(whole, X)


def test_many_values_at_once_are_learnt_as_some_at_a_time():
    X, y = sparse_stream(18_000, 3000, 130)
    assert X.nnz > 1 << 20
    whole = hinged.Classifier().partial_fit(X, y, classes=range(5))
    parts = hinged.Classifier().declare(range(5))
    for first in range(0, len(y), 5000):
        parts.partial_fit(X[first : first + 5000], y[first : first + 5000])
    assert facts(parts, X[:100]) == facts(whole, X[:100])


@given(st.integers(0, 2**31), st.lists(st.integers(1, 40), min_size=1, max_size=8), st.sampled_from([3, 20, 90]))
def test_however_a_stream_is_cut_the_model_is_the_same(seed, cuts, labels):
    rows, y = mail(seed, 120, labels)
    whole = hinged.Classifier(scaling="idf").partial_fit(rows, y)
    pieces, start = hinged.Classifier(scaling="idf"), 0
    for size in [*cuts, len(y)]:
        if start < len(y):
            pieces.partial_fit(rows[start : start + size], y[start : start + size])
        start += size
    assert facts(pieces, rows) == facts(whole, rows)


def test_a_rule_of_ones_own_learns_at_any_cut():
    X, y = stream(4)
    whole = papers.Classifier(rule=half_of_pa).partial_fit(X, y)
    one = papers.Classifier(rule=half_of_pa)
    for x, label in zip(X, y, strict=True):
        one.learn_one(x, label)
    assert facts(one, X) == facts(whole, X)
    first = papers.Classifier(rule=half_of_pa).declare([0, 1])
    first.learn_one([2.0, 0.0], 1)
    np.testing.assert_array_equal(first.coef_, [[-1 / 16 * 2, 0.0], [1 / 16 * 2, 0.0]])


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_new_names_get_their_columns_in_order_of_appearance(seed, n):
    rng = np.random.default_rng(seed)
    rows = [{f"w{w}": 1.0 for w in rng.integers(0, 40 * (t + 1), n)} for t in range(6)]
    model = hinged.Classifier()
    for row in rows:
        model.learn_one(row, "a")
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert model.feature_names_ == names
    assert hinged.Classifier().partial_fit(rows, ["a"] * 6).feature_names_ == names


# ------------------------------------------------------------------ fit
@pytest.mark.parametrize("scheme", SCHEMES)
def test_fit_is_declare_then_partial_fit(scheme):
    X, y = stream(5)
    fitted = hinged.Classifier(**SCHEMES[scheme]).fit(X, y)
    by_hand = hinged.Classifier(**SCHEMES[scheme]).declare(y).partial_fit(X, y)
    assert facts(fitted, X) == facts(by_hand, X)
    assert fitted.n_novel_ == 0
    through_classes = hinged.Classifier(**SCHEMES[scheme]).partial_fit(X, y, classes=sorted(set(y)))
    assert facts(through_classes, X) == facts(fitted, X)


def test_fit_forgets_what_came_before():
    X, y = stream(6)
    model = hinged.Classifier().fit(X[:20], [f"old {label}" for label in y[:20]])
    model.merge_labels(model.classes_[0], model.classes_[1])
    assert facts(model.fit(X, y), X) == facts(hinged.Classifier().fit(X, y), X)


def test_epochs_are_passes_over_the_rows():
    X, y = stream(7)
    by_hand = hinged.Classifier(average=True).declare(y)
    for _ in range(3):
        by_hand.partial_fit(X, y)
    assert facts(hinged.Classifier(average=True, epochs=3).fit(X, y), X) == facts(by_hand, X)


def test_shuffling_follows_its_seed_and_no_other_chance():
    X, y = stream(8)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    first = facts(hinged.Classifier(shuffle=True, random_state=5).fit(X, y), X)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
    assert facts(hinged.Classifier(shuffle=True, random_state=5).fit(X, y), X) == first
    assert facts(hinged.Classifier(shuffle=True, random_state=6).fit(X, y), X) != first
    assert facts(hinged.Classifier().fit(X, y), X) != first


def test_shuffled_rows_keep_their_labels_and_weights():
    X = np.eye(12)
    y = list("abcdef") * 2
    weights = np.tile([1.0, 0.0], 6)  # b, d and f never count
    model = papers.Classifier(C=0.25, shuffle=True, random_state=1, epochs=4).fit(X, y, sample_weight=weights)
    own = {label: set(np.flatnonzero(row > 0).tolist()) for label, row in zip(model.classes_, model.coef_, strict=True)}
    assert own == {"a": {0, 6}, "b": set(), "c": {2, 8}, "d": set(), "e": {4, 10}, "f": set()}


def test_rows_of_nothing_can_be_shuffled():
    model = hinged.Classifier(shuffle=True, random_state=0).fit(np.zeros((3, 2)), ["a", "b", "a"])
    np.testing.assert_array_equal(model.coef_, np.zeros((2, 2)))


# ------------------------------------------------------------------ labels
def test_labels_may_be_of_any_hashable_type_side_by_side():
    labels = ["str", 7, ("a", 1), None, b"bytes", 2.5, frozenset({1})]
    X = np.eye(len(labels))
    model = hinged.Classifier().partial_fit(np.vstack([X, X]), labels * 2)
    assert model.classes_.tolist() == labels
    assert model.predict(X).tolist() == labels
    assert [model.predict_one(x) for x in X] == labels
    assert model.rank_one(X[3])[0] is None


def test_labels_equal_to_one_another_are_one_label_by_its_first_spelling():
    model = hinged.Classifier()
    for label in (1, True, 1.0, np.int64(1), 0, False):
        model.learn_one([1.0, 0.0] if label else [0.0, 1.0], label)
    assert model.classes_.tolist() == [1, 0]
    assert (model.n_novel_, model.n_rounds_) == (2, 6)


def test_text_from_numpy_is_the_same_label_as_plain_text():
    model = hinged.Classifier().partial_fit(np.eye(2), [np.str_("a"), "b"]).partial_fit(np.eye(2), ["a", np.str_("b")])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict(np.eye(2)).tolist() == ["a", "b"]


def test_a_late_label_with_all_new_features_gets_its_own_weights():
    model = papers.Classifier()
    for x, y in [({"a": 1.0}, 0), ({"b": 1.0}, 1), ({"a": 1.0}, 0), ({"b": 1.0}, 1)]:
        model.learn_one(x, y)
    for y in range(2, 70):  # labels alone, so that no page of weights is touched
        model.learn_one({}, y)
    for y in (15, 16, 40, 69):
        model.learn_one({f"only {y}": 1.0}, y)
    assert [model.predict_one({f"only {y}": 1.0}) for y in (15, 16, 40, 69)] == [15, 16, 40, 69]
    assert model.coef_[0, 0] == 0.5  # what was there has not moved
    expected = np.zeros((70, 6))
    expected[[0, 1], 0], expected[[1, 0], 1] = (0.5, -0.5), (0.5, -0.5)
    for column, y in enumerate((15, 16, 40, 69), start=2):  # each a tie of all labels at 0; label 0 is the worst rival
        expected[y, column], expected[0, column] = 0.5, -0.5
    np.testing.assert_array_equal(model.coef_, expected)


@pytest.mark.parametrize(
    "settings", [{}, {"average": True}, SCHEMES["hybrid frequency"], SCHEMES["single distance"]], ids=str
)
def test_many_labels_may_appear_at_any_time(settings):
    rows, y = mail(9, 900, 150)
    whole = hinged.Classifier(**settings).partial_fit(rows, y)
    one = hinged.Classifier(**settings)
    for x, label in zip(rows, y, strict=True):
        one.learn_one(x, label)
    assert len(one.classes_) > 100
    assert facts(one, rows[::7]) == facts(whole, rows[::7])


def test_many_labels_and_features_agree_with_a_plain_dense_learner():
    rows, y = mail(10, 1500, 150, vocabulary=3000)
    columns, places = {}, {}
    W = np.zeros((150, 4000))
    mistakes = 0
    for x, label in zip(rows, y, strict=True):
        row = sorted((columns.setdefault(name, len(columns)), value) for name, value in x.items())
        new = label not in places
        places.setdefault(label, len(places))
        if len(places) == 1:  # no rival, no constraint
            continue
        r, s, q = places[label], np.zeros(len(places)), 0.0
        for column, value in row:  # in the order of the row, so that ties are the same
            s += value * W[: len(places), column]
            q += value * value
        rival = int(np.argmax(np.where(np.arange(len(s)) == r, -np.inf, s)))
        mistakes += s[r] <= s[rival] and not new
        step = min(1.0, max(0.0, 1.0 - (s[r] - s[rival])) / (2 * q))
        for column, value in row:
            W[r, column] += step * value
            W[rival, column] -= step * value
    model = papers.Classifier()
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    assert len(columns) > 2000
    assert model.n_mistakes_ == mistakes
    np.testing.assert_allclose(model.coef_, W[: len(places), : len(columns)], atol=1e-12)


def test_declared_labels_are_sorted_where_they_can_be_and_stay_in_place():
    model = hinged.Classifier().declare(["b", "a"]).declare(["z", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c", "z"]
    model.learn_one([1.0], "m")
    model.partial_fit([[1.0]], ["a"], classes=["y", "x"])
    assert model.classes_.tolist() == ["a", "b", "c", "z", "m", "x", "y"]
    assert hinged.Classifier().declare([2, "a"]).classes_.tolist() == [2, "a"]


def test_a_row_of_weight_zero_is_counted_and_changes_nothing_else():
    X, y = stream(11)
    for options in OPTIONS.values():
        model = hinged.Classifier(**options).partial_fit(X, y)
        before, rounds = model.decision_function(X).tobytes(), model.n_rounds_
        coef, dual, confidence = model.coef_.tobytes(), model.dual_, model.confidence(X).tobytes()
        model.partial_fit(X[:5], [*y[:4], "never seen"], sample_weight=np.zeros(5))
        assert model.n_rounds_ == rounds + 5
        assert "never seen" not in model.classes_.tolist()
        assert (model.decision_function(X).tobytes(), model.coef_.tobytes(), model.dual_) == (before, coef, dual)
        assert model.confidence(X).tobytes() == confidence


def test_a_changed_setting_is_used_or_refused_and_never_ignored():
    X, y = np.eye(2), ["a", "b"]
    model = papers.Classifier(C=1.0, novel="skip").partial_fit(X, y).set_params(C=0.125)
    try:
        model.partial_fit(X, y)
    except ValueError as refused:
        assert "C" in str(refused)  # noqa: PT017
    else:
        assert np.abs(model.coef_).max() == 0.125


# ------------------------------------------------------------------ edits of labels
EDITED = ["multi", "hybrid frequency", "single first", "single distance", "single tfidf", "own features"]


@pytest.mark.parametrize(
    "scheme", sorted(set(SCHEMES) - {"own features"})
)  # which are asked by name: another label to them
def test_a_renamed_label_keeps_its_place_and_what_it_learnt(scheme):
    X, y = stream(12)
    model = hinged.Classifier(**SCHEMES[scheme]).fit(X, y)
    scores = model.decision_function(X)
    model.rename_label(2, "two")
    assert model.classes_.tolist() == [0, 1, "two", 3]
    np.testing.assert_array_equal(model.decision_function(X), scores)
    model.declare(["late"])  # and still so when another label comes
    np.testing.assert_array_equal(model.decision_function(X)[:, :4], scores)


def test_a_renamed_label_goes_on_learning_as_before():
    X, y = stream(13)
    expected = hinged.Classifier().fit(X, y).partial_fit(X, y)
    model = hinged.Classifier().fit(X, y).rename_label(2, "two")
    model.partial_fit(X, ["two" if label == 2 else label for label in y])
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("labels", [4, 100])
def test_a_removed_label_is_gone_and_the_others_are_as_they_were(labels, average):
    X, y = stream(14, rounds=300, features=12, labels=labels)
    model = hinged.Classifier(average=average).fit(X, y)
    kept = [r for r in model.classes_.tolist() if r != 2]
    others = np.delete(model.coef_, model.classes_.tolist().index(2), axis=0)
    model.remove_label(2)
    assert model.classes_.tolist() == kept
    np.testing.assert_array_equal(model.coef_, others)
    assert 2 not in model.predict(X)
    assert all(2 not in order for order in model.rank(X))
    assert model.dual_ is None
    rest = [i for i, label in enumerate(y) if label != 2]
    model.partial_fit(X[rest], [y[i] for i in rest])
    assert 2 not in model.predict(X)
    assert model.dual_ is None


@pytest.mark.parametrize("scheme", EDITED)
def test_removing_a_label_leaves_the_scores_of_the_others_alone(scheme):
    X, y = stream(15)
    model = hinged.Classifier(**SCHEMES[scheme]).fit(X, y)
    scores = model.decision_function(X)
    model.remove_label(1)
    np.testing.assert_array_equal(model.decision_function(X), scores[:, [0, 2, 3]])
    model.partial_fit(X, [0 if label == 1 else label for label in y])
    assert model.classes_.tolist() == [0, 2, 3]


def test_a_removed_label_may_come_back_as_a_new_one():
    X, y = stream(16)
    model = papers.Classifier().fit(X, y).remove_label(1)
    model.learn_one(X[0] * 0, 1)
    assert model.classes_.tolist() == [0, 2, 3, 1]
    np.testing.assert_array_equal(model.coef_[3], np.zeros(8))
    assert model.n_novel_ == 1


@pytest.mark.parametrize("average", [False, True])
def test_merged_prototypes_and_scores_add_up(average):
    X, y = stream(17, rounds=200, features=10, labels=90)
    model = hinged.Classifier(average=average).fit(X, y)
    names = model.classes_.tolist()
    source, into = names[-1], names[0]
    coef, scores = model.coef_, model.decision_function(X)
    model.merge_labels(source, into)
    assert model.classes_.tolist() == names[:-1]
    np.testing.assert_allclose(model.coef_[0], coef[0] + coef[-1], atol=1e-12)
    np.testing.assert_array_equal(model.coef_[1:], coef[1:-1])
    np.testing.assert_allclose(model.decision_function(X)[:, 0], scores[:, 0] + scores[:, -1], atol=1e-9)
    assert model.dual_ is None
    model.partial_fit(X, [into if label == source else label for label in y])
    assert source not in model.classes_


@pytest.mark.parametrize("features", ["frequency", "distance", "tfidf", "first"])
def test_merged_labels_have_the_statistics_of_one(features):
    X, y = stream(18, rounds=20)
    joined = [0 if label == 3 else label for label in y]
    settings = {"sharing": "single", "features": features, "C": 1e-300}  # statistics alone
    apart = hinged.Classifier(**settings).partial_fit(X, y, classes=range(4)).merge_labels(3, 0)
    together = hinged.Classifier(**settings).partial_fit(X, joined, classes=range(3))
    np.testing.assert_array_equal(statistics(apart), statistics(together))


def statistics(model):
    """Counts, first rows and sums by feature and label, and the rows of each label."""
    k = len(model.classes_)
    tables = []
    for paged in model._model.stores[2:]:
        table = np.zeros((9, k))
        owners, values = paged.rows(k)
        table[owners] = values
        tables.append(table)
    return np.vstack([*tables, model._model.label_rows[:k]])


def test_edits_work_before_anything_was_learnt():
    model = hinged.Classifier().declare(["a", "b", "c", "d"])
    model.rename_label("a", "z").merge_labels("b", "c").remove_label("d")
    assert model.classes_.tolist() == ["z", "c"]
    model.partial_fit(np.eye(2), ["z", "c"])
    assert model.n_novel_ == 0


def test_a_model_without_labels_says_so():
    model = hinged.Classifier().fit(np.eye(2), ["a", "b"]).remove_label("a").remove_label("b")
    assert model.rank(np.eye(2)) == [[], []]
    assert model.predict_one([1.0, 0.0]) is None
    with pytest.raises(ValueError, match="label"):
        model.predict(np.eye(2))
    model.partial_fit(np.eye(2), ["c", "d"]).partial_fit(np.eye(2), ["c", "d"])
    assert model.predict(np.eye(2)).tolist() == ["c", "d"]


# ------------------------------------------------------------------ weights of labels
def test_class_weight_multiplies_sample_weight():
    X, y = stream(19)
    weights = np.linspace(0.1, 2.0, len(y))
    model = hinged.Classifier(C=0.05, class_weight={0: 0.25, 2: 4.0}).partial_fit(X, y, sample_weight=weights)
    factors = np.array([{0: 0.25, 2: 4.0}.get(label, 1.0) for label in y])
    expected = hinged.Classifier(C=0.05).partial_fit(X, y, sample_weight=weights * factors)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert np.any(model.coef_ != hinged.Classifier(C=0.05).partial_fit(X, y, sample_weight=weights).coef_)


def test_balanced_weights_are_rows_over_labels_times_count():
    X, y = stream(20)
    counts = {label: y.count(label) for label in y}
    weights = [len(y) / (len(counts) * counts[label]) for label in y]
    model = hinged.Classifier(C=0.05, class_weight="balanced").fit(X, y)
    np.testing.assert_array_equal(model.coef_, hinged.Classifier(C=0.05).fit(X, y, sample_weight=weights).coef_)


# ------------------------------------------------------------------ answers
def test_rank_orders_labels_by_score_and_ties_by_place():
    model = papers.Classifier().fit(*stream(21))
    X = np.vstack([stream(22)[0], np.zeros(8)])
    scores = model.decision_function(X)
    for order, row in zip(model.rank(X), scores, strict=True):
        assert sorted(order) == [0, 1, 2, 3]
        assert all(row[a] > row[b] or (row[a] == row[b] and a < b) for a, b in pairwise(order))
    assert model.rank(X[-1:]) == [[0, 1, 2, 3]]
    assert model.rank(X, top=2) == [order[:2] for order in model.rank(X)]
    assert [order[0] for order in model.rank(X)] == model.predict(X).tolist()
    assert model.rank_one(X[0], top=1) == model.rank(X)[0][:1]


def test_the_gap_is_the_lead_of_the_best_over_the_second():
    model = hinged.Classifier().fit(*stream(23))
    X = stream(24)[0]
    ordered = np.sort(model.decision_function(X), axis=1)
    np.testing.assert_array_equal(model.score_gap(X), ordered[:, -1] - ordered[:, -2])
    lone = hinged.Classifier().partial_fit(np.eye(2), ["a", "a"])
    np.testing.assert_array_equal(lone.score_gap(np.eye(2)), [0.0, 0.0])


def test_two_labels_have_one_score_the_second_minus_the_first():
    X, y = stream(25, labels=2)
    model = hinged.Classifier().fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == (60,)
    np.testing.assert_array_equal(scores > 0, model.predict(X) == 1)
    np.testing.assert_array_equal(model.score_gap(X), np.abs(scores))


def noisy(seed, rounds):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 10))
    hidden = np.random.default_rng(0).normal(size=(10, 5))
    return X, np.argmax(X @ hidden + 2.0 * rng.normal(size=(rounds, 5)), axis=1).tolist()


@pytest.mark.parametrize("settings", [{"C": 0.01}, {"C": 0.1, "average": True}], ids=str)
def test_confidence_is_a_chance_that_rises_with_a_labels_lead_and_is_roughly_right(settings):
    model = papers.Classifier(**settings)
    progressive(model, *noisy(1, 6000))
    X, y = noisy(2, 4000)
    best = model.predict(X)
    sure, gap, hit = model.confidence(X), model.score_gap(X), best == y
    assert np.all((sure >= 0.0) & (sure <= 1.0))
    for label in range(5):
        assert np.all(np.diff(sure[best == label][np.argsort(gap[best == label])]) >= 0.0)
    assert sure.max() - sure.min() > 0.2
    assert abs(sure.mean() - hit.mean()) < 0.05
    for quarter in np.array_split(np.argsort(gap), 4):
        assert abs(sure[quarter].mean() - hit[quarter].mean()) < 0.1


@pytest.mark.parametrize(("scheme", "options"), PAIRS, ids="-".join)
def test_reasons_add_up_to_the_score(scheme, options):
    X, y = stream(26)
    model = hinged.Classifier(rule="simproj", **SCHEMES[scheme], **OPTIONS[options]).fit(X, y)
    scores = model.decision_function(X)
    assert np.any(scores != 0.0)
    rounding = 1e-4 if options == "float32" else 1e-9
    for x, row in zip(X[:20], scores, strict=False):
        for r in range(4):
            reasons = model.explain(x, r, top=None)
            assert sum(value for _, value in reasons) == pytest.approx(row[r], abs=rounding)
            sizes = [abs(value) for _, value in reasons]
            assert sizes == sorted(sizes, reverse=True)
            assert model.explain(x, r, top=2) == reasons[:2]


def test_reasons_add_up_where_a_feature_is_called_bias():
    model = hinged.Classifier(bias=1.0)
    rows = [{"bias": 2.0, "a": 1.0}, {"bias": 1.0}, {"a": 1.0}]
    for x, y in zip(rows * 3, "xyz" * 3, strict=True):
        model.learn_one(x, y)
    scores = model.decision_function(rows)[0]
    for r, label in enumerate("xyz"):
        assert sum(v for _, v in model.explain(rows[0], label, top=None)) == pytest.approx(scores[r], abs=1e-12)


def test_reasons_carry_the_names_of_the_features():
    model = papers.Classifier(C=0.25, bias=1.0).declare(["home", "work"])
    model.learn_one({"tax": 1.0, "the": 2.0}, "work")
    # one step of min(1/4, 1 / (2 * (1 + 4 + 1))) = 1/12 along the row and its bias
    assert model.explain({"tax": 3.0, "cake": 1.0}, "work") == [
        ("tax", pytest.approx(3 / 12)),
        ("bias", pytest.approx(1 / 12)),
    ]


# ------------------------------------------------------------------ progressive
@pytest.mark.parametrize("scheme", SCHEMES)
def test_progressive_learns_what_partial_fit_learns_and_counts_what_it_says(scheme):
    X, y = stream(27)
    model = hinged.Classifier(**SCHEMES[scheme])
    progress = progressive(model, X, y)
    assert facts(model, X) == facts(hinged.Classifier(**SCHEMES[scheme]).partial_fit(X, y), X)
    assert (progress.mistakes, progress.updates, progress.novel) == (
        model.n_mistakes_,
        model.n_updates_,
        model.n_novel_,
    )
    assert progress.curve[-1] == progress.mistakes
    assert progress.rate == progress.mistakes / (len(y) - progress.novel)


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("scheme", ["multi", "hybrid distance", "own features"])
def test_showing_progress_changes_nothing(scheme, delay, capsys):
    X, y = stream(28, rounds=450)
    quiet, shown = (hinged.Classifier(**SCHEMES[scheme]) for _ in range(2))
    expected = progressive(quiet, X, y, delay=delay)
    progress = progressive(shown, X, y, delay=delay, show=True)
    np.testing.assert_array_equal(progress.flags, expected.flags)
    np.testing.assert_array_equal(progress.ranks, expected.ranks)
    assert facts(shown, X) == facts(quiet, X)
    assert capsys.readouterr().out == ""


def by_hand(model, X, y, delay):
    """Predict each row when it comes, learn it when its answer comes."""
    flags = []
    for t in range(len(y) + delay):
        if t < len(y):
            known = list(model.classes_) if hasattr(model, "classes_") else []
            if y[t] not in known:
                flags.append(-1)
            elif len(known) == 1:
                flags.append(0)
            else:
                s = model.scored(X[t : t + 1]).scores[0]
                r = known.index(y[t])
                flags.append(int(s[r] <= np.delete(s, r).max()))
        if t >= delay:
            model.learn_one(X[t - delay], y[t - delay])
    return flags


@pytest.mark.parametrize("delay", [0, 1, 5, 59, 60, 200])
@pytest.mark.parametrize("scheme", ["multi", "groups", "hybrid frequency", "own features"])
def test_delayed_answers_equal_a_loop_written_by_hand(scheme, delay):
    X, y = stream(29)
    model, plain = (hinged.Classifier(**SCHEMES[scheme]) for _ in range(2))
    flags = by_hand(plain, X, y, delay)
    progress = progressive(model, X, y, delay=delay)
    assert progress.flags.tolist() == flags
    shown, expected = facts(model, X), facts(plain, X)
    assert (model.n_mistakes_, model.n_novel_) == (flags.count(1), flags.count(-1))
    if delay:  # the loop by hand counts again at feedback, so its counts differ
        del shown["counts"], expected["counts"]
    assert shown == expected


def test_a_delay_as_long_as_the_age_of_the_universe_is_just_a_delay():
    X, y = stream(30, rounds=10)
    assert progressive(hinged.Classifier(), X, y, delay=10**30).flags.tolist() == [-1] * 10


def test_declared_labels_make_every_round_count():
    X, y = stream(31)
    model = hinged.Classifier()
    progress = progressive(model, X, y, classes=[0, 1, 2, 3])
    assert progress.novel == 0
    assert progress.flags[0] == 1  # from zero every round is a tie, and a tie is a mistake


# ------------------------------------------------------------------ sets of labels
def sets(seed, rounds=60):
    X, _ = stream(seed, rounds)
    scores = X @ np.random.default_rng(seed).normal(size=(8, 4))
    return X, [set(np.flatnonzero(row > 0.5).tolist()) for row in scores]


def test_a_ranker_of_sets_answers_with_sets():
    X, y = sets(32)
    model = hinged.Ranker().fit(X, y)
    answers = model.predict(X)
    assert all(isinstance(answer, set) and answer <= {0, 1, 2, 3} for answer in answers)
    assert [model.predict_one(x) for x in X] == answers
    right = [(r in a) == (r in b) for a, b in zip(answers, y, strict=True) for r in range(4)]
    assert np.mean(right) > 0.7


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_ranker_of_an_indicator_matrix_answers_with_one(kind):
    X, y = sets(33)
    indicator = np.array([[r in s for r in range(4)] for s in y], int)
    model = hinged.Ranker(rule="simproj").fit(X, kind(indicator))
    answers = model.predict(X)
    assert answers.shape == indicator.shape
    assert set(np.unique(answers)) <= {0, 1}
    assert model.classes_.tolist() == [0, 1, 2, 3]
    of_sets = hinged.Ranker(rule="simproj").declare(range(4)).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, of_sets.coef_)
    np.testing.assert_array_equal(answers, [[r in s for r in range(4)] for s in of_sets.predict(X)])


def test_an_indicator_column_without_ones_is_a_label_too():
    X, y = sets(34)
    indicator = np.array([[r in s for r in range(5)] for s in y], int)
    for model in (hinged.Ranker().fit(X, indicator), hinged.Ranker().partial_fit(X, indicator)):
        assert model.predict(X).shape == (60, 5)


def test_sets_learn_row_by_row_as_they_do_together():
    X, y = sets(35)
    for settings in SCHEMES.values():
        whole, one = hinged.Ranker(**settings).partial_fit(X, y), hinged.Ranker(**settings)
        for x, labels in zip(X, y, strict=True):
            one.learn_one(x, labels)
        assert facts(one, X) == facts(whole, X)


def test_a_set_with_known_and_new_labels_registers_them_without_a_step():
    model = hinged.Ranker().declare(["a", "b"])
    progress = progressive(model, np.eye(2), [{"a", "c"}, {"c"}])
    assert progress.flags.tolist() == [-1, 1]
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_a_set_without_labels_or_with_all_of_them_asks_for_nothing():
    model = hinged.Ranker().declare(["a", "b"])
    progress = progressive(model, np.eye(2), [set(), {"a", "b"}])
    assert progress.flags.tolist() == [0, 0]
    assert model.n_updates_ == 0
    np.testing.assert_array_equal(model.coef_, np.zeros((2, 2)))


def test_a_ranker_of_single_labels_learns_what_a_classifier_learns():
    X, y = stream(36)
    for scheme in SCHEMES.values():
        settings = {"bias": 0.5} | scheme  # by default, rankers choose a larger one
        one = hinged.Classifier(rule="simproj", **settings).fit(X, y)
        several = hinged.Ranker(rule="simproj", **settings).fit(X, [{label} for label in y])
        np.testing.assert_array_equal(several.coef_, one.coef_)
        assert several.n_mistakes_ == one.n_mistakes_


@pytest.mark.parametrize("kind", [hinged.Classifier, hinged.BinaryClassifier])
def test_epochs_over_dicts_give_each_name_one_column(kind):
    rows, answers = [{"a": 1.0, "both": 0.5}, {"b": 1.0, "both": 0.5}] * 3, ["x", "y"] * 3
    model = kind(epochs=3).fit(rows, answers)
    again = kind().partial_fit(rows, answers, classes=["x", "y"])
    for _ in range(2):
        again.partial_fit(rows, answers)
    assert model.feature_names_ == ["a", "both", "b"]
    assert model.predict(rows).tolist() == answers
    assert model.decision_function(rows).tolist() == again.decision_function(rows).tolist()
