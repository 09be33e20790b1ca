"""Assessments beside scikit-learn's, and beside plain predicting."""

import io
import json
import random

import numpy as np
import pytest
from sklearn import metrics as sk
from tests.cli.streams import examples

import hinged
from hinged.files import explain_one
from hinged.files.judging import judge
from hinged.io.examples import read

SETTINGS = [{}, {"rule": "pa1", "sharing": "multi", "features": None}, {"average": True}, {"bits": 8}]


def stream(n, seed=0, sets=False):
    rng = random.Random(seed)
    lines = []
    for (y, x), (z, more) in zip(examples(n, seed), examples(n, seed + 1), strict=True):
        if sets:
            lines.append({"topics": [y, z] if y != z and rng.random() < 0.5 else [y], "text": f"{x} {more}"})
        else:  # some mail is filed in the wrong folder
            lines.append({"label": z if rng.random() < 0.2 else y, "text": x})
    return lines


def chunks(lines):
    return read(io.BytesIO("\n".join(map(json.dumps, lines)).encode()), "jsonl", chunk_bytes=2000)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("sets", [False, True])
def test_test_then_train_is_progressive_validation(settings, sets):
    lines = stream(150, sets=sets)
    kind, answer = (hinged.TextRanker, "topics") if sets else (hinged.TextClassifier, "label")
    model, other = kind(**settings), kind(**settings)
    result = judge(model, chunks(lines), keep=True, learns=True)
    texts, answers = [line["text"] for line in lines], [line[answer] for line in lines]
    progress = hinged.evaluate.progressive(other, texts, answers)
    assert np.concatenate(result.flags).tolist() == progress.flags.tolist()
    assert np.concatenate(result.ranks).tolist() == progress.ranks.tolist()
    assert (result.mistakes, result.unseen) == (progress.mistakes, progress.novel)
    assert result.top(3) == pytest.approx(progress.top(3))
    assert (model.coef_ == other.coef_).all()


def test_accuracy_confusion_and_scores_of_labels_are_scikit_learns():
    lines, fresh = stream(150), stream(120, seed=5)
    fresh[7]["label"] = fresh[50]["label"] = "unheard of"
    model = hinged.TextClassifier().fit([line["text"] for line in lines], [line["label"] for line in lines])
    result = judge(model, chunks(fresh))
    right, said = [line["label"] for line in fresh], model.predict([line["text"] for line in fresh]).tolist()
    assert result.unseen == 2
    assert result.accuracy == pytest.approx(sk.accuracy_score(right, said))
    labels = sorted({*right, *said})
    table = sk.confusion_matrix(right, said, labels=labels)
    assert all(result.pairs[a, b] == table[i, j] for i, a in enumerate(labels) for j, b in enumerate(labels))
    scores = {score.label: score for score in result.by_label()}
    precision, recall, f1, support = sk.precision_recall_fscore_support(right, said, labels=labels, zero_division=0)
    for i, label in enumerate(labels):
        ours = scores[label]
        assert (ours.precision, ours.recall, ours.f1, ours.support) == pytest.approx(
            (precision[i], recall[i], f1[i], support[i])
        )
    for name in ("macro", "weighted"):
        expected = sk.precision_recall_fscore_support(right, said, labels=labels, average=name, zero_division=0)
        ours = result.averages()[name]
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(expected[:3])
    wrong = result.confusions()
    assert sum(n for _, _, n in wrong) == result.mistakes
    assert [n for _, _, n in wrong] == sorted((n for _, _, n in wrong), reverse=True)


def test_rankings_of_label_sets_are_scikit_learns():
    lines, fresh = stream(150, sets=True), stream(90, seed=5, sets=True)
    model = hinged.TextRanker().fit([line["text"] for line in lines], [line["topics"] for line in lines])
    result = judge(model, chunks(fresh))
    texts, sets = [line["text"] for line in fresh], [set(line["topics"]) for line in fresh]
    labels = model.classes_.tolist()
    truth = np.array([[label in s for label in labels] for s in sets], int)
    scores = model.decision_function(texts)
    assert result.ranking.average_precision == pytest.approx(sk.label_ranking_average_precision_score(truth, scores))
    assert result.ranking.ranking_loss == pytest.approx(sk.label_ranking_loss(truth, scores))
    assert result.ranking.coverage == pytest.approx(sk.coverage_error(truth, scores))
    best = scores.argmax(axis=1)
    assert result.ranking.one_error == pytest.approx(np.mean([not truth[i, b] for i, b in enumerate(best)]))
    said = np.array([[label in s for label in labels] for s in model.predict(texts)], int)
    precision, recall, *_ = sk.precision_recall_fscore_support(truth, said, zero_division=0)
    ours = {score.label: score for score in result.by_label()}
    assert [ours[label].precision for label in labels] == pytest.approx(precision.tolist())
    assert [ours[label].recall for label in labels] == pytest.approx(recall.tolist())


def test_a_right_label_that_is_alone_is_not_counted():
    model = hinged.TextClassifier()
    result = judge(model, chunks([{"label": "a", "text": "x y"}] * 3), learns=True)
    assert (result.unseen, result.unopposed, result.counted, result.mistakes, result.accuracy) == (1, 2, 0, 0, None)
    assert result.confusions() == []


def test_documents_without_a_right_label_flatter_nobody():
    lines = [{"label": labels, "text": f"word{i % 3} x"} for i, labels in enumerate([["a"], ["b"], ["a", "b"]] * 10)]
    empty = [{"label": [], "text": "x y"}] * 50
    plain = judge(hinged.TextRanker(), chunks(lines), learns=True)
    mixed = judge(hinged.TextRanker(), chunks([*lines[:15], *empty, *lines[15:]]), learns=True)
    assert plain.unopposed == 10  # both of the two labels known are right
    assert mixed.unopposed == plain.unopposed + 50
    assert mixed.counted == plain.counted
    model = hinged.TextRanker().fit([line["text"] for line in lines], [line["label"] for line in lines])
    held_out = judge(model, chunks(empty + lines))
    assert held_out.unopposed == 60
    assert held_out.ranked == held_out.counted == 20


def test_a_reason_names_rival_lead_and_words():
    lines = stream(100)
    model = hinged.TextClassifier().fit([line["text"] for line in lines], [line["label"] for line in lines])
    reason = explain_one(model, "Invoice  for\tthe train xyzzy")
    ranking = model.rank_one("invoice for the train xyzzy")
    assert [reason.label, reason.rival] == ranking[:2]
    assert sum(share for _, share in reason.features) == pytest.approx(reason.score, abs=1e-5)
    assert reason.unknown == ["for", "xyzzy"]
    other = explain_one(model, "invoice for the train xyzzy", ranking[-1])
    assert (other.rank, other.rival) == (4, ranking[0])
    assert other.lead < 0 < reason.lead
