"""Real rows with several labels, where they lie on this machine, and a sentence where they do not."""

import numpy as np
import pytest
from scipy import sparse

import hinged
from hinged import datasets


def here(name):
    """Skip by name where a data set is missing."""
    try:
        return datasets.folder(name)
    except FileNotFoundError:
        pytest.skip(f"{name} is not on this machine")


@pytest.mark.parametrize(
    ("name", "shape", "n_labels", "n_train", "per_row"),
    [("emotions", (593, 72), 6, 391, 1.868), ("enron", (1702, 1001), 53, 1123, 3.378)],
)
def test_sets_have_the_sizes_their_readme_tells(name, shape, n_labels, n_train, per_row):
    here("multilabel_mulan")
    held = datasets.multilabel(name)
    assert held.X.shape == shape == (len(held.Y), len(held.features))
    assert (held.Y.shape[1], len(held.labels), held.n_train) == (n_labels, n_labels, n_train)
    assert held.Y.sum(axis=1).mean() == pytest.approx(per_row, abs=6e-4)
    assert sparse.issparse(held.X) == (name == "enron")
    assert name in datasets.multilabel_names()
    with pytest.raises(ValueError, match="no multilabel set named 'iris'; choose one of"):
        datasets.multilabel("iris")


def test_a_ranker_learns_emotions():
    here("multilabel_mulan")
    held = datasets.multilabel("emotions")
    X = (held.X - held.X[:60].mean(axis=0)) / held.X[:60].std(axis=0)
    progress = hinged.evaluate.progressive(hinged.Ranker("optimal", C=0.01), X, held.Y)
    assert progress.top(1) > 0.6  # the best label is right, far above chance at 0.31
    assert np.isfinite(progress.rate)


def test_reuters_comes_in_the_order_of_its_split():
    here("reuters21578")
    stories = datasets.reuters()
    assert (len(stories.texts), len(stories.topics), stories.n_train) == (10794, 10794, 7775)
    assert all(stories.topics)
    assert len({topic for topics in stories.topics for topic in topics}) == 118


def test_a_missing_collection_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HINGED_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for ask in (datasets.multilabel_names, datasets.reuters, lambda: datasets.multilabel("yeast")):
        with pytest.raises(FileNotFoundError, match="is not on this machine: it is published at"):
            ask()
