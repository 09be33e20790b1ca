"""Blocks give what plain rounds give, with NumPy alone; kernels say what they cannot do."""

import subprocess
import sys

import numpy as np
import pytest
from tests.reference.kernels import BudgetTwin, KernelTwin, gaussian, polynomial
from tests.reference.learner import Mira

from hinged.mercer import Budget, Centred, Gaussian, Learnt, Linear, Polynomial, learn
from hinged.mercer.functions import diagonal, gram, matrix, squares
from hinged.rules import RULES


def laplacian(A, B):
    return np.exp(-0.3 * np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def dot(x, z):
    return float(x @ z)


KERNELS = [
    (Polynomial(0.5, 3), "multi", polynomial(0.5, 3)),
    (Gaussian(0.4), "multi", gaussian(0.4)),
    (laplacian, "multi", lambda x, z: float(laplacian(x[None], z[None])[0, 0])),
    (Centred(0.4), "single", gaussian(0.4)),
    (Centred(0.4), "hybrid", gaussian(0.4)),
]
#: Other kernels of rows seen from the means of labels.
CENTRED = [
    (Centred(kernel=Polynomial(0.5, 2)), "single", polynomial(0.5, 2)),
    (Centred(kernel=laplacian), "hybrid", lambda x, z: float(laplacian(x[None], z[None])[0, 0])),
]


def stream(n=40, d=3, k=4, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)  # labels appear in the order of their numbers
    return rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(k, d))[y], y


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "simproj"])
@pytest.mark.parametrize(("kernel", "sharing", "plain"), CENTRED)
def test_any_kernel_may_see_rows_from_the_means_of_labels(kernel, sharing, plain, rule):
    X, y = stream()
    twin = KernelTwin(plain, rule, 0.5, sharing=sharing, classes=range(4)).run(X, y.tolist())
    learnt = learn(X, y, kernel, rule, 0.5, sharing=sharing, n_labels=4)
    np.testing.assert_array_equal(learnt.flags, twin.flags)
    expected = twin.scores(X[:5])
    assert np.abs(learnt.scores(X[:5]) - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize(("known", "novel"), [(None, "learn"), (None, "skip"), (4, "learn")])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("kernel", "sharing", "plain"), KERNELS)
def test_blocks_of_any_size_are_plain_rounds(kernel, sharing, plain, rule, known, novel):
    X, y = stream()
    margin = 0.1 if rule == "mira" else 1.0
    twin_rule = Mira(margin, 0.5) if rule == "mira" else rule
    how = {"sharing": sharing, "margin": margin, "novel": novel}
    twin = KernelTwin(plain, twin_rule, 0.5, classes=None if known is None else range(4), **how)
    twin.run(X, y.tolist())
    expected = twin.scores(X[:5])
    for block in (1, 7, 40):
        learnt = learn(X, y, kernel, rule, 0.5, n_labels=known, block=block, **how)
        np.testing.assert_array_equal(learnt.flags, twin.flags)
        assert learnt.updates == twin.updates
        error = np.abs(learnt.scores(X[:5]) - expected).max()
        assert error <= (1e-7 if rule in ("optimal", "mira") else 1e-10) * max(1.0, np.abs(expected).max())


def test_what_is_held_at_once_changes_nothing():
    X, y = stream(n=200)
    whole, tiled = (learn(X, y, Gaussian(0.4), block=32, tile=tile) for tile in (None, 64))
    np.testing.assert_array_equal(whole.flags, tiled.flags)
    np.testing.assert_allclose(whole.scores(X), tiled.scores(X), rtol=0, atol=1e-12)


def test_learning_goes_on_from_before_and_leaves_it_as_it_was():
    X, y = stream(n=60)
    whole = learn(X, y, Polynomial(1.0, 2))
    first = learn(X[:25], y[:25], Polynomial(1.0, 2))
    before = first.scores(X)
    rest = learn(X[25:], y[25:], Polynomial(1.0, 2), before=first)
    np.testing.assert_array_equal(first.scores(X), before)
    np.testing.assert_array_equal(np.append(first.flags, rest.flags), whole.flags)
    np.testing.assert_allclose(rest.scores(X), whole.scores(X), rtol=1e-12)


@pytest.mark.parametrize("drop", ["oldest", "smallest"])
@pytest.mark.parametrize(
    ("kernel", "sharing", "plain"),
    [*KERNELS[3:], (Centred(kernel=laplacian), "single", KERNELS[2][2]), (Centred(kernel=Linear()), "hybrid", dot)],
)
def test_a_budget_counts_rounds_where_labels_share_a_vector(kernel, sharing, plain, drop):
    X, y = stream()
    twin = BudgetTwin(9, drop, plain, "pa1", 0.5, sharing=sharing, classes=range(4)).run(list(X), y.tolist())
    for block in (1, 7, 40):
        learnt = learn(X, y, kernel, "pa1", 0.5, sharing=sharing, n_labels=4, block=block, budget=Budget(9, drop))
        np.testing.assert_array_equal(learnt.flags, twin.flags)
        expected = twin.scores(X[:5])
        assert np.abs(learnt.scores(X[:5]) - expected).max() <= 1e-8 * max(1.0, np.abs(expected).max())
        assert len(set(learnt.machine.shared.filled.rounds.tolist())) <= 9 < learnt.updates
        first = learn(X[:25], y[:25], kernel, "pa1", 0.5, sharing=sharing, n_labels=4, budget=Budget(9, drop))
        rest = learn(X[25:], y[25:], kernel, "pa1", 0.5, sharing=sharing, before=first, block=block)
        np.testing.assert_array_equal(np.append(first.flags, rest.flags), twin.flags)


@pytest.mark.parametrize("drop", ["oldest", "smallest", "project"])
@pytest.mark.parametrize(("kernel", "sharing", "plain"), KERNELS[:3])
def test_a_budget_holds_in_every_round_whatever_the_block(kernel, sharing, plain, drop):
    X, y = stream()
    twin = BudgetTwin(9, drop, plain, "pa1", 0.5, classes=range(4)).run(list(X), y.tolist())
    for block in (1, 7, 40):
        learnt = learn(X, y, kernel, "pa1", 0.5, n_labels=4, block=block, budget=Budget(9, drop))
        np.testing.assert_array_equal(learnt.flags, twin.flags)
        expected = twin.scores(X[:5])
        assert np.abs(learnt.scores(X[:5]) - expected).max() <= 1e-8 * max(1.0, np.abs(expected).max())
        assert learnt.machine.own.n == 9 < learnt.updates
        assert len(learnt.machine.own.held.rows) == 9  # nor is there memory for more


def test_a_projection_moves_the_weights_least():
    X, y = stream(n=12)
    full = learn(X, y, Gaussian(0.4), "pa1", n_labels=4, budget=learn(X, y, Gaussian(0.4), n_labels=4).updates)
    moved = {}
    for drop in ("oldest", "smallest", "project"):
        less = learn(X, y, Gaussian(0.4), "pa1", n_labels=4, budget=Budget(full.updates - 1, drop))
        rows = np.concatenate([full.machine.own.filled.rows, less.machine.own.filled.rows])
        coef = np.concatenate([full.machine.own.filled.coef, -less.machine.own.filled.coef])
        moved[drop] = float(np.sum(coef * (matrix(Gaussian(0.4), rows, rows) @ coef)))
    assert 0.0 < moved["project"] <= moved["smallest"] <= moved["oldest"]


@pytest.mark.parametrize("kernel", [Gaussian(0.4), Polynomial(0.5, 3)])
def test_no_removal_by_projection_moves_the_weights_further_or_makes_them_longer(kernel):
    X, y = stream(n=60)
    before = learn(X[:20], y[:20], kernel, "pa1", n_labels=4, budget=Budget(10, "project"))
    removals = 0
    for i in range(20, len(X)):
        free = Learnt(before.machine.copy(), 4, before.flags, 0, 0)
        free.machine.budget = Budget(11, "project")  # room for the step, and nothing given up
        after = {"free": learn(X[i : i + 1], y[i : i + 1], kernel, "pa1", before=free)}
        for drop in ("project", "smallest"):
            start = Learnt(before.machine.copy(), 4, before.flags, 0, 0)
            start.machine.budget = Budget(10, drop)
            after[drop] = learn(X[i : i + 1], y[i : i + 1], kernel, "pa1", before=start)
        lengths, moved = {}, {}
        for drop, learnt in after.items():
            lengths[drop] = square(kernel, [(learnt, 1.0)])
            moved[drop] = square(kernel, [(learnt, 1.0), (after["free"], -1.0)])
        if after["free"].machine.own.n == 11:
            removals += 1
            assert moved["project"] <= moved["smallest"] * (1 + 1e-9)
            assert lengths["project"] <= lengths["free"] * (1 + 1e-9)
        before = after["project"]
    assert removals > 10


def square(kernel, sums):
    """The squared length of a sum of learners' weights."""
    rows = np.concatenate([learnt.machine.own.filled.rows for learnt, _ in sums])
    coef = np.concatenate([share * learnt.machine.own.filled.coef for learnt, share in sums])
    return float(np.sum(coef * (matrix(kernel, rows, rows) @ coef)))


def test_single_precision_makes_the_same_mistakes():
    X, y = stream(n=200)
    double = learn(X.astype(np.float32).astype(np.float64), y, Gaussian(0.4))
    single = learn(X.astype(np.float32), y, Gaussian(0.4))
    np.testing.assert_array_equal(double.flags, single.flags)
    np.testing.assert_allclose(double.scores(X), single.scores(X.astype(np.float32)), atol=1e-4)


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(0.5, 1), Polynomial(0.0, 4), Polynomial(2.0, 7), Gaussian(0.25)]
)
def test_a_kernel_is_its_formula(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    formula = {
        Linear: lambda x, z: x @ z,
        Polynomial: lambda x, z: (kernel.a + x @ z) ** kernel.d,
        Gaussian: lambda x, z: np.exp(-kernel.gamma * ((x - z) ** 2).sum()),
    }[type(kernel)]
    np.testing.assert_allclose(matrix(kernel, A, B), [[formula(x, z) for z in B] for x in A], rtol=1e-12)
    np.testing.assert_allclose(diagonal(kernel, A, squares(A)), [formula(x, x) for x in A], rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (lambda A, B: A @ B.T + np.arange(len(A))[:, None], "must be symmetric"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "gives NaN"),
        (lambda A, B: -(A @ B.T), r"K\(x, x\) must not be negative"),
        (lambda A, B: A @ B.T @ np.ones((len(B), 1)), "must return an array of shape"),
        (Polynomial(1.0, 2000), "gives infinity"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, says):
    X = np.arange(6.0).reshape(3, 2) + 1.0
    with pytest.raises(ValueError, match=says):
        gram(kernel, X, squares(X))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Polynomial(-1.0, 2), "a must be a finite number that is not negative; got a=-1.0"),
        (lambda: Polynomial(1.0, 2.5), "d must be a whole number of at least 1; got d=2.5"),
        (lambda: Gaussian(0.0), "gamma must be a finite positive number; got gamma=0.0"),
        (lambda: Centred(float("nan")), "gamma must be a finite positive number; got gamma=nan"),
        (lambda: Budget(0), "a budget must be a whole number of at least 1; got 0"),
        (lambda: Budget(5, "newest"), "drop must be one of oldest, smallest, project; got drop='newest'"),
        (lambda: Centred(kernel="rbf"), "kernel must be hinged.mercer.Polynomial"),
        (lambda: Centred(kernel=Centred()), "rows are centred once"),
        (
            lambda: learn(np.ones((1, 1)), [0], Centred(), sharing="single", budget=Budget(5, "project")),
            "drop='project' is for sharing='multi'",
        ),
        (lambda: learn(np.ones((1, 1)), [0], "rbf"), "kernel must be hinged.mercer.Polynomial"),
        (lambda: learn(np.ones((1, 1)), [0], Gaussian), "kernel must be hinged.mercer.Polynomial"),
        (lambda: learn(np.ones((1, 1)), [0], Gaussian(), "pa3"), "rule must be one of"),
        (lambda: learn(np.ones((1, 1)), [0], Gaussian(), sharing="single"), "does not go with"),
    ],
)
def test_bad_settings_are_named(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_numpy_is_all_it_needs():
    ask = (
        "import sys\n"
        "for name in ('numba', 'scipy', 'sklearn', 'torch'): sys.modules[name] = None\n"
        "import numpy as np, hinged\n"
        "from hinged.mercer import Centred, Gaussian, Polynomial, learn\n"
        "X, y = (np.array(eval(line)) for line in sys.stdin)\n"
        "for kernel, sharing in ((Gaussian(0.4), 'multi'), (Polynomial(0.5, 3), 'multi'), (Centred(0.4), 'hybrid')):\n"
        "    for rule in ('perceptron', 'pa', 'pa1', 'pa2', 'simperc', 'simproj', 'conproj'):\n"
        "        learnt = learn(X, y, kernel, rule, 0.5, sharing=sharing)\n"
        "        print(*learnt.flags, learnt.updates, *learnt.scores(X).ravel().tolist())"
    )
    X, y = stream(n=50)
    given = f"{X.tolist()}\n{y.tolist()}"
    told = subprocess.run([sys.executable, "-c", ask], input=given, capture_output=True, text=True, check=True).stdout
    lines = iter(told.splitlines())
    for kernel, sharing in ((Gaussian(0.4), "multi"), (Polynomial(0.5, 3), "multi"), (Centred(0.4), "hybrid")):
        for rule in ("perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj"):
            learnt = learn(X, y, kernel, rule, 0.5, sharing=sharing)
            expected = np.concatenate([learnt.flags, [learnt.updates], learnt.scores(X).ravel()])
            np.testing.assert_allclose(np.array(next(lines).split(), float), expected, rtol=0, atol=1e-9)
