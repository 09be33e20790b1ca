"""Learners that take turns on one stream."""

import pytest

import hinged
from hinged.experiments import mail_stream, side_by_side


def learn(chunk, progress=None):
    mail = mail_stream(150, 6)
    models = {"auto": hinged.Classifier(), "perceptron": hinged.Classifier("perceptron")}
    return side_by_side(models, mail.X, mail.y, chunk=chunk, progress=progress)


def test_the_size_of_a_chunk_changes_nothing():
    whole, parts = learn(1000), learn(7)
    for one, other in zip(whole, parts, strict=True):
        assert one.name == other.name
        assert one.progress.flags.tolist() == other.progress.flags.tolist()
        assert one.progress.ranks.tolist() == other.progress.ranks.tolist()
        assert one.progress.updates == other.progress.updates
        assert abs(one.model.coef_ - other.model.coef_).max() <= 1e-12


def test_labels_and_features_that_outgrow_their_pages_change_nothing_either():
    mail = mail_stream()
    flags = []
    for chunk in (len(mail), 50):
        model = hinged.Classifier(sharing="hybrid", features="frequency", scaling="idf", normalize=True)
        flags.append(side_by_side({"hybrid": model}, mail.X, mail.y, chunk=chunk)[0].progress.flags.tolist())
    assert flags[0] == flags[1]


def test_progress_counts_every_round_of_every_learner():
    calls = []
    learn(40, lambda done, total: calls.append((done, total)))
    assert len(calls) == 8
    assert calls[-1] == (300, 300)
    assert calls == sorted(calls)


def test_an_empty_chunk_is_refused():
    with pytest.raises(ValueError, match="chunk must be at least 1"):
        learn(0)
