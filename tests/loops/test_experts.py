"""C="auto": several C learn side by side, each as it would alone, and answer together as the proof asks."""

import numpy as np
import pytest
from tests.reference.learner import Twin

import hinged
from hinged.loops.experts import BOLD, FORGETTING, RATE, SINGLE, SOFT

ROWS, COLUMNS, LABELS = 120, 5, 4
RULES = ("pa1", "pa2", "simproj", "optimal", "soft", "perceptron")
GROWTH = 1.5  # a mean of later rounds above all: that of round t counts for t^1.5 - (t - 1)^1.5
AS_THEY_ARE = {"scaling": None, "normalize": False, "bias": 0.0}  # rows


def stream(seed, sets=False, labels=LABELS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS)) / np.sqrt(COLUMNS)
    y = np.argmax(X @ rng.normal(size=(COLUMNS, labels)) + rng.normal(size=(ROWS, labels)) / 3, axis=1)
    return X, [{int(r), int((r + 1) % labels)} if sets and i % 3 else {int(r)} for i, r in enumerate(y)]


class Together:
    """Plain learners with one C each, the mean of the last, and their common answer by the formula of docs/maths.md."""

    def __init__(self, average=False, labels=LABELS, **settings):
        caps = BOLD if settings.get("scaling") == "standard" else SINGLE
        if settings.get("rule") == "soft":
            caps, settings = SOFT, {**settings, "rule": "optimal", "slack": 0.5}
        alone = average or settings.get("half_life", (None, None))[0]  # no mean beside weights that fade
        wanted = [(C, average) for C in caps] + ([] if alone else [(caps[-1], True)])
        known = {"labels": range(labels), "classes": range(labels), **settings}
        growth = 1.0 if average else GROWTH
        self.twins = [Twin(COLUMNS, C=C, average=mean, growth=growth, **known) for C, mean in wanted]
        self.names = [*caps, "mean"][: len(wanted)]
        self.total, self.margin, self.average = np.zeros(len(wanted)), settings.get("margin", 1.0), average
        self.flags, self.gaps, self.mixed, self.wrong, self.leads, self.shares = [], [], [], [], [], []

    @property
    def learners(self):
        return self.twins[:-1] if self.names[-1] == "mean" else self.twins

    @property
    def share(self):
        weight = np.exp(-RATE * FORGETTING * (self.total - self.total.min()))
        return weight / weight.sum()

    def each(self, X, current=False):
        answers = []
        for twin in self.twins:
            kept, twin.average = twin.average, twin.average and not (current and self.average)
            answers.append(twin.scores(X))
            twin.average = kept
        return np.array(answers)

    def scores(self, X):
        return np.tensordot(self.share, self.each(X), axes=1)

    def learn(self, x, relevant, weight=1.0):
        answers = self.each([x], current=True)[:, 0]
        *each, gap = (gap_of(s, relevant) for s in (*answers, self.share @ answers))
        self.gaps.append(gap)
        self.flags.append(int(gap <= 0))
        self.mixed.append(max(0.0, self.margin - gap))
        self.shares.append(self.share)
        self.wrong.append([gap_of(s, relevant, best=True) <= 0 for s in answers])
        self.leads.append(each)
        seen, row = self.twins[0].seen, self.twins[0].scaler.row(x)
        for twin in self.twins:
            twin.learn(x, relevant, weight)
        for twin in self.twins:  # one metric for all: it learns from a round in which any of them moves
            twin.seen = seen + any(each.moved for each in self.twins) * row**2
            twin.seen = twin.known_left * twin.seen if weight > 0 else twin.seen
        if weight > 0:
            self.total = FORGETTING * self.total + self.wrong[-1]


def gap_of(s, relevant, best=False):
    """The lead of the lowest right label, or of the best one.

    Labels that have moved alike tie, though the twins round them differently.
    """
    gap = (max if best else min)(s[sorted(relevant)]) - max(s[r] for r in range(len(s)) if r not in relevant)
    return gap if abs(gap) > 1e-12 else 0.0


SETTINGS = {
    "plain": {},
    "margin": {"margin": 0.25, "scaling": "standard"},
    "scaled": {"scaling": "standard", "bias": 0.4, "average": True},
    "unit": {"scaling": "idf", "normalize": True},
    "metric": {"scaling": "standard", "bias": 0.4, "metric": 0.5},
    "fading": {"scaling": "standard", "bias": 0.4, "half_life": (9.0, 5.0)},
    "statistics": {"scaling": "standard", "bias": 0.4, "half_life": (None, 5.0)},
}
ALONE = {("soft", "scaled"), ("soft", "fading")}  # one learner, or its mean, answers everything: there are no experts


@pytest.mark.parametrize("sets", [False, True], ids=["labels", "sets"])
@pytest.mark.parametrize(("rule", "name"), sorted({(rule, name) for rule in RULES for name in SETTINGS} - ALONE))
def test_experts_learn_as_alone_and_answer_by_the_formula(name, rule, sets):
    more = SETTINGS[name]
    X, y = stream(len(rule), sets)
    weights = np.where(np.arange(ROWS) % 11 == 4, 0.0, 1.0 + np.arange(ROWS) % 2)
    twins = Together(rule=rule, **more)
    for x, relevant, weight in zip(X[:-5], y[:-5], weights[:-5], strict=True):
        twins.learn(x, relevant, weight)
    if rule == "soft":
        rule = hinged.rules.Optimal(slack=0.5)
    certified = "metric" not in more and not more.get("half_life", (None,))[0]
    more = {"geometry": hinged.geometry.Adaptive(name) if (name := more.get("metric")) else "euclidean"} | more
    more.pop("metric", None)
    if "half_life" in more:
        more["half_life"] = hinged.geometry.HalfLife(*more["half_life"])
    model = (hinged.Ranker if sets else hinged.Classifier)(rule=rule, C="auto", **(AS_THEY_ARE | more))
    answers = [list(relevant) if sets else min(relevant) for relevant in y]
    told = hinged.evaluate.progressive(model, X[:-5], answers[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    clear = np.abs(twins.gaps) > 1e-12  # of joint steps in label sets, ties are left that rounding decides
    assert told.flags[clear].tolist() == np.array(twins.flags)[clear].tolist()
    assert clear.mean() > 0.9
    np.testing.assert_allclose(told.losses, twins.mixed, atol=1e-9)
    assert list(model.experts_) == twins.names
    np.testing.assert_allclose(list(model.experts_.values()), twins.share, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[-5:]), twins.scores(X[-5:]), atol=1e-9)
    if certified:
        duals = [twin.dual for twin in twins.learners]
        np.testing.assert_allclose(model.model_.experts.sums @ [1, -0.5, -1], duals, atol=1e-9)
    assert model.dual_ is None


@pytest.mark.parametrize("average", [False, True])
def test_more_labels_than_fit_a_segment_are_learnt_by_the_formula(average):
    labels, settings = 70, {"rule": "simproj", "scaling": "standard", "bias": 0.0}
    settings |= {"average": True} if average else {}
    X, y = stream(8, labels=labels)
    twins = Together(labels=labels, **settings)
    for x, relevant in zip(X[:30], y[:30], strict=True):
        twins.learn(x, relevant)
    model = hinged.Classifier(C="auto", **settings)
    told = hinged.evaluate.progressive(model, X[:30], [min(relevant) for relevant in y[:30]], classes=range(labels))
    np.testing.assert_allclose(told.losses, twins.mixed, atol=1e-9)
    np.testing.assert_allclose(list(model.experts_.values()), twins.share, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[30:35]), twins.scores(X[30:35]), atol=1e-9)
    shares = model.explain(X[30], 69, top=None)
    assert sum(share for _, share in shares) == pytest.approx(model.decision_function(X[30:31])[0, 69])


@pytest.mark.parametrize("seed", range(5))
def test_the_common_mistakes_exceed_the_best_forecasters_by_no_more_than_is_proven(seed):
    X, y = stream(seed)
    y[60:] = [{(min(relevant) + 1) % LABELS} for relevant in y[60:]]  # the concept changes
    twins = Together(rule="pa1", scaling="standard")
    for x, relevant in zip(X, y, strict=True):
        twins.learn(x, relevant)
    wrong, shares, leads = np.array(twins.wrong, float), np.array(twins.shares), np.array(twins.leads)
    assert wrong.sum(axis=0).min() < wrong.sum(axis=0).max()
    held = (shares * wrong).sum(axis=1)  # the share of those that are wrong
    # a and b of each round alone: with those of all rounds the bound is weaker
    ahead = np.where(wrong == 1, np.inf, leads).min(axis=1)
    behind = np.where(wrong == 1, -leads, 0.0).max(axis=1)
    flags = np.array(twins.flags)
    sure = np.isfinite(ahead)
    assert (flags[sure] * ahead[sure] <= held[sure] * (ahead + behind)[sure] + 1e-12).all()
    assert (held[~sure] > 1 - 1e-12).all()
    a, b = ahead.min(), behind.max()
    for T in (1, 20, 60, 90, ROWS):
        fade = FORGETTING ** np.arange(T)[::-1]
        left, best = fade @ held[:T], (fade @ wrong[:T]).min()
        assert left <= best + np.log(wrong.shape[1]) / RATE + RATE / 2 * left + 1e-9
        assert fade @ flags[:T] <= (1 + b / a) * left + 1e-9


def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(tmp_path):
    X, y = stream(1)
    y = [min(relevant) for relevant in y]
    whole = hinged.Classifier(C="auto", scaling="standard").partial_fit(X, y)
    alone = hinged.Classifier(C="auto", scaling="standard").partial_fit(X[:30], y[:30])
    alone.save(tmp_path / "model")
    alone = hinged.load(tmp_path / "model")
    for x, label in zip(X[30:], y[30:], strict=True):
        alone.learn_one(x, label)
    assert np.array_equal(whole.coef_, alone.coef_)
    assert whole.experts_ == alone.experts_
    assert np.array_equal(whole.decision_function(X), alone.decision_function(X))
    shares = whole.explain(X[0], y[0], top=None)
    at = whole.classes_.tolist().index(y[0])
    assert sum(share for _, share in shares) == pytest.approx(whole.decision_function(X[:1])[0, at])
    np.testing.assert_allclose(
        hinged.Classifier(C="auto", scaling=None).partial_fit(X, y).decision_function(X),
        X @ hinged.Classifier(C="auto", scaling=None).partial_fit(X, y).coef_.T,
        atol=1e-12,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("more", [{}, {"scaling": "standard"}, {"cost": {(0, 1): 3.0}}], ids=["one", "two", "costs"])
def test_a_delay_changes_when_rows_are_predicted_and_nothing_that_is_learnt(more, dtype):
    X, y = stream(6)
    y = [min(relevant) for relevant in y]
    model, late = (hinged.Classifier("optimal", C="auto", dtype=dtype, **more) for _ in range(2))
    told = hinged.evaluate.progressive(model, X, y, classes=range(LABELS))
    told_late = hinged.evaluate.progressive(late, X, y, classes=range(LABELS), delay=4)
    assert model.experts_ == late.experts_
    assert len(set(model.experts_.values())) > 1
    assert np.array_equal(model.coef_, late.coef_)
    assert np.array_equal(model.model_.experts.sums, late.model_.experts.sums)
    assert told.flags.tolist() != told_late.flags.tolist()
    assert np.array_equal(model.decision_function(X), late.decision_function(X))


def test_one_learner_whose_mean_answers_everything_is_no_expert():
    X, y = stream(3)
    y = [min(relevant) for relevant in y]
    auto, plain = (hinged.Classifier(C=C, average=True, scaling=None).fit(X, y) for C in ("auto", 1.0))
    assert auto.experts_ == {}
    assert np.array_equal(auto.coef_, plain.coef_)


def test_labels_are_renamed_merged_and_removed_with_all_experts():
    X, y = stream(2)
    y = [min(relevant) for relevant in y]
    model = hinged.Classifier(C="auto").fit(X, y)
    before = model.decision_function(X)
    model.rename_label(0, "zero")
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.merge_labels(3, 2)
    merged = np.column_stack([before[:, :2], before[:, 2] + before[:, 3]])
    np.testing.assert_allclose(model.decision_function(X), merged, atol=1e-12)
    model.remove_label(1)
    np.testing.assert_allclose(model.decision_function(X), merged[:, 2] - merged[:, 0], atol=1e-12)


def test_a_round_that_brings_a_label_is_learnt_and_judges_no_expert():
    X, y = stream(4)
    model = hinged.Classifier(C="auto").partial_fit(X[:60], [min(relevant) for relevant in y[:60]])
    shares, before = model.experts_, model.decision_function(X[:1])
    model.learn_one(X[70], "new")
    assert model.experts_ == shares
    assert len(set(shares.values())) > 1
    assert model.classes_.tolist()[-1] == "new"
    assert not np.array_equal(model.decision_function(X[:1])[:, :-1], before)
    model.learn_one(X[71], "new")
    assert model.experts_ != shares


def test_no_bound_of_the_papers_is_given_for_several_caps():
    X, y = stream(5)
    with pytest.raises(ValueError, match="no theorem of the papers covers C='auto'"):
        hinged.bounds.mistake_bound(hinged.Classifier(C="auto"), X, [min(relevant) for relevant in y])


@pytest.mark.parametrize("rule", ["pa", "mira", "uniform"])
def test_rules_without_a_cap_have_no_experts(rule):
    X, y = stream(3)
    y = [min(relevant) for relevant in y]
    auto, plain = hinged.Classifier(rule, C="auto").fit(X, y), hinged.Classifier(rule).fit(X, y)
    assert auto.experts_ == {}
    assert np.array_equal(auto.coef_, plain.coef_)


@pytest.mark.parametrize(
    "settings",
    [
        {"sharing": "hybrid", "features": "frequency"},
        {"geometry": "entropy", "margin": 0.1},
        {"kernel": hinged.mercer.Gaussian(1.0)},
    ],
    ids=["shared", "entropy", "kernel"],
)
def test_where_experts_are_not_possible_c_is_one(settings):
    X, y = np.eye(3)[[0, 1, 2] * 4], [0, 1, 2] * 4
    auto, plain = (hinged.Classifier("pa1", C=C, **settings).fit(X, y) for C in ("auto", 1.0))
    assert auto.experts_ == {}
    assert (auto.settled_["C"], auto.settled_["average"]) == (1.0, False)
    assert auto.dual_ == plain.dual_ > 0.0
    assert np.array_equal(auto.decision_function(X), plain.decision_function(X))


def test_a_cap_cannot_become_several_later():
    model = hinged.Classifier(C="auto").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="C cannot change between 'auto' and a number"):
        model.set_params(C=1.0).learn_one([1.0], 0)
    with pytest.raises(TypeError, match="C must be a number; got C='best'"):
        hinged.Classifier(C="best").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("kind", [hinged.Classifier, hinged.Ranker, hinged.BinaryClassifier, hinged.Regressor])
def test_a_model_stored_when_all_rounds_counted_alike_goes_on_as_it_began(kind):
    X, sets = stream(7, sets=kind is hinged.Ranker)
    y = [sorted(labels) if kind is hinged.Ranker else min(labels) % 2 for labels in sets]
    model = kind(rule="pa1", C="auto", scaling="standard", bias=0.0)
    model = model.partial_fit(X[:1], y[:1], **({"classes": [0, 1]} if kind is hinged.BinaryClassifier else {})).model_
    state = model.__getstate__()
    if "forecasters" in state:
        state["forecasters"] = type(state["forecasters"])(*state["forecasters"][:4])
    else:
        for name in ("experts.growth", "experts.by_best"):
            del state["arrays"][name]
    old = object.__new__(type(model))
    old.__setstate__(state)
    kept = old.forecasters if "forecasters" in state else old.experts
    assert kept.growth == 1.0
    assert not getattr(kept, "by_best", False)
    assert old.copy().arrays().keys() == model.arrays().keys()
    again = getattr(old.copy(), "forecasters", None) or old.copy().experts
    assert again.growth == 1.0


@pytest.mark.parametrize("growth", [np.array([2.0]), np.array([1.5, 1.5])])
def test_a_damaged_growth_is_refused(growth):
    model = hinged.Classifier().fit([[1.0, 2.0], [2.0, 1.0]], [0, 1]).model_
    state = model.__getstate__()
    state["arrays"]["experts.growth"] = growth
    with pytest.raises(ValueError, match="its growth is damaged"):
        model.copy().__setstate__(state)
