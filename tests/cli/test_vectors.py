"""Two labels, numbers, ranks and outliers from the command line."""

import json

import numpy as np
import pytest
from tests.cli.conftest import is_one_sentence

import hinged

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)).round(3)
SCORE = X @ np.array([1.0, -2.0, 0.5]) + 0.2 * rng.normal(size=120)
ANSWERS = {
    "binary": ["yes" if s > 0 else "no" for s in SCORE],
    "regress": SCORE.round(4).tolist(),
    "ordinal": np.digitize(SCORE, [-1.5, 0.0, 1.5]).tolist(),
}
ESTIMATORS = {"binary": "BinaryClassifier", "regress": "Regressor", "ordinal": "OrdinalClassifier"}


def table(path, task, rows=X):
    lines = ["a,b,c,answer", *(f"{a},{b},{c},{y}" for (a, b, c), y in zip(rows, ANSWERS[task], strict=False))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("task", ANSWERS)
def test_a_file_is_learnt_asked_judged_and_explained(call, tmp_path, task):
    path, model = table(tmp_path / "t.csv", task), tmp_path / "m.hinged"
    code, out, err = call("learn", path, "--task", task, "--label", "answer", "--model", model, "--json")
    assert (code, err) == (0, "")
    learnt = json.loads(out)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    twin = hinged.load(model).__class__(scaling="standard", bias=1 / np.sqrt(3))
    told = hinged.evaluate.progressive(twin, rows, ANSWERS[task])
    if task != "ordinal":  # ranks come in their own order there: a rank between two known ones would be refused
        assert (learnt["mistakes"], learnt["estimator"]) == (told.mistakes, ESTIMATORS[task])
        assert learnt["certificate"] == pytest.approx(twin.dual_)
    code, out, err = call("predict", path, "--model", model)
    assert (code, err, len(out.splitlines())) == (0, "", 120)
    said = [json.loads(line) for line in call("predict", path, "--model", model, "--json")[1].splitlines()]
    assert said[4]["line"] == 6
    assert [str(one["answer"])[:4] for one in said][:20] == [line[:4] for line in out.splitlines()][:20]
    judged = json.loads(call("evaluate", path, "--model", model, "--label", "answer", "--json")[1])
    assert judged["examples"] == 120
    assert (judged["R²"] if task == "regress" else judged["accuracy"]) > 0.6
    shown = call("explain", "--model", model, '{"a": 1.0, "zebra": 2.0}')[1]
    assert "never learnt: zebra" in shown
    assert ESTIMATORS[task] in call("inspect", model)[1]
    code, out, _ = call("learn", path, "--label", "answer", "--model", model, "--json")  # goes on
    assert json.loads(out)["total_rounds"] == 240


def test_a_learner_is_judged_while_it_learns_or_on_what_it_was_not_shown(call, tmp_path):
    path = table(tmp_path / "t.csv", "regress")
    asked = ("evaluate", path, "--task", "regress", "--label", "answer", "--json")
    online, held = (json.loads(call(*asked, *more)[1]) for more in ((), ("--holdout", 0.25, "--passes", 3)))
    assert (online["examples"], held["examples"]) == (119, 30)
    assert max(online["mean absolute error"], held["mean absolute error"]) < 0.5
    shown = call("evaluate", path, "--task", "ordinal", "--order", "0,1,2,3", "--label", "answer")
    assert shown[0] == 1  # these answers are no ranks of that order
    path = table(tmp_path / "r.csv", "ordinal")
    code, out, _ = call("evaluate", path, "--task", "ordinal", "--order", "0,1,2,3", "--label", "answer")
    assert code == 0
    assert "mean ranks apart" in out


def test_outliers_need_no_answers(call, tmp_path):
    path, model = tmp_path / "t.svm", tmp_path / "m.hinged"
    path.write_text("".join(f"0 1:{a} 2:{b}\n" for a, b, _ in X))
    code, out, err = call(
        "learn", path, "--task", "outliers", "--radius", "learn", "--max-radius", 3, "--model", model, "--json"
    )
    assert (code, err, json.loads(out)["rounds"]) == (0, "", 120)
    far = call("predict", "--model", model, "--format", "svmlight", stdin="0 1:50 2:50\n0 1:0.1 2:0.1\n")[1]
    assert far.split() == ["-1", "1"]
    assert "share outside" in call("evaluate", path, "--model", model)[1]
    assert "│" in call("explain", "--model", model, "1:50 2:0")[1]


@pytest.mark.parametrize(("more", "said"), [
    (("--task", "regress"), "t.csv:2: 'yes' is not a number; expected one to regress"),
    (("--task", "binary", "--sharing", "hybrid"), "sharing is no setting for the task binary"),
    (("--task", "binary", "--C", "-1"), "C must be positive; got C=-1.0"),
    (("--cost", "tree", "--task", "regress"), "cost is no setting for the task regress"),
    (("--constraint", "additive"), "constraint must be 'prediction' or 'max-loss'"),
    (("--task", "outliers", "--radius", "wide"), "--radius is a number or learn"),
    (("--task", "outliers", "--radius", "learn"), "needs max_radius"),
])  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_sentence_and_writes_nothing(call, tmp_path, more, said):
    path, model = table(tmp_path / "t.csv", "binary"), tmp_path / "m.hinged"
    code, _, err = call("learn", path, "--label", "answer", "--model", model, *more)
    assert code != 0
    assert said in " ".join(err.replace("│", " ").split())
    assert not model.exists()


def test_costs_come_from_a_tree_or_a_file(call, tmp_path):
    path, prices, model = tmp_path / "t.tsv", tmp_path / "prices.csv", tmp_path / "m.hinged"
    path.write_text(
        "".join(f"{label}\t{word} it\n" for label, word in [("a/x", "one"), ("a/y", "two"), ("b", "six")] * 9)
    )
    asked = ("learn", path, "--format", "lines", "--rule", "pa1", "--fresh", "--model", model)
    for cost, expected in (("tree", hinged.costs.Tree()), (prices, {("a/x", "b"): 5.0})):
        prices.write_text("right,answered,cost\na/x,b,5\n")
        assert call(*asked, "--cost", cost, "--constraint", "prediction")[0] == 0
        assert hinged.load(model).cost == expected
    prices.write_text("right,answered,cost\na/x,b,dear\n")
    code, _, err = call(*asked, "--cost", prices)
    assert (code, "prices.csv:2: expected right, answered, cost" in " ".join(err.replace("│", " ").split())) == (
        2,
        True,
    )


def test_options_of_rankings_are_refused_for_one_answer(call, tmp_path):
    path, model = table(tmp_path / "t.csv", "binary"), tmp_path / "m.hinged"
    assert call("learn", path, "--label", "answer", "--task", "binary", "--model", model)[0] == 0
    for command in (("predict", path, "--top", 2), ("evaluate", path, "--label", "answer", "--report", tmp_path / "r")):
        code, _, err = call(*command, "--model", model)
        assert code == 2
        assert "rankings of labels" in " ".join(err.replace("│", " ").split())
    code, _, err = call("evaluate", path, "--label", "answer", "--task", "binary", "--bound")
    assert code == 2
    assert "--bound is for rankings of labels" in err
    code, _, err = call("explain", "--model", model, "--label", "yes", '{"a": 1}')
    assert code == 1
    assert is_one_sentence(err)
    code, _, err = call("learn", path, "--task", "regress", "--label", "answer", "--model", model)
    assert "was learnt to binary" in err
