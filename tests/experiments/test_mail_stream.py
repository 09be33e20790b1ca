"""The generated mailbox: the same for the same seed, and shaped like mail."""

import time

import numpy as np
import pytest

from hinged.experiments import datasets, mail_stream


@pytest.fixture(scope="module")
def mail():
    return mail_stream()


def test_the_same_seed_gives_the_same_stream(mail):
    again, other = mail_stream(), mail_stream(seed=1)
    assert (mail.X != again.X).nnz == 0
    assert mail.y.tolist() == again.y.tolist()
    assert (mail.words, mail.subjects, mail.senders) == (again.words, again.subjects, again.senders)
    assert mail.y.tolist() != other.y.tolist()


def test_every_part_has_one_entry_per_message(mail):
    n = len(mail)
    assert n == 3000 == mail.X.shape[0] == len(mail.y) == len(mail.subjects) == len(mail.senders)
    assert mail.mislabelled.shape == (n,)
    assert mail.X.shape[1] == len(mail.words) == len(set(mail.words))
    assert mail.X.has_canonical_format
    assert mail.X.data.min() >= 1.0
    assert np.all(np.diff(mail.X.indptr) > 5)


def test_indices_are_no_wider_than_they_need_to_be(mail):
    from sklearn.svm import LinearSVC

    assert (mail.X.indices.dtype, mail.X.indptr.dtype) == (np.int32, np.int32)
    assert LinearSVC().fit(mail.X[:200], mail.y[:200]).predict(mail.X[:1]).shape == (1,)  # takes no others


def test_folders_appear_over_time_and_differ_in_size(mail):
    folders, first, sizes = np.unique(mail.y, return_index=True, return_counts=True)
    assert len(folders) == 25
    assert np.median(first) > 100
    assert first.max() > 1500
    assert sizes.max() > 20 * sizes.min()
    assert any("/" in folder for folder in folders)


def test_about_the_asked_share_is_mislabelled(mail):
    assert 0.02 < mail.mislabelled.mean() < 0.04
    assert not mail_stream(500, 10, noise=0.0).mislabelled.any()
    first = np.unique(mail.y, return_index=True)[1]
    assert not mail.mislabelled[first].any()


def test_replies_stay_in_the_folder_of_their_thread():
    mail = mail_stream(noise=0.0)
    home = {}
    for subject, folder in zip(mail.subjects, mail.y.tolist(), strict=True):
        if not subject.startswith("Re: "):
            home.setdefault(subject, set()).add(folder)
    replies = [(s[4:], f) for s, f in zip(mail.subjects, mail.y.tolist(), strict=True) if s.startswith("Re: ")]
    assert len(replies) > 500
    assert all(folder in home[subject] for subject, folder in replies)


def test_fields_are_tagged(mail):
    tags = {word.split(":")[0] for word in mail.words if ":" in word}
    assert tags == {"subject", "from", "list"}
    for i in (0, 1500):
        row = mail.X.indices[mail.X.indptr[i] : mail.X.indptr[i + 1]]
        assert f"from:{mail.senders[i]}" in {mail.words[j] for j in row}


def test_the_words_of_a_folder_drift():
    mail = mail_stream(n_folders=2, noise=0.0)
    rows = np.flatnonzero(mail.y == "inbox/people")
    rare = np.asarray((mail.X > 0).sum(axis=0)) < 0.05 * len(mail)
    early, middle, late = (np.asarray(mail.X[part].sum(axis=0)) * rare for part in np.array_split(rows, 9)[0:9:4])
    cosine = lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b))  # noqa: E731
    assert cosine(early, late) < 0.6
    assert cosine(early, middle) < 0.8


def test_dicts_are_the_rows(mail):
    for i, (features, folder) in zip(range(5), mail.dicts(), strict=False):
        assert folder == mail.y[i]
        assert type(folder) is str
        assert sum(features.values()) == mail.X[[i]].sum()


def test_it_is_made_quickly():
    start = time.process_time()
    mail_stream()
    assert time.process_time() - start < 10


@pytest.mark.parametrize("n_folders", [2, 3, 80])
def test_any_number_of_folders_appears(n_folders):
    assert len(set(mail_stream(n_folders + 5, n_folders).y.tolist())) == n_folders


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n_folders": 1}, "n_folders"),
        ({"n_messages": 3}, "n_messages"),
        ({"noise": 1.0}, "noise"),
        ({"noise": float("nan")}, "noise"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_bad_argument_is_named(arguments, named):
    with pytest.raises(ValueError, match=f"{named} must"):
        mail_stream(**arguments)


def test_a_data_set_is_found_where_the_variable_points(tmp_path, monkeypatch):
    (tmp_path / "letter").mkdir()
    monkeypatch.setenv("HINGED_DATA", str(tmp_path))
    assert datasets.folder("letter") == tmp_path / "letter"


def test_the_cache_folder_comes_second(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGED_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "hinged" / "mnist").mkdir(parents=True)
    assert datasets.folder("mnist") == tmp_path / "hinged" / "mnist"


def test_a_missing_data_set_says_what_and_where(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGED_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.folder("enron_folders")
    sentence = str(caught.value)
    assert "Enron" in sentence
    assert "cs.cmu.edu" in sentence
    assert str(tmp_path / "enron_folders") in sentence
    assert "HINGED_DATA" in sentence


def test_an_unknown_data_set_is_refused_by_name():
    with pytest.raises(ValueError, match="'iris'"):
        datasets.folder("iris")
