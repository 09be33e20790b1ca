"""Threads share the work, change nothing, and leave BLAS as they found it."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hinged.mercer import Gaussian, Polynomial, learn
from hinged.mercer.workers import ENOUGH, _cores, workers

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(1200, 700)) / 26, RNG.integers(0, 5, 1200)


def blas_threads():
    """Threads of NumPy's own BLAS; SciPy may bring another, which no product here uses."""
    every = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return max(one["num_threads"] for one in every if len(every) == 1 or "numpy" in one["filepath"])


@pytest.fixture
def two_threads():
    if _cores() < 2:
        pytest.skip("one core leaves nothing to share")
    with threadpool_limits(2, user_api="blas"):
        yield blas_threads()


@pytest.mark.parametrize("kernel", [Polynomial(0.5, 3), Gaussian(0.4)])
def test_any_number_of_threads_learns_the_same(kernel, two_threads):
    assert X.size * (len(X) // 8) > ENOUGH
    several = learn(X, Y, kernel, n_labels=5)
    with threadpool_limits(1, user_api="blas"):
        one = learn(X, Y, kernel, n_labels=5)
    np.testing.assert_array_equal(several.flags, one.flags)
    np.testing.assert_allclose(several.scores(X), one.scores(X), rtol=0, atol=1e-10)
    assert blas_threads() == two_threads


def test_blas_is_given_back_by_the_thread_that_held_it_first(two_threads):
    others, done = [], threading.Barrier(3)

    def hold():
        with workers(ENOUGH) as team:
            others.append(list(team.share(abs, range(-3, 0))))
            done.wait()

    with workers(ENOUGH):
        threads = [threading.Thread(target=hold) for _ in range(2)]
        for thread in threads:
            thread.start()
        done.wait()
        for thread in threads:
            thread.join()
        assert blas_threads() == 1
    assert blas_threads() == two_threads
    assert others == [[3, 2, 1]] * 2
    alone = threading.Thread(target=learn, args=(X, Y, Gaussian(0.4)))
    alone.start()
    alone.join()
    assert blas_threads() == two_threads


def test_what_fails_in_a_thread_is_said_and_blas_is_given_back(two_threads):
    huge = np.where(np.arange(len(X))[:, None] == len(X) - 1, 1e200, X)
    with pytest.raises(ValueError, match="the kernel gives infinity"):
        learn(huge, Y, Polynomial(0.5, 3), n_labels=5)
    assert blas_threads() == two_threads


def test_results_come_in_order():
    with workers(ENOUGH) as team:
        assert list(team.share(lambda i: i * i, range(50))) == [i * i for i in range(50)]
        assert team.begin(pow, 2, 5)() == 32
