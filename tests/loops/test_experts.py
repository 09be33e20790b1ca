"""C="auto": several C learn side by side, each as it would alone, and answer together as the proof asks."""

import numpy as np
import pytest
from tests.reference.learner import Twin

import hinged
from hinged.loops.experts import FORGETTING, HALF_DECADES, RATE

ROWS, COLUMNS, LABELS = 120, 5, 4
RULES = ("pa1", "pa2", "simproj", "optimal", "perceptron")


def stream(seed, sets=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS)) / np.sqrt(COLUMNS)
    y = np.argmax(X @ rng.normal(size=(COLUMNS, LABELS)) + rng.normal(size=(ROWS, LABELS)) / 3, axis=1)
    return X, [{int(r), int((r + 1) % LABELS)} if sets and i % 3 else {int(r)} for i, r in enumerate(y)]


class Together:
    """Plain learners with one C each, and their common answer by the formula of docs/maths.md."""

    def __init__(self, **settings):
        self.twins = [Twin(COLUMNS, range(LABELS), C=C, classes=range(LABELS), **settings) for C in HALF_DECADES]
        self.total, self.margin = np.zeros(len(HALF_DECADES)), settings.get("margin", 1.0)
        self.flags, self.gaps, self.mixed, self.losses, self.shares = [], [], [], [], []

    @property
    def share(self):
        weight = np.exp(-RATE * FORGETTING * (self.total - self.total.min()))
        return weight / weight.sum()

    def scores(self, X, averaged=True):
        answers = []
        for twin in self.twins:
            kept, twin.average = twin.average, averaged and twin.average
            answers.append(twin.scores(X))
            twin.average = kept
        return np.tensordot(self.share, answers, axes=1)

    def learn(self, x, relevant, weight=1.0):
        s = self.scores([x], averaged=False)[0]
        gap = min(s[sorted(relevant)]) - max(s[r] for r in range(LABELS) if r not in relevant)
        self.gaps.append(gap)
        self.flags.append(int(gap <= 0))
        self.mixed.append(max(0.0, self.margin - gap))
        self.shares.append(self.share)
        for twin in self.twins:
            twin.learn(x, relevant, weight)
        self.losses.append([twin.history.losses[-1] / self.margin for twin in self.twins])
        if weight > 0:
            self.total = FORGETTING * self.total + self.losses[-1]


@pytest.mark.parametrize("sets", [False, True], ids=["labels", "sets"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "more",
    [{}, {"margin": 0.25}, {"scaling": "standard", "bias": 0.4, "average": True}],
    ids=["plain", "margin", "scaled"],
)
def test_experts_learn_as_alone_and_answer_by_the_formula(more, rule, sets):
    X, y = stream(len(rule), sets)
    weights = np.where(np.arange(ROWS) % 11 == 4, 0.0, 1.0 + np.arange(ROWS) % 2)
    twins = Together(rule=rule, **more)
    for x, relevant, weight in zip(X[:-5], y[:-5], weights[:-5], strict=True):
        twins.learn(x, relevant, weight)
    model = (hinged.Ranker if sets else hinged.Classifier)(rule=rule, C="auto", **more)
    answers = [list(relevant) if sets else min(relevant) for relevant in y]
    told = hinged.evaluate.progressive(model, X[:-5], answers[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    clear = np.abs(twins.gaps) > 1e-12  # of joint steps in label sets, ties are left that rounding decides
    assert told.flags[clear].tolist() == np.array(twins.flags)[clear].tolist()
    assert clear.mean() > 0.9
    np.testing.assert_allclose(told.losses, twins.mixed, atol=1e-9)
    np.testing.assert_allclose(list(model.experts_.values()), twins.share, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[-5:]), twins.scores(X[-5:]), atol=1e-9)
    np.testing.assert_allclose(
        model.model_.experts.sums @ [1, -0.5, -1], [twin.dual for twin in twins.twins], atol=1e-9
    )
    assert model.dual_ is None


@pytest.mark.parametrize("seed", range(5))
def test_the_common_loss_exceeds_the_best_experts_by_no_more_than_is_proven(seed):
    X, y = stream(seed)
    y[60:] = [{(min(relevant) + 1) % LABELS} for relevant in y[60:]]  # the concept changes
    twins = Together(rule="pa1")
    for x, relevant in zip(X, y, strict=True):
        twins.learn(x, relevant)
    losses, shares, mixed = np.array(twins.losses), np.array(twins.shares), np.array(twins.mixed)
    assert (mixed <= (shares * losses).sum(axis=1) + 1e-12).all()  # the hinge is convex
    assert (np.array(twins.flags) <= mixed).all()
    for T in (1, 20, 60, 90, ROWS):
        fade = FORGETTING ** np.arange(T)[::-1]
        best = (fade @ losses[:T]).min()
        spread = fade @ (shares[:T] * losses[:T] ** 2).sum(axis=1)
        assert fade @ mixed[:T] <= best + np.log(len(HALF_DECADES)) / RATE + RATE / 2 * spread + 1e-9


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
        hinged.Classifier(C="auto").partial_fit(X, y).decision_function(X),
        X @ hinged.Classifier(C="auto").partial_fit(X, y).coef_.T,
        atol=1e-12,
    )


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
    with pytest.raises(ValueError, match="no theorem of the papers covers several C at once"):
        hinged.bounds.mistake_bound(hinged.Classifier(C="auto"), X, [min(relevant) for relevant in y])


@pytest.mark.parametrize("rule", ["pa", "mira", "uniform"])
def test_rules_without_a_cap_have_no_experts(rule):
    X, y = stream(3)
    y = [min(relevant) for relevant in y]
    auto, plain = hinged.Classifier(rule, C="auto").fit(X, y), hinged.Classifier(rule).fit(X, y)
    assert auto.experts_ == {}
    assert np.array_equal(auto.coef_, plain.coef_)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"sharing": "hybrid", "features": "frequency"}, "sharing='multi'; got sharing='hybrid'"),
        ({"geometry": "entropy"}, "geometry='euclidean'; got geometry='entropy'"),
        ({"kernel": hinged.mercer.Gaussian(1.0)}, "kernel=None"),
    ],
)
def test_what_experts_cannot_be_combined_with_is_refused_by_name(settings, name):
    with pytest.raises(ValueError, match=name):
        hinged.Classifier(C="auto", **settings).fit([[1.0], [2.0]], [0, 1])


def test_a_cap_cannot_become_several_later():
    model = hinged.Classifier(C="auto").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="C cannot change between 'auto' and a number"):
        model.set_params(C=1.0).learn_one([1.0], 0)
    with pytest.raises(TypeError, match="C must be a number; got C='best'"):
        hinged.Classifier(C="best").fit([[1.0], [2.0]], [0, 1])
