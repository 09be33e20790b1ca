"""How likely the best label is right: a logistic regression on its lead and its record, learnt online.

The log odds are a constant, plus the record of the label, plus a function of its lead over the second label that rises
and has corners at 1/2, 1, 2 and 4 mean leads. docs/maths.md, "Confidence", has the formulas.
"""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints

__all__ = ["chances", "learn_lead", "learnt_of_bins", "new_odds"]

CORNERS = (0.5, 1.0, 2.0, 4.0)  # in mean leads
BASE, SLOPES, ERRORS, LEADS, NOTED = 0, 1, 5, 6, 7  # constant, slopes, 1 + Σ (hit - p)², Σ leads, and how many
RATE = 0.5  # η: a weight moves by η (hit - p) / √ERRORS times its feature
RECORD_RATE, KEPT = 0.1, 0.98  # a record moves by 0.1 (hit - p), and of what it was 0.98 is kept


def new_odds() -> Floats:
    """Return the odds of one who has learnt nothing, float64 (8,): 1 : 1 whatever the lead."""
    odds = np.zeros(8)
    odds[ERRORS] = 1.0
    return odds


@compiled(helper=True)
def in_mean_leads(odds: Floats, lead: float) -> float:
    """Return a lead in units of the mean lead so far; 1 before there was any.

    Examples
    --------
    >>> odds = new_odds()
    >>> odds[LEADS:] = 4.0, 2.0
    >>> [float(in_mean_leads(odds, lead)) for lead in (0.0, 2.0, 3.0)]
    [0.0, 1.0, 1.5]
    """
    total = odds[LEADS]
    u = lead * odds[NOTED] / total if total > 0.0 else 1.0
    return u if u > 0.0 else 0.0


@compiled(helper=True)
def chance(odds: Floats, record: float, u: float) -> float:
    """Return the probability that a prediction is right.

    Examples
    --------
    >>> chance(new_odds(), 0.0, 1.0)
    0.5
    """
    log_odds = odds[BASE] + record
    for j in range(len(CORNERS)):
        log_odds += odds[SLOPES + j] * min(u, CORNERS[j])
    return 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))  # e^710 would overflow


@compiled(helper=True, forceinline=True)
def learn_lead(odds: Floats, records: Floats, lead: float, first: int, hit: bool) -> None:
    """Learn whether label `first`, which led by `lead`, was right; slopes stay at 0 or above."""
    u = in_mean_leads(odds, lead)
    error = (1.0 if hit else 0.0) - chance(odds, records[first], u)
    odds[ERRORS] += error * error
    step = RATE * error / math.sqrt(odds[ERRORS])
    odds[BASE] += step
    for j in range(len(CORNERS)):
        odds[SLOPES + j] = max(0.0, odds[SLOPES + j] + step * min(u, CORNERS[j]))
    records[first] = KEPT * records[first] + RECORD_RATE * error
    odds[LEADS] = min(1e300, odds[LEADS] + lead)  # files hold finite numbers
    odds[NOTED] += 1.0


@compiled
def chances(odds: Floats, records: Floats, leads: Floats, firsts: Ints) -> Floats:
    """Return the probability that each label of `firsts`, leading by `leads`, is right.

    Examples
    --------
    >>> chances(new_odds(), np.array([0.0, 40.0]), np.ones(2), np.arange(2)).tolist()
    [0.5, 1.0]
    """
    found = np.empty(leads.shape[0])
    for i in range(leads.shape[0]):
        found[i] = chance(odds, records[firsts[i]], in_mean_leads(odds, leads[i]))
    return found


def learnt_of_bins(rounds: Floats, hits: Floats) -> Floats:
    """Return the odds by what files of earlier versions keep: rounds and hits by bins of the lead, four to a doubling.

    They are learnt again as single predictions of one label, in an order drawn with a fixed seed.

    Examples
    --------
    >>> rounds, hits = np.zeros(96), np.zeros(96)
    >>> rounds[[32, 44]], hits[[32, 44]] = 500.0, (100.0, 450.0)  # leads of 1/4 and 2
    >>> odds = learnt_of_bins(rounds, hits)
    >>> (chances(odds, np.zeros(1), np.array([0.25, 2.0]), np.zeros(2, np.int64)) > 0.5).tolist()
    [False, True]
    """
    right, wrong = np.rint(hits).astype(np.int64), np.rint(np.maximum(rounds - hits, 0.0)).astype(np.int64)
    leads = 2.0 ** (np.arange(len(rounds)) / 4 - 10)
    each = np.concatenate([np.repeat(leads, right), np.repeat(leads, wrong)])
    odds, record = new_odds(), np.zeros(1)
    for i in np.random.default_rng(0).permutation(len(each)).tolist():
        learn_lead(odds, record, each[i], 0, i < right.sum())
        record[0] = 0.0
    return odds
