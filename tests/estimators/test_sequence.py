"""The sequence tagger: beside its twin, its theorems, its input and its files."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.reference.sequence import SequenceTwin, every_sequence, features_of, hamming, viterbi

import hinged
from hinged.evaluate import Progress, progressive

RULES = tuple(name for name in hinged.rules.RULES if name != "mira")
TAGS = ["A", "B", "C"]
COST = np.array([[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.25, 0.0]])


def table(right, other):
    return float(sum(COST[TAGS.index(a), TAGS.index(b)] for a, b in zip(right, other, strict=True)))


def zero_one(right, other):
    return float(list(right) != list(other))


def random_sentences(seed, n=25, longest=5, values=True):
    """Sentences whose tags follow their tokens and each other, mostly."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tokens, tags = [], []
        for i in range(int(rng.integers(1, longest + 1))):
            tag = (TAGS.index(tags[-1]) + 1) % 3 if i and rng.random() < 0.5 else int(rng.integers(3))
            names = [f"t{tag}" if rng.random() < 0.8 else f"t{rng.integers(3)}", f"n{rng.integers(6)}"]
            tokens.append({name: float(rng.normal() + 1.5) for name in names} if values else [*names, names[0]])
            tags.append(TAGS[tag])
        X.append(tokens)
        y.append(tags)
    return X, y


def agree(model, twin, X, y, classes=TAGS):
    """Learn both in step until a round hangs on rounding, and compare; at least ten rounds must remain."""
    told = []
    for t, (sentence, tags) in enumerate(zip(X, y, strict=True)):
        before = copy.deepcopy(twin)
        twin.learn(sentence, tags)
        if twin.nearest < 1e-9:
            twin = before
            assert t >= 10, "the stream has a near tie too early"
            break
        told.append(progressive(model, [sentence], [tags], classes=classes))
    told = Progress.join(told)
    assert told.flags.tolist() == twin.flags
    np.testing.assert_allclose(told.losses, twin.losses, atol=1e-9)
    assert model.n_updates_ == twin.updates
    assert model.total_cost_ == pytest.approx(twin.spent)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)
    names, tags = model.feature_names_, model.classes_.tolist()
    for r, tag in enumerate(tags):
        expected = [(twin.mean if model.average else twin.weights)[name, tag] for name in names]
        np.testing.assert_allclose(model.coef_[r], expected, atol=1e-9)
        after = [(twin.mean if model.average else twin.weights)["across", tag, other] for other in tags]
        np.testing.assert_allclose(model.transitions_[r], after, atol=1e-9)


# ------------------------------------------------------------------ twins
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("constraint", "n_best"), [("prediction", 1), ("prediction", 4), ("max-loss", 1), ("additive", 3)]
)
def test_every_rule_equals_its_twin(rule, constraint, n_best):
    X, y = random_sentences(n_best, n=18)
    model = hinged.SequenceTagger(rule, 0.3, constraint=constraint, n_best=n_best)
    agree(model, SequenceTwin(TAGS, rule, 1.0 if rule == "uniform" else 0.3, hamming, constraint, n_best), X, y)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("constraint", "n_best"), [("prediction", 1), ("prediction", 4), ("max-loss", 1), ("additive", 3)]
)
def test_every_rule_projects_in_the_metric_as_its_twin_does(rule, constraint, n_best):
    X, y = random_sentences(n_best, n=18)
    how = {"constraint": constraint, "n_best": n_best}
    model = hinged.SequenceTagger(rule, 0.3, geometry=hinged.geometry.Adaptive(0.5), average=n_best > 1, **how)
    agree(model, SequenceTwin(TAGS, rule, 1.0 if rule == "uniform" else 0.3, metric=0.5, **how), X, y)


@pytest.mark.parametrize(("cost", "plain"), [(COST, table), (zero_one, zero_one)])
@pytest.mark.parametrize("rule", ["pa1", "simproj"])
def test_costs_equal_their_twin(cost, plain, rule):
    X, y = random_sentences(9, n=18, values=rule == "simproj")
    n_best = 1 if rule == "pa1" else 3
    model = hinged.SequenceTagger(rule, cost=cost, n_best=n_best)
    agree(model, SequenceTwin(TAGS, rule, 1.0, plain, n_best=n_best), X, y)


def test_a_dict_of_costs_is_the_matrix_of_them_and_grows_with_the_tags():
    X, y = random_sentences(9, n=18)
    by_dict = {(a, b): COST[i, j] for i, a in enumerate(TAGS) for j, b in enumerate(TAGS) if i != j}
    one, other = hinged.SequenceTagger(cost=COST), hinged.SequenceTagger(cost=by_dict)
    for model in (one, other):
        progressive(model, X, y, classes=TAGS)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    late = hinged.SequenceTagger(cost=by_dict)
    for sentence, tags in zip(X, y, strict=True):
        late.learn_one(sentence, tags)
    assert late.dual_ is not None
    assert late.n_novel_ > 0


def test_a_cost_by_position_can_be_added():
    X, y = random_sentences(6, n=18)
    model = hinged.SequenceTagger("pa2", 0.5, cost=COST, constraint="additive")
    agree(model, SequenceTwin(TAGS, "pa2", 0.5, table, "additive"), X, y)


@pytest.mark.parametrize("novel", ["learn", "skip"])
@pytest.mark.parametrize(("constraint", "n_best"), [("prediction", 1), ("max-loss", 1), ("additive", 3)])
def test_averages_and_tags_that_appear_later_equal_the_twin(novel, constraint, n_best):
    X, y = random_sentences(7)
    how = {"constraint": constraint, "n_best": n_best, "novel": novel}
    model = hinged.SequenceTagger("pa1", 0.5, average=True, **how)
    agree(model, SequenceTwin([], "pa1", 0.5, **how), X, y, classes=None)
    assert model.n_novel_ > 0


@pytest.mark.parametrize("novel", ["learn", "skip"])
def test_a_cost_function_is_asked_about_new_tags_where_they_are_learnt(novel):
    X, y = random_sentences(7)
    model = hinged.SequenceTagger("pa1", 0.5, cost=zero_one, novel=novel)
    agree(model, SequenceTwin([], "pa1", 0.5, zero_one, novel=novel), X, y, classes=None)
    assert model.n_novel_ > 0


def test_answers_are_those_of_both_twins():
    X, y = random_sentences(8)
    model = hinged.SequenceTagger(average=True, epochs=2).fit(X, y)
    twin = SequenceTwin(TAGS)
    for sentence, tags in [*zip(X, y, strict=True)] * 2:
        twin.learn(sentence, tags)
    for sentence, found in zip(X, model.predict(X), strict=True):
        best = every_sequence(twin.mean, sentence, TAGS)
        if best[0][0] - best[1][0] > 1e-9:
            assert tuple(found) == best[0][1] == viterbi(twin.mean, sentence, TAGS)
        ranked = model.rank_one(sentence, top=4)
        np.testing.assert_allclose([s for _, s in ranked], [s for s, _ in best[:4]][: len(ranked)], atol=1e-9)
        assert ranked[0][0] == found
        assert len(ranked) == min(4, 3 ** len(sentence))


# ------------------------------------------------------------------ theorems
@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), C=st.sampled_from([0.01, 0.2, 2.0]), n_best=st.sampled_from([1, 3]))
def test_the_certificate_never_falls(seed, C, n_best):
    X, y = random_sentences(seed % 1000, n=12)
    for rule, constraint in [("pa1", "prediction"), ("simproj", "prediction"), ("pa2", "additive")]:
        model, before = hinged.SequenceTagger(rule, C, constraint=constraint, n_best=n_best), 0.0
        for sentence, tags in zip(X, y, strict=True):
            model.learn_one(sentence, tags)
            assert model.dual_ >= before - 1e-12 * (1 + abs(before))
            before = model.dual_


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_an_unbounded_step_meets_the_margin(seed):
    X, y = random_sentences(seed, n=12)
    model = hinged.SequenceTagger("pa").declare(TAGS)
    for sentence, tags in zip(X, y, strict=True):
        rival = model.predict_one(sentence)
        model.learn_one(sentence, tags)
        if rival and rival != tags:
            emissions = model.decision_function([sentence])[0]

            def score(path, emissions=emissions):
                at = [TAGS.index(t) for t in path]
                across = sum(model.transitions_[a, b] for a, b in pairwise(at))
                return across + sum(emissions[i, r] for i, r in enumerate(at))

            assert score(tags) - score(rival) == pytest.approx(np.sqrt(hamming(tags, rival)))


def test_permuting_tags_permutes_the_weights():
    X, y = random_sentences(11)
    other = dict(zip(TAGS, ["Z", "Y", "X"], strict=True))
    one = hinged.SequenceTagger(constraint="max-loss").partial_fit(X, y, classes=TAGS)
    two = hinged.SequenceTagger(constraint="max-loss").partial_fit(X, [[other[t] for t in tags] for tags in y])
    three = hinged.SequenceTagger(constraint="max-loss").partial_fit(X, y)
    order = [two.classes_.tolist().index(other[t]) for t in three.classes_.tolist()]
    np.testing.assert_array_equal(two.coef_[order], three.coef_)
    np.testing.assert_array_equal(two.transitions_[np.ix_(order, order)], three.transitions_)
    assert one.classes_.tolist() == TAGS


# ------------------------------------------------------------------ input
def test_one_by_one_equals_a_batch():
    X, y = random_sentences(12, values=False)
    one, batch = hinged.SequenceTagger(average=True), hinged.SequenceTagger(average=True).partial_fit(X, y)
    for sentence, tags in zip(X, y, strict=True):
        one.learn_one(sentence, tags)
    np.testing.assert_array_equal(one.coef_, batch.coef_)
    np.testing.assert_array_equal(one.transitions_, batch.transitions_)
    assert one.dual_ == batch.dual_


def test_names_dicts_and_matrices_say_the_same():
    X, y = random_sentences(13, values=False)
    names = sorted({name for sentence in X for token in sentence for name in token})
    dicts = [[dict(token) for token in features_of(sentence)] for sentence in X]
    rows = [np.array([[token[name] for name in names] for token in features_of(s)], float) for s in X]
    whole, sizes = csr_array(np.concatenate(rows)), [len(s) for s in X]
    flat = [tag for tags in y for tag in tags]
    models = [
        hinged.SequenceTagger().fit(X, y),
        hinged.SequenceTagger().fit(dicts, y),
        hinged.SequenceTagger().fit(rows, y),
        hinged.SequenceTagger().fit([csr_array(r) for r in rows], y),
        hinged.SequenceTagger().fit(whole, flat, lengths=sizes),
    ]
    for model, given_ in zip(models, [X, dicts, rows, rows, rows], strict=True):
        np.testing.assert_allclose(model.transitions_, models[0].transitions_, atol=1e-12)
        assert model.predict(given_) == models[0].predict(X)
    assert models[4].predict(whole, lengths=sizes) == models[0].predict(X)
    assert models[4].score(whole, flat, lengths=sizes) == models[0].score(X, y)


@pytest.mark.parametrize("rule", ["pa1", "simproj", "optimal"])
def test_zeros_are_left_out_however_they_come(rule):
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 6, size=25)
    whole = rng.normal(size=(sizes.sum(), 9)) * (rng.random((sizes.sum(), 9)) < 0.4)
    flat = rng.integers(0, 3, size=len(whole))
    ends = np.cumsum(sizes)[:-1]
    stored = csr_array((whole.ravel(), np.tile(np.arange(9), len(whole)), 9 * np.arange(len(whole) + 1)), whole.shape)
    one, *others = models = [hinged.SequenceTagger(rule, n_best=2).declare(range(3)) for _ in range(5)]
    for sentence, tags in zip(np.split(whole, ends), np.split(flat, ends), strict=True):
        one.learn_one(sentence, tags.tolist())
    others[0].partial_fit(whole, flat, lengths=sizes)
    others[1].partial_fit(stored, flat, lengths=sizes)
    tags = [t.tolist() for t in np.split(flat, ends)]
    others[2].partial_fit([stored[a:b] for a, b in pairwise([0, *ends, len(whole)])], tags)
    tokens = [[dict(enumerate(row)) for row in sentence.tolist()] for sentence in np.split(whole, ends)]
    others[3].partial_fit(tokens, tags)
    answers = [*([np.split(whole, ends)] * 4), tokens]
    for model, X in zip(models, answers, strict=True):
        assert model.coef_.tobytes() == one.coef_.tobytes()
        assert (model.transitions_.tobytes(), model.dual_) == (one.transitions_.tobytes(), one.dual_)
        assert (
            np.concatenate(model.decision_function(X)).tobytes()
            == np.concatenate(one.decision_function(np.split(whole, ends))).tobytes()
        )


def test_words_in_dicts_join_their_names_as_crfsuite_has_it():
    X = [[{"word": "the", "capital": True, "near": ["a", "b"], "inner": {"shape": "xx"}}, {"word": "cat"}]]
    model = hinged.SequenceTagger().fit(X, [["D", "N"]])
    assert model.feature_names_ == ["word:the", "capital", "near:a", "near:b", "inner:shape:xx", "word:cat"]
    assert model.predict(X) == [["D", "N"]]


def test_names_never_learnt_count_for_nothing():
    X, y = random_sentences(14, values=False)
    model = hinged.SequenceTagger().fit(X, y)
    assert model.predict([[*sentence, ["unheard"]] for sentence in X]) is not None
    assert model.predict([[[*token, "unheard"] for token in sentence] for sentence in X]) == model.predict(X)
    assert "unheard" not in model.feature_names_


def test_many_tags_and_features_that_come_late_find_room():
    rng = np.random.default_rng(0)
    model, known = hinged.SequenceTagger(average=True), {}
    for t in range(60):
        tag = int(rng.integers(1 + t))
        known[tag] = known.get(tag, 0) + 1
        model.learn_one([[f"f{tag}", f"g{t}"], [f"h{tag}"]], [tag, -tag - 1])
    assert len(model.classes_) == 2 * len(known) > 16
    assert model.coef_.shape == (len(model.classes_), len(model.feature_names_))
    again = hinged.SequenceTagger(average=True).partial_fit([[["f1"], ["h1"]]] * 4, [[1, -2]] * 4)
    assert again.predict([[["f1"], ["h1"]]]) == [[1, -2]]


def test_weights_of_sentences():
    X, y = random_sentences(15)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    some = [i for i in range(len(X)) if weights[i]]
    model = hinged.SequenceTagger(average=True).partial_fit(X, y, classes=TAGS, sample_weight=weights)
    kept = hinged.SequenceTagger(average=True).partial_fit([X[i] for i in some], [y[i] for i in some], classes=TAGS)
    np.testing.assert_array_equal(model.transitions_, kept.transitions_)
    assert (model.n_rounds_, kept.n_rounds_) == (len(X), len(some))
    half = hinged.SequenceTagger(C=0.5).partial_fit(X, y, classes=TAGS)
    same = hinged.SequenceTagger(C=1.0).partial_fit(X, y, classes=TAGS, sample_weight=np.full(len(X), 0.5))
    np.testing.assert_array_equal(half.coef_, same.coef_)


def test_epochs_in_another_order_each():
    X, y = random_sentences(16)
    model = hinged.SequenceTagger(epochs=3, shuffle=True, random_state=0).fit(X, y)
    by_hand, rng = hinged.SequenceTagger().declare(TAGS), np.random.RandomState(0)
    for _ in range(3):
        for i in rng.permutation(len(X)):
            by_hand.learn_one(X[i], y[i])
    order = [by_hand.feature_names_.index(name) for name in model.feature_names_]
    np.testing.assert_allclose(model.coef_, by_hand.coef_[:, order], atol=1e-12)
    assert model.n_rounds_ == 3 * len(X)


@pytest.mark.parametrize(
    ("params", "margin"),
    [
        ({}, np.sqrt),
        ({"constraint": "max-loss"}, np.sqrt),
        ({"constraint": "additive"}, float),
        ({"cost": hamming}, np.sqrt),
    ],
)
def test_a_late_sentence_has_the_loss_of_its_prediction(params, margin):
    X, y = random_sentences(17)
    told = progressive(hinged.SequenceTagger(**params), X, y, classes=TAGS, delay=len(X))
    every = "constraint" in params  # all rivals tie at 0 then, and the costliest is the one with all tags wrong
    wrong = [len(tags) if every else sum(t != "A" for t in tags) for tags in y]
    assert told.losses.tolist() == [margin(n) for n in wrong]


def test_late_answers_are_judged_when_they_were_asked_for():
    X, y = random_sentences(17)
    now, late = (progressive(hinged.SequenceTagger(), X, y, classes=TAGS, delay=d) for d in (0, 4))
    assert now.flags.shape == late.flags.shape
    assert late.flags[:4].tolist() == [int(set(tags) != {"A"}) for tags in y[:4]]  # nothing is learnt yet
    assert late.cost >= late.mistakes > 0
    model = hinged.SequenceTagger()
    assert progressive(model, X, y, classes=TAGS, delay=len(X)).cost == sum(sum(t != "A" for t in tags) for tags in y)


def test_float32_weights_stay_close():
    X, y = random_sentences(18)
    small = hinged.SequenceTagger(dtype="float32", average=True).fit(X, y)
    np.testing.assert_allclose(small.coef_, hinged.SequenceTagger(average=True).fit(X, y).coef_, atol=1e-5)


def test_reasons_sum_to_the_score():
    X, y = random_sentences(19)
    model = hinged.SequenceTagger(average=True, epochs=2).fit(X, y)
    sentence = max(X, key=len)
    found, emissions = model.predict_one(sentence), model.decision_function([sentence])[0]
    at = [TAGS.index(tag) for tag in found]
    for i in range(len(sentence)):
        total = emissions[i, at[i]]
        total += model.transitions_[at[i - 1], at[i]] if i else 0.0
        total += model.transitions_[at[i], at[i + 1]] if i + 1 < len(at) else 0.0
        assert sum(value for _, value in model.explain(sentence, i, top=None)) == pytest.approx(total)
    assert sum(v for _, v in model.explain(sentence[:1], -1, "B", top=None)) == pytest.approx(emissions[0, 1])


# ------------------------------------------------------------------ keeping
@pytest.mark.parametrize("geometry", ["euclidean", hinged.geometry.Adaptive(0.5)])
def test_files_pickles_and_copies_know_the_same_and_go_on_alike(tmp_path, geometry):
    X, y = random_sentences(20)
    model = hinged.SequenceTagger("pa2", cost=COST, average=True, geometry=geometry).partial_fit(X, y, classes=TAGS)
    model.save(tmp_path / "model.hinged")
    twins = [hinged.load(tmp_path / "model.hinged"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for twin in twins:
        twin.partial_fit(X, y)
    model.partial_fit(X, y)
    for twin in twins:
        np.testing.assert_array_equal(twin.coef_, model.coef_)
        assert (twin.dual_, twin.n_rounds_, twin.total_cost_) == (model.dual_, model.n_rounds_, model.total_cost_)
        assert twin.predict(X) == model.predict(X)
        assert twin.feature_names_ == model.feature_names_
        assert twin.model_.metric.seen.tolist()[:9] == model.model_.metric.seen.tolist()[:9]


def test_a_file_asks_for_the_function_it_was_learnt_with(tmp_path):
    X, y = random_sentences(21)
    hinged.SequenceTagger(cost=zero_one).fit(X, y).save(tmp_path / "model.hinged")
    with pytest.raises(ValueError, match="pass it again"):
        hinged.load(tmp_path / "model.hinged")
    assert hinged.load(tmp_path / "model.hinged", cost=zero_one).partial_fit(X, y).n_rounds_ == 50


def test_a_model_of_matrices_is_kept_too(tmp_path):
    rng = np.random.default_rng(0)
    X, y = [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(9)], [["a", "b", "a"]] * 9
    model = hinged.SequenceTagger().fit(X, y)
    model.save(tmp_path / "model.hinged")
    twin = hinged.load(tmp_path / "model.hinged")
    assert twin._model.dtype == np.float32
    assert twin.predict(X) == model.predict(X)
    with pytest.raises(ValueError, match="expecting 4 features"):
        twin.predict([np.ones((2, 5))])


# ------------------------------------------------------------------ bad input
GOOD = [[["a"], ["b"]], [["c"]]], [["A", "B"], ["A"]]


@pytest.mark.parametrize(("X", "y", "says"), [
    ([[["a"], ["b"]]], [["A"]], "sentence 0 .* has 2 tokens and 1 tags"),
    ([[["a"]], [["b"]]], [["A"]], "2 sentences and 1 tag lists"),
    ([[["a"]], []], [["A"], []], "sentence 1 .* has none"),
    ([], [], "at least one sentence"),
    ([["the", "cat"]], [["A", "B"]], "a token must be a list of feature names or a dict"),
    (["the cat"], [["A"]], "a sentence must be a list of tokens"),
    ([[{"a": float("nan")}]], [["A"]], "contains NaN"),
    ([[{"a": 1e200}]], [["A"]], "must not exceed"),
    ([[{"a": object()}]], [["A"]], "value must be a number"),
    ([[[["a"]]]], [["A"]], "name must be hashable"),
    ([[["a"]]], [[float("nan")]], "contains NaN"),
    ([[["a"]]], ["A"], "must be a list"),
    ([[["a"]]], None, "list of tag lists"),
    ([np.ones((1, 3))], [["A"]], "taught with feature names"),
])  # fmt: skip
def test_bad_input_gets_a_sentence_and_changes_nothing(X, y, says):
    model = hinged.SequenceTagger().partial_fit(*GOOD)
    before = pickle.dumps(model._model), model.feature_names_, model.classes_.tolist()
    with pytest.raises((TypeError, ValueError), match=says):
        model.partial_fit(X, y)
    assert (pickle.dumps(model._model), model.feature_names_, model.classes_.tolist()) == before
    fresh = hinged.SequenceTagger()
    if says != "taught with feature names":
        with pytest.raises((TypeError, ValueError), match=says):
            fresh.partial_fit(X, y)
        assert fresh.__dict__.keys() <= hinged.SequenceTagger().__dict__.keys() | {"_lock"}


@pytest.mark.parametrize(("params", "says"), [
    ({"rule": "mira"}, "does not run in a SequenceTagger"),
    ({"rule": "pa3"}, "must be one of"),
    ({"C": -1}, "positive"),
    ({"constraint": "worst"}, "'prediction', 'max-loss' or 'additive'"),
    ({"n_best": 0}, "at least 1"),
    ({"n_best": 3, "constraint": "max-loss"}, "one rival"),
    ({"cost": -np.ones((2, 2))}, "not negative"),
    ({"cost": np.ones((2, 2))}, "the right answer costs nothing"),
    ({"cost": np.zeros((1, 1))}, "there are 2 now"),
    ({"cost": {"A": 1.0}}, "pairs of labels"),
    ({"cost": np.zeros(3)}, "square"),
    ({"cost": COST, "constraint": "max-loss"}, "number of wrong tags alone"),
    ({"cost": zero_one, "constraint": "additive"}, "by position"),
    ({"cost": lambda right, other: -1.0}, "not negative"),
    ({"average": 1}, "True or False"),
    ({"geometry": "entropy"}, "for Classifier and Ranker"),
    ({"dtype": int}, "float32 or float64"),
    ({"epochs": 0}, "epochs"),
])  # fmt: skip
def test_bad_settings_get_a_sentence(params, says):
    model = hinged.SequenceTagger(**params)
    with pytest.raises((TypeError, ValueError), match=says):
        model.fit([[["a"], ["b"]]] * 3, [["B", "A"]] * 3)
    assert not hasattr(model, "classes_")


def test_a_cost_that_fails_on_the_way_takes_all_rounds_back():
    calls = []

    def cost(right, other):
        calls.append(right)
        if len(calls) > 6:
            raise RuntimeError("no more")
        return 1.0

    X, y = random_sentences(22)
    model = hinged.SequenceTagger(cost=cost).partial_fit(X[:3], y[:3], classes=TAGS)
    before = pickle.dumps(model._model), model.feature_names_
    with pytest.raises(RuntimeError, match="no more"):
        model.partial_fit(X, y)
    assert (pickle.dumps(model._model), model.feature_names_) == before


def test_what_may_change_between_rounds():
    X, y = random_sentences(23)
    model = hinged.SequenceTagger().fit(X, y)
    assert model.set_params(C=0.1).partial_fit(X, y).dual_ is None
    with pytest.raises(ValueError, match="average cannot change"):
        model.set_params(average=True).partial_fit(X, y)


def test_asking_before_learning():
    model = hinged.SequenceTagger()
    assert model.predict_one([["a"]]) == []
    assert model.rank_one([["a"]]) == []
    with pytest.raises(ValueError, match="not fitted yet"):
        model.predict([[["a"]]])
    with pytest.raises(ValueError, match="nothing to save"):
        model.save("nowhere")
    with pytest.raises(AttributeError, match="exists after learning"):
        model.dual_  # noqa: B018


def test_an_explanation_adds_up_where_a_feature_is_named_like_a_transition():
    X, y = [[["the"], [("D", "N")]], [["a"], [("D", "N"), "dog"]]], [["D", "N"], ["D", "N"]]
    model = hinged.SequenceTagger().fit(X, y)
    emission, across = model.decision_function(X[:1])[0][1], model.transitions_
    expected = emission[1] + across[0, 1]
    assert model.classes_.tolist() == ["D", "N"]
    assert across[0, 1] != 0.0
    assert sum(share for _, share in model.explain(X[0], 1, top=None)) == pytest.approx(expected)
