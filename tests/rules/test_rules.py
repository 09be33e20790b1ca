"""The rules one by one: numbers worked out by hand, and what the papers promise of each step."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.plain import PLAIN, Classifier

import hinged
from hinged.rules import RULES, Mira, pa, pa1, pa2, perceptron, resolve, words
from hinged.rules.combine import simultaneous

losses = st.floats(1e-6, 1e6)
norms = st.floats(1e-6, 1e6)
caps = st.floats(1e-6, 1e6)


# ------------------------------------------------------------------ one constraint
@given(losses, norms)
def test_the_plain_step_meets_the_margin(loss, sq_norm):
    assert pa(loss, sq_norm) * sq_norm == pytest.approx(loss)


@given(losses, norms, caps)
def test_the_capped_step_is_the_plain_one_or_the_cap(loss, sq_norm, C):
    step = pa1(loss, sq_norm, C)
    assert step == min(C, pa(loss, sq_norm))
    assert pa1(loss, sq_norm, math.inf) == pa(loss, sq_norm)


@given(losses, norms, caps)
def test_the_softened_step_maximises_its_own_dual(loss, sq_norm, C):
    def dual(step):
        return step * loss - 0.5 * step**2 * sq_norm - step**2 / (4 * C)

    step = pa2(loss, sq_norm, C)
    assert 0.0 < step <= pa(loss, sq_norm)
    for other in (0.99 * step, 1.01 * step):
        assert dual(other) <= dual(step) * (1 + 1e-12)


def test_steps_on_a_direction_of_norm_zero():
    assert pa(1.0, 0.0) == 0.0
    assert pa1(1.0, 0.0, 0.25) == 0.25
    assert pa1(1.0, 0.0, math.inf) == 0.0
    assert pa2(1.0, 0.0, 0.25) == 0.5  # 2 C times the loss


def test_a_perceptron_moves_by_c_on_mistakes_and_ties_alone():
    assert [perceptron(gap, 0.5) for gap in (-1.0, 0.0, 1e-300, 1.0)] == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize(
    ("dtype", "value"), [(float, 1e-160), (float, 5e-324), (np.float32, 1e-20), (np.float32, 1e-40)]
)
def test_weights_stay_numbers_however_small_the_values(rule, dtype, value):
    X = (np.eye(3) * value).astype(dtype)
    for settings in ({}, PLAIN | {"C": 1.0}, PLAIN | {"sharing": "hybrid", "features": "first"}):
        model = hinged.Classifier(rule=rule, **settings).declare(list("abc"))
        for _ in range(3):
            model.partial_fit(X, list("abc"))
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.decision_function(X)).all()


# ------------------------------------------------------------------ many constraints at once
def together(rule, scores, right, norm, margin=1.0, C=1.0):
    """Net coefficients with the same norm for every pair."""
    scores = np.array(scores, float)
    relevant = np.array(right, np.int64)
    is_relevant = np.isin(np.arange(len(scores)), relevant)
    g = np.zeros(len(scores))
    total = simultaneous(
        RULES[rule].words, scores, relevant, is_relevant, np.full((len(relevant), len(scores)), norm), margin, C, g
    )
    return total, g


def test_simperc_shares_c_among_the_labels_ranked_wrongly():
    # right label 0 at score 0; label 1 above it, label 2 at a tie, label 3 below
    total, g = together("simperc", [0.0, 1.0, 0.0, -0.5], [0], 2.0, C=0.5)
    assert total == 0.5
    np.testing.assert_array_equal(g, [0.5, -0.25, -0.25, 0.0])


def test_conproj_averages_the_steps_of_the_labels_ranked_wrongly():
    # losses 2, 1 on the two pairs, norm 4: steps 1/2 and 1/4, halved
    total, g = together("conproj", [0.0, 1.0, 0.0, -0.5], [0], 4.0)
    assert total == 0.375
    np.testing.assert_array_equal(g, [0.375, -0.25, -0.125, 0.0])


def test_simproj_averages_the_steps_of_all_that_miss_the_margin():
    # losses 2, 1, 1/2 on three pairs, norm 4, capped at 3/8: steps 3/8, 1/4, 1/8, each a third
    total, g = together("simproj", [0.0, 1.0, 0.0, -0.5, -1.0], [0], 4.0, C=0.375)
    assert total == pytest.approx(0.25)
    np.testing.assert_allclose(g, [0.25, -0.125, -1 / 12, -1 / 24, 0.0])


def test_a_margin_met_exactly_is_met():
    assert together("simproj", [1.0, 0.0], [0], 2.0)[0] == 0.0
    assert together("conproj", [0.5, 0.0], [0], 2.0)[0] == 0.0
    assert together("simperc", [5e-324, 0.0], [0], 2.0)[0] == 0.0


def test_several_right_labels_make_a_pair_with_each_wrong_one():
    # right 0 and 1, wrong 2; pairs (0, 2) at -1 and (1, 2) at 0: two mistakes, C halved between them
    total, g = together("simperc", [0.0, 1.0, 1.0], [0, 1], 2.0)
    assert total == 1.0
    np.testing.assert_array_equal(g, [0.5, 0.5, -1.0])


def test_a_pair_of_norm_zero_takes_the_cap_and_counts():
    total, g = together("simproj", [0.0, 0.0], [0], 0.0, C=0.25)
    assert total == 0.25
    np.testing.assert_array_equal(g, [0.25, -0.25])


@given(st.lists(st.integers(-8, 8).map(lambda v: v / 4), min_size=2, max_size=12), st.data())
def test_simultaneous_steps_are_feasible_whatever_the_scores(scores, data):
    right = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1, max_size=len(scores) - 1))
    C = data.draw(st.sampled_from([0.01, 1.0, 8.0]))
    norm = data.draw(st.sampled_from([0.0, 0.5, 4.0]))
    assume(len(right) < len(scores))
    inside = np.isin(np.arange(len(scores)), list(right))
    for rule in ("simperc", "simproj", "conproj"):
        total, g = together(rule, scores, sorted(right), norm, C=C)
        assert 0.0 <= total <= C * (1 + 1e-12)
        assert np.all(g[inside] >= 0.0)
        assert np.all(g[~inside] <= 0.0)
        assert g.sum() == pytest.approx(0.0, abs=1e-12 * (1 + C))
        assert g[inside].sum() == pytest.approx(total, abs=1e-12 * (1 + C))


# ------------------------------------------------------------------ the table
def test_every_rule_has_a_name_three_words_and_a_line():
    for name, row in RULES.items():
        step, own = resolve(name, 0.5, 1.0)
        assert (step.words, own) == (row.words, None)
        assert len(row.meaning.split()) > 3


def test_uniform_is_simperc_with_c_of_one_and_mira_brings_its_own_numbers():
    uniform, _ = resolve("uniform", 0.125, 1.0)
    assert (uniform.C, uniform.uses_weight) == (1.0, False)
    mira, _ = resolve("mira", 0.125, 1.0)
    assert (mira.C, mira.margin, mira.uses_weight, mira.certified) == (math.inf, 0.01, False, False)
    capped, _ = resolve(Mira(beta=0.5, cap=1.0), 0.125, 1.0)
    assert (capped.C, capped.margin, capped.certified) == (1.0, 0.5, True)


@pytest.mark.parametrize("scheme", [{}, {"sharing": "hybrid", "features": "frequency"}], ids=["multi", "hybrid"])
def test_rules_that_are_the_same_by_definition_learn_the_same(scheme):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-2, 3, (50, 6)).astype(float), rng.integers(0, 4, 50).tolist()

    def coef(rule, C=1.0, margin=1.0):
        return Classifier(rule=rule, C=C, margin=margin, **scheme).fit(X, y).coef_

    np.testing.assert_array_equal(coef("uniform", C=0.125), coef("simperc", C=1.0))
    np.testing.assert_array_equal(coef("pa", C=0.125), coef("pa1", C=math.inf))
    np.testing.assert_allclose(coef(Mira(beta=0.5, cap=0.25)), coef("optimal", C=0.25, margin=0.5), atol=1e-9)


def test_with_two_labels_all_projections_are_one():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60).tolist()
    expected = Classifier(rule="pa1", C=0.1).fit(X, y).coef_
    for rule in ("simproj", "optimal"):
        np.testing.assert_allclose(Classifier(rule=rule, C=0.1).fit(X, y).coef_, expected, atol=1e-12)


ROOT = Path(hinged.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("module", [m for m in MODULES if m.split("/")[0] != "rules"])
def test_no_other_code_asks_which_rule_it_is(module):
    asked = []
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            told = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
            asked += [f"line {node.lineno}: {value}" for value in told if isinstance(value, str) and value in RULES]
    assert asked == []


#: The Triton program has no other way to read the words than by their numbers.
COMPARING = {"mercer/persistent.py"}


@pytest.mark.parametrize("module", [m for m in MODULES if m.split("/")[0] != "rules" and m not in COMPARING])
def test_no_other_code_compares_the_words_of_rules(module):
    compared = []
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "hinged.rules.words":
            compared += [alias.name for alias in node.names if alias.name.isupper()]
        elif isinstance(node, ast.ImportFrom) and node.module == "hinged.rules":
            compared += [alias.name for alias in node.names if alias.name == "words"]
    assert compared == []


def test_the_documentation_has_the_words_of_every_rule():
    names = {
        "chooses": {words.WORST: "worst", words.WRONG: "wrong", words.MISSING: "missing"},
        "length": {words.CONSTANT: "constant", words.PA: "PA", words.PA1: "PA-I", words.PA2: "PA-II"},
        "combines": {words.ONE: "one", words.MEAN: "mean", words.JOINT: "joint"},
    }
    page = (Path(__file__).parents[2] / "docs" / "maths.md").read_text(encoding="utf-8")
    section = page[page.index("## A rule is three words") : page.index("## Perceptron")]
    said = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`(\w+)`", cells[0]) if len(cells) == 4 else []:
            said[name] = cells[1:]
    assert said == {
        name: [kind[word] for kind, word in zip(names.values(), row.words, strict=True)] for name, row in RULES.items()
    }
