"""Searches over sequences of tags: what the compiled ones find is the best of all sequences, written down."""

from itertools import product
from math import sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hinged.tasks.sequence import (
    best_by_errors,
    best_path,
    best_paths,
    largest_loss,
    path_score,
    raised_by_cost,
    room_for,
)

WIDTH = 8


def problem(seed, n, k):
    """Emissions and transitions without ties, padded."""
    rng = np.random.default_rng(seed)
    E, T = np.zeros((n, WIDTH)), np.zeros((WIDTH, WIDTH))
    E[:, :k], T[:k, :k] = rng.normal(size=(n, k)), rng.normal(size=(k, k))
    E[:, k:] = 1e9  # padding is never chosen
    return E, T, rng.integers(0, k, n)


def written_down(E, T, k, bonus=lambda y: 0.0):
    """Every sequence with its score plus bonus, best first; ties by the last tag first."""
    n = len(E)
    each = []
    for y in product(range(k), repeat=n):
        score = E[0, y[0]]
        for i in range(1, n):
            score = score + T[y[i - 1], y[i]] + E[i, y[i]]
        each.append((score + bonus(y), y))
    return sorted(each, key=lambda one: (-one[0], one[1][::-1]))


def one_best(E, T, k):
    n = len(E)
    tags = np.zeros(n, np.int64)
    score = best_path(E, T, n, k, np.zeros((n, WIDTH), np.int64), np.zeros((2, WIDTH)), tags)
    return score, tuple(tags.tolist())


def several_best(E, T, k, m):
    n = len(E)
    tags, tops = np.zeros((m, n), np.int64), np.zeros(m)
    found = best_paths(E, T, n, k, m, room_for(n, WIDTH, k, m), tags, tops)
    return [(tops[j], tuple(tags[j].tolist())) for j in range(found)]


def by_errors(E, T, k, right):
    n = len(E)
    tags = np.zeros(n, np.int64)
    errors = best_by_errors(E, T, n, k, right, n, room_for(n, WIDTH, k, 1, False, True), tags)
    return errors, tuple(tags.tolist())


def by_largest_loss(E, T, k, right):
    n = len(E)
    tags, room = np.zeros(n, np.int64), room_for(n, WIDTH, k, 1, True, True)
    raised_by_cost(E, n, k, right, np.zeros((0, 0)), room.raised)
    predicted = np.array(one_best(E, T, k)[1])
    errors = largest_loss(E, T, n, k, right, predicted, room, tags)
    return errors, tuple(tags.tolist())


sizes = {"seed": st.integers(0, 2**31), "n": st.integers(1, 5), "k": st.integers(1, 4)}


@given(**sizes)
def test_the_search_finds_the_best_of_all_sequences(seed, n, k):
    E, T, _ = problem(seed, n, k)
    best = written_down(E, T, k)[0]
    assert one_best(E, T, k) == best
    assert path_score(E, T, n, np.array(best[1])) == best[0]


@given(**sizes, m=st.integers(1, 7))
def test_the_list_holds_the_best_of_all_sequences(seed, n, k, m):
    E, T, _ = problem(seed, n, k)
    assert several_best(E, T, k, m) == written_down(E, T, k)[:m]


@given(**sizes, lead=st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_the_search_by_errors_finds_the_largest_loss(seed, n, k, lead):
    E, T, right = problem(seed, n, k)
    E[np.arange(n), right] += lead  # the right sequence loses, wins, or wins by far

    def errors(y):
        return sum(a != b for a, b in zip(y, right.tolist(), strict=True))

    best = written_down(E, T, k, lambda y: sqrt(errors(y)))[0][1]
    assert by_errors(E, T, k, right) == (errors(best), best)
    assert by_largest_loss(E, T, k, right) == (errors(best), best)


@given(**sizes, m=st.integers(1, 5))
def test_ties_go_to_the_lowest_tag_from_the_end_on(seed, n, k, m):
    E, T, _ = problem(seed, n, k)
    E[:, :k], T[:k, :k] = np.round(E[:, :k]), np.round(T[:k, :k])  # whole numbers: scores are exact, ties common
    assert one_best(E, T, k) == written_down(E, T, k)[0]
    listed = several_best(E, T, k, m)
    assert listed[0] == written_down(E, T, k)[0]
    assert [score for score, _ in listed] == [score for score, _ in written_down(E, T, k)[:m]]


def test_more_tags_than_one_vector_and_a_long_sentence():
    rng = np.random.default_rng(3)
    n, k = 400, 37
    E, T = rng.normal(size=(n, 40)), rng.normal(size=(40, 40))
    tags = np.zeros(n, np.int64)
    score = best_path(E, T, n, k, np.zeros((n, 40), np.int64), np.zeros((2, 40)), tags)
    best = E[0, :k]
    for i in range(1, n):
        best = (best[:, None] + T[:k, :k]).max(axis=0) + E[i, :k]
    assert score == best.max() == path_score(E, T, n, tags)
