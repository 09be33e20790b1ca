"""Rows on a device: PyTorch's CPU for the products, Triton's interpreter for the program, the same results as NumPy."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from tests import needs

import hinged
from hinged.mercer import Budget, Centred, Gaussian, Linear, Polynomial, learn
from hinged.mercer.device import resolve_device
from hinged.rules import RULES, words
from hinged.rules.combine import Directions, Labels, over_labels

EXTRA = "pip install torch"


@pytest.fixture(scope="module")
def torch():
    return needs.module("torch", EXTRA)


@pytest.fixture(scope="module")
def device(torch):
    needs.module("triton", "pip install triton")
    return torch.device("cpu")


@pytest.fixture
def on_host(device, monkeypatch):
    """The device without its program: products there, rounds on the host."""
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    return device


def stream(n=45, k=4, dtype=np.float64):
    rng = np.random.default_rng(7)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 3)) + 0.7 * rng.normal(size=(k, 3))[y]
    X[9] = 0.0  # a row without length
    X[20] = X[21]
    return X.astype(dtype), y


def cube(A, B):
    return (A @ B.T + 0.5) ** 3


def alike(ours, theirs, X, tolerance=1e-10):
    np.testing.assert_array_equal(ours.flags, theirs.flags)
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=0, atol=tolerance * max(1.0, theirs.losses.max()))
    assert (ours.updates, ours.n_labels) == (theirs.updates, theirs.n_labels)
    a, b = ours.machine.own.filled, theirs.machine.own.filled
    np.testing.assert_array_equal(a.rounds, b.rounds)
    np.testing.assert_allclose(a.coef, b.coef, rtol=0, atol=tolerance * max(1.0, np.abs(b.coef).max()))
    expected = theirs.scores(X)
    np.testing.assert_allclose(ours.scores(X), expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("known", "novel"), [(None, "learn"), (None, "skip"), (4, "learn")])
@pytest.mark.parametrize("rule", RULES)
def test_a_program_runs_the_rounds_of_every_rule(rule, known, novel, device):
    X, y = stream()
    how = {"margin": 0.1 if rule == "mira" else 1.0, "n_labels": known, "novel": novel}
    ours, theirs = (learn(X, y, Polynomial(0.0, 2), rule, 0.4, device=d, block=37, **how) for d in (device, "cpu"))
    alike(ours, theirs, X)


#: Every way to make a rule of the words that programs know; the table has some of them.
WORDS = [
    *(words.Words(words.WORST, length, words.ONE) for length in range(4)),
    *(words.Words(choose, length, words.MEAN) for choose in (words.WRONG, words.MISSING) for length in range(4)),
    *(words.Words(words.MISSING, length, words.JOINT) for length in (words.PA, words.PA1)),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter computes with NumPy
@pytest.mark.parametrize("rule", WORDS, ids=str)
def test_a_program_makes_the_steps_of_the_rules_to_the_last_bit(rule, device):
    from tests.mercer.step_program import one_step

    rng, k, least, steps = np.random.default_rng(5), 4, 1e-60, 0  # of so few labels both add up sums in the same order
    for t in range(40):
        scores, y = np.round(rng.normal(size=k), 1 if t % 2 else 17), int(rng.integers(k))
        length, margin, C = (0.0, 1e-61, 0.3, 7.0)[t % 4] * rng.random(), (0.5, 1.0)[t % 2], (0.2, 5.0, np.inf)[t % 3]
        right = np.arange(k) == y
        rival = int(np.where(right, -np.inf, scores).argmax())
        if scores[y] - scores[rival] >= margin or (np.isinf(C) and rule.length in (words.CONSTANT, words.PA2)):
            continue
        norms = np.full((1, k), 2.0 * length if 2.0 * length >= least else 0.0)
        directions = Directions(norms, np.zeros((0, 0)), length if length >= least else 0.0)
        g = np.zeros(k)
        total, softened = over_labels(rule, Labels(scores, np.array([y]), right, 0, rival), directions, margin, C, g)
        ours, our_total, our_softened = one_step(rule, scores, y, length, margin, C, least)
        np.testing.assert_array_equal(ours, g)
        assert (our_total, our_softened) == (total, softened)
        steps += total > 0.0
    assert steps > 5


@pytest.mark.parametrize("kernel", [Polynomial(0.5, 5), Gaussian(0.4), Linear(), cube])
def test_every_kernel_gives_the_same_on_a_device(kernel, device):
    X, y = stream()
    alike(learn(X, y, kernel, device=device, block=16), learn(X, y, kernel), X)


def test_single_precision_makes_the_same_mistakes(device):
    X, y = stream(dtype=np.float32)
    alike(learn(X, y, Gaussian(0.4), device=device), learn(X, y, Gaussian(0.4)), X, 1e-5)


def test_more_labels_take_narrower_strips(device):
    X, y = stream(n=40, k=35)
    alike(learn(X, y, Gaussian(0.4), "simproj", device=device), learn(X, y, Gaussian(0.4), "simproj"), X)


def test_small_tiles_and_going_on_change_nothing(device):
    X, y = stream()
    first = learn(X[:20], y[:20], Gaussian(0.4), device=device, block=8, tile=16)
    ours = learn(X[20:], y[20:], Gaussian(0.4), before=first, device=device, block=8, tile=16)
    before = learn(X[:20], y[:20], Gaussian(0.4))
    theirs = learn(X[20:], y[20:], Gaussian(0.4), before=before)
    np.testing.assert_array_equal(ours.flags, theirs.flags)
    np.testing.assert_allclose(ours.scores(X), theirs.scores(X), rtol=0, atol=1e-12)
    assert first.machine.own.n == before.machine.own.n  # as it was


@pytest.mark.parametrize("rule", ["pa1", "optimal"])
def test_rounds_on_the_host_give_the_same(rule, on_host):
    X, y = stream()
    alike(learn(X, y, Gaussian(0.4), rule, device=on_host), learn(X, y, Gaussian(0.4), rule), X)


@pytest.mark.parametrize("sharing", ["single", "hybrid"])
def test_shared_vectors_live_there_as_well(sharing, device):
    X, y = stream()
    ours, theirs = (learn(X, y, Centred(0.4), sharing=sharing, device=d) for d in (device, "cpu"))
    np.testing.assert_array_equal(ours.flags, theirs.flags)
    np.testing.assert_allclose(ours.scores(X), theirs.scores(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("novel", ["learn", "skip"])
def test_estimators_go_on_from_files_and_pickles(device, novel, tmp_path):
    X, y = stream()
    weights = np.where(np.arange(len(X)) % 5 == 0, 0.0, 1.5)
    how = {"kernel": Gaussian(0.4), "novel": novel}
    there = hinged.Classifier("pa2", device=device, **how).partial_fit(X, y, sample_weight=weights)
    here = hinged.Classifier("pa2", **how).partial_fit(X, y, sample_weight=weights)
    for name in ("n_mistakes_", "n_updates_", "n_novel_"):
        assert getattr(there, name) == getattr(here, name)
    assert there.dual_ == pytest.approx(here.dual_, rel=1e-12)
    np.testing.assert_allclose(there.confidence(X), here.confidence(X), rtol=0, atol=1e-12)
    assert [round_ for round_, _ in there.explain(X[3], 1)] == [round_ for round_, _ in here.explain(X[3], 1)]
    there.save(tmp_path / "model")
    loaded = hinged.load(tmp_path / "model")
    assert loaded.device == "auto"
    np.testing.assert_array_equal(loaded.support_vectors_, there.support_vectors_)
    np.testing.assert_allclose(loaded.decision_function(X), there.decision_function(X), rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(there)).partial_fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), here.partial_fit(X, y).decision_function(X), atol=1e-10)
    there.merge_labels(2, 1)
    assert list(there.classes_) == [label for label in here.classes_ if label != 2]


def test_label_sets_two_labels_and_numbers_use_the_device_for_products(device):
    X, y = stream()
    for make, target in [
        (
            lambda d: hinged.Ranker(kernel=Gaussian(0.4), device=d),
            [{int(a), int(a + 1) % 4} for a in y],
        ),
        (lambda d: hinged.BinaryClassifier(kernel=Gaussian(0.4), device=d), y > 1),
        (lambda d: hinged.Regressor(kernel=Gaussian(0.4), device=d), X[:, 0] ** 2),
    ]:
        there, here = (make(d).fit(X, target) for d in (device, "cpu"))
        assert there.n_mistakes_ == here.n_mistakes_
        np.testing.assert_array_equal(there.support_, here.support_)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter computes with NumPy
@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (Polynomial(0.5, 400), "the kernel gives infinity"),
        (lambda A, B: A @ B.T * float("nan"), "the kernel gives NaN"),
        (lambda A, B: -(A @ B.T), r"K\(x, x\) must not be negative"),
        (lambda A, B: (A @ B.T) * (1 + A[:, :1]), "a kernel must be symmetric"),
    ],
)
def test_a_kernel_that_fails_there_says_so_and_changes_nothing(kernel, says, device):
    X, y = stream()
    model = hinged.Classifier(kernel=kernel, device=device)
    with pytest.raises(ValueError, match=says):
        model.partial_fit(30.0 + X, y)
    assert not hasattr(model, "classes_")


def test_a_device_that_is_not_there_is_refused_by_name(torch):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ValueError, match=r"device='cuda' cannot be used: PyTorch .* finds no CUDA device"):
        hinged.Classifier(kernel=Gaussian(), device="cuda").fit([[0.0], [1.0]], [0, 1])
    assert resolve_device("auto") is None


def test_devices_are_for_kernels_without_a_budget(device):
    with pytest.raises(ValueError, match="is for learners with a kernel"):
        hinged.Classifier(device=device).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="a budget keeps what is remembered on the CPU"):
        hinged.Classifier(kernel=Gaussian(), budget=Budget(3), device=device).fit([[0.0], [1.0]], [0, 1])


def test_numpy_and_pytorch_are_all_it_needs(device):
    ask = (
        "import sys\n"
        "for name in ('numba', 'scipy', 'sklearn'): sys.modules[name] = None\n"
        "import numpy as np, torch\n"
        "from hinged.mercer import Gaussian, learn\n"
        "X, y = np.eye(4), np.array([0, 1, 0, 1])\n"
        "for rule in ('pa1', 'simproj', 'optimal'):\n"
        "    print(learn(X, y, Gaussian(), rule, device=torch.device('cpu')).mistakes)"
    )
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    assert told == [str(learn(X, y, Gaussian(), rule).mistakes) for rule in ("pa1", "simproj", "optimal")]
