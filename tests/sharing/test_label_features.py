"""Label features by hand: thresholds exact at ties, statistics of earlier rounds alone, sets of a folder tree."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plain import Classifier, Ranker

import hinged
from hinged.loops.labels import VECTORS
from hinged.loops.memory import Paged
from hinged.loops.pages import put
from hinged.sharing import Frequency, Groups
from hinged.sharing.features import frequency, frequency_bars, resolve, tfidf


def value(features, c, seen, rows):
    """φ of a value c of a feature that `seen` of the label's `rows` had."""
    _, thresholds, factors, _ = resolve(features, "single")
    often, rare = frequency_bars(rows, np.array(thresholds, np.int64))
    return frequency(seen, often, rare, factors[0] * c, factors[1] * c)


def shown(model, row):
    """φ(x, r) of every label, one row each, read off as scores under shared vectors that are 1 at one feature."""
    k, n = len(model.classes_), len(row)
    phi = np.zeros((k, n))
    for i in range(n):
        probe = one_weight(model, i)
        phi[:, i] = probe.scored(np.array([row])).scores[0]
    return phi


def one_weight(model, feature):
    """The same statistics, with a shared vector that is 1 at one feature and 0 elsewhere."""
    probe = copy.deepcopy(model)
    vectors = Paged(probe._model.dtype, 1, 1)
    vectors.fit_to(probe._model.n_features + 1, 1)
    vectors.make_room(1, 1, 1)
    put(vectors.store, feature + 1, 0, 0, 1.0)
    probe._model.stores[VECTORS] = vectors
    return probe


def learnt(features, rows, labels, **settings):
    """A model of statistics alone: all labels known, steps too short to matter."""
    model = Classifier(sharing="single", features=features, C=1e-300, **settings)
    return model.partial_fit(np.array(rows, float), labels, classes=["a", "b"])


# ------------------------------------------------------------------ frequency
@pytest.mark.parametrize("rows", [50, 100, 150, 5000, 10**9])
def test_a_share_of_exactly_two_percent_is_low_unless_strictly(rows):
    assert value("frequency", 3.0, rows // 50, rows) == -3.0
    assert value("frequency", 3.0, rows // 50 + 1, rows) == 0.0
    strict = Frequency(low_strict=True)
    assert value(strict, 3.0, rows // 50, rows) == 0.0
    assert value(strict, 3.0, rows // 50 - 1, rows) == -3.0


@pytest.mark.parametrize("rows", [5, 10, 15, 35, 5000, 5 * 10**8])
def test_a_share_of_exactly_a_fifth_is_high(rows):
    assert value("frequency", 3.0, rows // 5, rows) == 6.0
    assert value("frequency", 3.0, rows // 5 - 1, rows) == (0.0 if rows > 5 and 50 * (rows // 5 - 1) > rows else -3.0)


@given(st.integers(1, 10_000), st.data())
def test_thresholds_are_the_decimals_they_are_written_as(rows, data):
    seen = data.draw(st.integers(0, rows))
    high, low = data.draw(st.sampled_from([(0.2, 0.02), (0.3, 0.1), (0.7, 0.29), (1.0, 0.0), (0.1, 0.1)]))
    strict = data.draw(st.booleans())
    share, hundredths = 100 * seen, rows  # integers: seen/rows against high and low in hundredths
    if share >= round(100 * high) * hundredths:
        expected = 2.0
    elif share < round(100 * low) * hundredths or (share == round(100 * low) * hundredths and not strict):
        expected = -1.0
    else:
        expected = 0.0
    assert value(Frequency(high=high, low=low, low_strict=strict), 1.0, seen, rows) == expected


def test_a_label_without_rows_counts_every_word_against_itself():
    for features in ("frequency", Frequency(low_strict=True), Frequency(high=0.0, low=0.0)):
        assert value(features, 4.0, 0, 0) == -4.0


def test_factors_are_parameters():
    features = Frequency(high=0.5, low=0.25, often=3.0, seldom=-2.0)
    assert [value(features, 2.0, seen, 4) for seen in (2, 1, 0)] == [6.0, -4.0, -4.0]


def test_frequency_counts_presence_and_multiplies_values():
    rows = [[1, 0, 7], [9, 0, 0], [0, 2, 0], [0, 1, 0], [0, 1, 5]]
    model = learnt("frequency", rows, ["a", "a", "b", "b", "b"])
    # a: shares 1, 0, 1/2; b: shares 0, 1, 1/3
    np.testing.assert_array_equal(shown(model, [2.0, 3.0, 5.0]), [[4.0, -3.0, 10.0], [-2.0, 6.0, 10.0]])


def test_words_between_the_thresholds_count_for_nothing():
    rows = [[1.0]] + [[0.0]] * 9
    model = learnt("frequency", rows, ["a"] * 10)
    np.testing.assert_array_equal(shown(model, [8.0]), [[0.0], [-8.0]])  # 1 of 10 for a; b has no rows


# ------------------------------------------------------------------ the others
def test_first_multiplies_by_the_first_row_of_the_label():
    model = learnt("first", [[1, 2, 0], [5, 5, 5], [0, 3, 4]], ["a", "a", "b"])
    np.testing.assert_array_equal(shown(model, [2.0, 10.0, 1.0]), [[2.0, 20.0, 0.0], [0.0, 30.0, 4.0]])


def test_first_is_zero_for_a_label_not_seen_yet():
    model = learnt("first", [[1, 2]], ["a"])
    np.testing.assert_array_equal(shown(model, [1.0, 1.0]), [[1.0, 2.0], [0.0, 0.0]])


def test_distance_is_measured_from_the_mean_of_the_label():
    model = learnt("distance", [[1, 2, 0], [3, 0, 0], [0, 3, 4]], ["a", "a", "b"])
    # means: a (2, 1, 0), b (0, 3, 4)
    np.testing.assert_array_equal(shown(model, [1.0, 0.0, 9.0]), [[1.0, 1.0, 9.0], [1.0, 3.0, 5.0]])
    np.testing.assert_array_equal(shown(model, [0.0, 0.0, 0.0]), [[2.0, 1.0, 0.0], [0.0, 3.0, 4.0]])


def test_distance_from_a_label_not_seen_yet_is_the_size_of_the_value():
    model = learnt("distance", [[1, -2]], ["a"])
    np.testing.assert_array_equal(shown(model, [-3.0, 4.0]), [[4.0, 6.0], [3.0, 4.0]])


def test_tfidf_weighs_by_rows_without_the_label():
    # four rows; word 0 in 3 of them, of which 2 are of a; word 1 in 1 row, of b
    model = learnt("tfidf", [[1, 0], [2, 0], [1, 1], [0, 0]], ["a", "a", "b", "b"])
    expected = [[math.log(4 / 1), math.log(4 / 1)], [math.log(4 / 2), math.log(4 / 1)]]
    np.testing.assert_allclose(shown(model, [1.0, 1.0]), expected)
    np.testing.assert_allclose(shown(model, [3.0, 2.0]), np.array(expected) * [3.0, 2.0])


def test_tfidf_at_its_edges():
    assert tfidf(2.0, 0, 0, 0) == 0.0  # no rows at all
    assert tfidf(2.0, 8, 3, 3) == pytest.approx(2.0 * math.log(8))  # never outside the label: counts as once
    assert tfidf(2.0, 8, 8, 0) == 0.0  # in every row, never with the label


def test_statistics_are_those_of_earlier_rounds_alone():
    model = Classifier(sharing="single", features="first", rule="perceptron").declare(["a", "b"])
    model.learn_one([1.0], "a")  # a tie of zeros: a mistake, but both φ are 0 and nothing moves
    np.testing.assert_array_equal(model.shared_coef_, [0.0])
    model.learn_one([2.0], "b")  # φ(x, a) = 2, φ(x, b) = 0: the step goes down by 2
    np.testing.assert_array_equal(model.shared_coef_, [-2.0])
    model.learn_one([1.0], "a")  # φ(x, a) = 1, φ(x, b) = 2: scores -2 and -4, right; nothing moves
    np.testing.assert_array_equal(model.shared_coef_, [-2.0])


def test_statistics_see_rows_as_scaled_in_their_own_round():
    model = learnt("first", [[3.0, 4.0], [0.0, 5.0]], ["a", "b"], normalize=True)
    np.testing.assert_allclose(shown(model, [1.0, 0.0]), [[0.6, 0.0], [0.0, 0.0]])


def test_a_row_of_weight_zero_enters_no_statistic():
    rows, labels = np.array([[1.0, 2.0], [5.0, 5.0], [3.0, 4.0]]), ["a", "a", "b"]
    for features in ("first", "frequency", "distance", "tfidf"):
        model = Classifier(sharing="single", features=features, C=1e-300)
        model.partial_fit(rows, labels, classes=["a", "b"], sample_weight=[1.0, 0.0, 1.0])
        expected = learnt(features, rows[[0, 2]], ["a", "b"])
        np.testing.assert_array_equal(shown(model, [1.0, 2.0]), shown(expected, [1.0, 2.0]))


def test_ones_own_features_are_asked_with_the_row_as_the_user_knows_it():
    asked = []

    def phi(x, label):
        asked.append((dict(x), label))
        return {f"{label} {name}": value for name, value in x.items()}

    model = Classifier(sharing="single", features=phi, rule="perceptron", bias=0.5).declare(["a", "b"])
    model.learn_one({"tax": 2.0}, "b")
    assert asked == [({"tax": 2.0, "bias": 0.5}, "a"), ({"tax": 2.0, "bias": 0.5}, "b")]
    scores = model.decision_function([{"tax": 1.0}])
    # up by (2, 1/2) on b's features, down on a's; at x = (1, 1/2): b scores 2 + 1/4, a the opposite
    np.testing.assert_array_equal(scores, [2 * 2.25])


# ------------------------------------------------------------------ groups
def test_a_folder_tree_has_a_set_for_each_label_and_each_folder_with_more_below():
    groups = Groups.tree(["work", "work/tax", "work/tax/2005", "home", "home/garden", "play"])
    alone = [["work"], ["work/tax"], ["work/tax/2005"], ["home"], ["home/garden"], ["play"]]
    folders = [["work", "work/tax", "work/tax/2005"], ["work/tax", "work/tax/2005"], ["home", "home/garden"]]
    assert sorted(map(sorted, groups.sets)) == sorted(alone + folders)


def test_a_folder_that_is_no_label_holds_its_labels_together():
    groups = Groups.tree(["mail.a", "mail.b", "news"], separator=".")
    assert sorted(map(sorted, groups.sets)) == [["mail.a"], ["mail.a", "mail.b"], ["mail.b"], ["news"]]


def test_names_that_merely_begin_alike_are_not_one_folder():
    assert sorted(map(sorted, Groups.tree(["work", "workshop"]).sets)) == [["work"], ["workshop"]]


def test_a_tree_does_not_depend_on_the_order_or_number_of_its_labels():
    assert Groups.tree(["b/x", "a", "b/y", "a"]) == Groups.tree(["a", "b/y", "b/x"])


def test_a_label_scores_the_sum_of_its_sets_and_in_no_set_zero():
    model = Classifier(sharing=Groups([{"a"}, {"a", "b"}]), rule="perceptron").declare(["a", "b", "c"])
    model.learn_one([1.0], "a")  # rivals at a tie; b is the first: V_a - V_b is the set {a} alone
    np.testing.assert_array_equal(model.coef_, [[1.0], [0.0]])
    np.testing.assert_array_equal(model.decision_function([[2.0]]), [[2.0, 0.0, 0.0]])
    model.learn_one([1.0], "b")  # a is the worst rival, so {a} goes down again
    np.testing.assert_array_equal(model.coef_, [[0.0], [0.0]])
    model.learn_one([1.0], "c")  # a tie; a is the first rival: both of its sets go down
    np.testing.assert_array_equal(model.coef_, [[-1.0], [-1.0]])
    np.testing.assert_array_equal(model.decision_function([[1.0]]), [[-2.0, -1.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singletons_are_multi_to_the_last_bit(dtype):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 5)).astype(dtype), [str(r) for r in rng.integers(0, 4, 60)]
    sets = [{label, str(r)} for label, r in zip(y, rng.integers(0, 4, 60), strict=True)]
    order = [2, 0, 3, 1]
    everyone = {str(r) for r in range(4)}
    for rule in hinged.rules.RULES:
        for kind, right in ((Classifier, y), (Ranker, sets)):
            multi = kind(rule).fit(X, right)
            grouped = kind(rule, sharing=Groups([{str(r)} for r in order])).fit(X, right)
            hybrid = kind(rule, sharing="hybrid", features="first").fit(X, right)
            spelt = Groups([*({str(r)} for r in order), everyone], [None] * 4 + ["first"])
            both = kind(rule, sharing=spelt).fit(X, right)
            np.testing.assert_array_equal(grouped.coef_, multi.coef_[order])
            for one, other in ((grouped, multi), (both, hybrid)):
                np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
                assert (one.n_mistakes_, one.n_updates_, one.dual_) == (
                    other.n_mistakes_,
                    other.n_updates_,
                    other.dual_,
                )


def test_groups_are_equal_by_what_they_hold():
    assert Groups([{"a"}, {"b"}]) == Groups([["a"], ("b",)])
    assert hash(Groups([{"a"}])) == hash(Groups([["a"]]))
    assert Groups([{"a"}, {"b"}]) != Groups([{"b"}, {"a"}])
    assert Groups([{"a"}]) != Groups([{"a"}], ["first"])
    assert repr(Groups([{"b", "a"}], ["first"])) == "Groups([{'a', 'b'}], features=['first'])"
