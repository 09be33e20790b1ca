"""The promise about filing keeps its bounds against any mail, and its monitor raises no alarm without cause."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hinged.mail.promise import FEW, MOST, PATIENCE, START, TRIED, Promise, evidence, rehearse, share_of

ALPHAS = st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 20), Fraction(3, 100)])
#: Runs of messages that are alike: clear enough to be filed or not, right or wrong, so many of them.
STREAMS = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 120)), min_size=1, max_size=12)


def follow(alpha, stream, delays=(0,)):
    """Run a promise over (clear, wrong) messages; each mistake is corrected after a delay, counted in messages.

    Returns, by message: was it filed, was that wrong, did it wait in a pause; and the most mistakes at any time that
    were filed and not corrected yet.
    """
    promise, due, rows, most = Promise(1 - alpha, saved=Fraction(START)), [], [], 0
    for t, (clear, wrong) in enumerate(stream):
        for _ in [None for when in due if when <= t]:
            promise = promise.corrected()
        due = [when for when in due if when > t]
        filed, paused = promise.allows(0 if clear else 1), promise.is_paused
        if filed:
            promise = promise.filed()
            if wrong:
                due.append(t + 1 + delays[t % len(delays)])
        else:
            promise = promise.waits()
        most = max(most, len(due))
        rows.append((filed, filed and wrong, paused and not filed))
    return np.array(rows, int).T, most


def worst_excess(alpha, rows, most_saved):
    """The largest excess of wrong messages over what is promised, over all stretches of the stream."""
    filed, wrong, paused = (np.concatenate([[0], np.cumsum(row)]) for row in rows)
    worst = -np.inf
    for i in range(len(filed)):
        n, k, m = filed[i:] - filed[i], wrong[i:] - wrong[i], paused[i:] - paused[i]
        saved = START if i == 0 else most_saved
        worst = max(worst, np.max(k - float(alpha) * n - np.sqrt(2 * m / PATIENCE)) - saved)
    return worst


def spelled_out(runs):
    return [(clear, wrong) for clear, wrong, times in runs for _ in range(times)]


@given(ALPHAS, STREAMS)
def test_no_stretch_of_any_mail_holds_more_mistakes_than_promised(alpha, runs):
    rows, _ = follow(alpha, spelled_out(runs))
    assert worst_excess(alpha, rows, MOST) <= 1e-9


@given(ALPHAS, STREAMS, st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_corrections_that_come_late_cost_no_more_than_those_outstanding(alpha, runs, delays):
    rows, most = follow(alpha, spelled_out(runs), delays)
    assert worst_excess(alpha, rows, MOST) <= max(0, most - 1) + 1e-9


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 20)])
def test_an_adversary_that_knows_the_rule_comes_close_to_the_bound(alpha):
    """Right until nothing more can be saved, then wrong while anything is filed: the bound cannot be much lower."""
    stream = [(True, False)] * round((MOST - START) / alpha) + [(True, True)] * 2 * MOST
    rows, _ = follow(alpha, stream)
    assert -2 < worst_excess(alpha, rows, MOST) <= 0


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 20)])
def test_against_mail_that_is_always_wrong_mistakes_grow_like_a_square_root(alpha):
    rows, _ = follow(alpha, [(True, True)] * 20_000)
    wrong = np.cumsum(rows[1])
    for t in (2_000, 20_000):
        root = sqrt(2 * t / PATIENCE)
        assert root - 3 < wrong[t - 1] <= (START + root) / (1 - float(alpha))


def test_savings_that_are_not_used_let_more_risk_pass_up_to_a_limit():
    promise = Promise(0.75)
    assert promise.limit == 0.25
    for _ in range(100):
        promise = promise.filed()
    assert promise.saved == MOST
    assert promise.limit == pytest.approx(0.25 * 3.1)


def test_a_pause_ends_after_a_wait_that_grows_with_each_loan_and_shrinks_when_one_is_paid_back():
    promise = Promise(0.75, saved=0.0)
    for loan in (1, 2):
        for left in range(PATIENCE * loan, 0, -1):
            assert (promise.is_paused, promise.to_wait) == (True, left)
            promise = promise.waits()
        assert (promise.is_paused, promise.to_wait, promise.loans) == (False, 0, loan)
        promise = promise.filed().corrected()
    promise = promise._replace(saved=2.5, loans=2)
    promise = promise.filed().filed()
    assert (promise.saved, promise.loans) == (2.0, 1)


def test_an_alarm_empties_the_savings_and_begins_the_wait_anew():
    assert Promise(0.75, saved=6.5, loans=1).broken() == Promise(0.75, saved=0, loans=1)
    assert Promise(0.75, saved=-2.25, waited=5).broken() == Promise(0.75, saved=-2.25, waited=0)


# ---------------------------------------------------------------------- the monitor
@given(ALPHAS, st.fractions(0, 1), st.fractions(0, 2000))
def test_while_the_promise_is_kept_evidence_grows_by_at_most_one_a_message(alpha, share, before):
    """The expected evidence after a message, minus the number of messages, does not rise: so says Shiryaev-Roberts."""
    p = share * alpha
    after = p * Fraction(3) + (1 - p)
    assert (before + 1) * after / (1 + 2 * alpha) <= before + 1
    told = [evidence([wrong], 1 - float(alpha), float(before)) for wrong in (True, False)]
    expected = float(p) * told[0] + float(1 - p) * told[1]
    assert expected == pytest.approx(float((before + 1) * after / (1 + 2 * alpha)))


@pytest.mark.parametrize("alpha", [0.5, 0.25, 0.05])
def test_the_chance_of_a_false_alarm_is_at_most_messages_by_level(alpha):
    """Exact, over all outcomes of ten messages that are wrong with the promised probability; so for any level."""
    n, tops, chances = 10, [], []
    for wrong in product([False, True], repeat=n):
        speaks, top = 0.0, 0.0
        for one in wrong:
            speaks = evidence([one], 1 - alpha, speaks)
            top = max(top, speaks)
        tops.append(top)
        chances.append(alpha ** sum(wrong) * (1 - alpha) ** (n - sum(wrong)))
    tops, chances = np.array(tops), np.array(chances)
    assert chances.sum() == pytest.approx(1)
    for level in (2, 5, 10, 50, 100, 1000):
        assert chances[tops >= level].sum() <= n / level


@given(ALPHAS, st.lists(st.booleans(), max_size=12))
def test_evidence_is_the_sum_of_likelihood_ratios_since_every_moment(alpha, wrong):
    a = float(alpha)
    p = 3 * a / (1 + 2 * a)  # whose odds are three times those of a
    ratios = [p / a if one else (1 - p) / (1 - a) for one in wrong]
    assert evidence(wrong, 1 - a) == pytest.approx(sum(np.prod(ratios[i:]) for i in range(len(wrong))))


def test_a_rehearsal_files_nothing_too_early_too_thin_or_too_risky():
    n = 400
    rng = np.random.default_rng(0)
    risks, sizes, wrong = rng.random(n) * 0.2, rng.integers(0, 20, n), rng.random(n) < 0.05
    found = rehearse(0.95, risks, sizes, wrong)
    assert found.filed.any()
    assert not found.filed[:TRIED].any()
    assert sizes[found.filed].min() >= FEW
    assert risks[found.filed].max() <= 0.05 * 3.1
    assert (found.wrong == (found.filed & wrong)).all()
    assert found.share_right == 1 - found.wrong.sum() / found.filed.sum()
    assert rehearse(0.95, [], [], []).share_filed == 0
    assert rehearse(0.95, [], [], []).share_right is None


def test_mail_that_turns_bad_sounds_the_alarm():
    wrong = [False] * 300 + [True] * 20
    found = rehearse(0.95, [0.01] * 320, [9] * 320, wrong)
    assert found.alarms == 1
    assert found.wrong.sum() < MOST


@pytest.mark.parametrize("text", ["", "often", "1/0", "21/20", "1", "0.3", "1 in 20", "19/", "100%", "-1/2", "nan"])
def test_a_share_that_cannot_be_promised_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"(?s)19/20.*\.$"):
        share_of(text)
