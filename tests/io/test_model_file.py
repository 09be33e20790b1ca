"""The model file: what comes back is the same model to the last bit, and what is not a model gets one sentence."""

import copy
import json
import os
import pickle
import stat
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from safetensors.numpy import save as safetensors_save
from tests import plain
from tests.estimators.own_rule import half_of_pa

import hinged
from hinged.evaluate import progressive
from hinged.io import write
from hinged.io.model_file import TYPES, pieces
from hinged.rules import Mira, Optimal
from hinged.sharing import Frequency, Groups

LABELS = ["a", "b", "c", "d"]


def stream(seed, rounds=80):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 4, (rounds, 8)) * (rng.random((rounds, 8)) < 0.5)
    return X.astype(float), [LABELS[r] for r in np.argmax(X @ rng.normal(size=(8, 4)), axis=1)]


def phi(x, label):
    return {(name, label): value for name, value in x.items()}


def other_phi(x, label):
    return {name: -value for name, value in x.items()}


SETTINGS = {
    "multi": {},
    "float32": {"dtype": np.float32},
    "float64 by name": {"dtype": "float64"},
    "single first": {"sharing": "single", "features": "first"},
    "single frequency": {"sharing": "single", "features": Frequency(high=0.3, low=0.1, low_strict=True)},
    "hybrid distance": {"sharing": "hybrid", "features": "distance"},
    "hybrid tfidf": {"sharing": "hybrid", "features": "tfidf"},
    "groups": {"sharing": Groups([{"a"}, {"b", "c"}, {"a", "b", "c", "d"}])},
    "groups with features": {"sharing": Groups([{"a", "b"}, {"c", "d"}], [None, Frequency(high=0.5)])},
    "average": {"average": True, "bias": 0.5},
    "scaled": {"scaling": "idf", "normalize": True, "average": True},
    "standard": {"scaling": "standard", "average": True},
    "mira": {"rule": "mira"},
    "Mira": {"rule": Mira(beta=0.05, cap=1.0)},
    "optimal": {"rule": Optimal(), "sharing": "hybrid", "features": "first"},
    "pa without a cap": {"rule": "pa1", "C": float("inf")},
    "weights of labels": {"class_weight": {"a": 0.5, ("t", 1): 2.0}, "C": 0.01},
    "everything else": {"rule": "pa2", "margin": 0.5, "epochs": 2, "shuffle": True, "random_state": 3, "n_features": 8},
    "own features": {"sharing": "hybrid", "features": phi},
    "own rule": {"rule": half_of_pa},
}
GIVEN = {"own features": {"features": phi}, "own rule": {"rule": half_of_pa}}


def facts(model, probes):
    """Everything that can be asked, to compare bit for bit."""
    shown = {
        "kind": type(model),
        "params": repr(model.get_params()),
        "classes": model.classes_.tolist(),
        "types": [type(label) for label in model.classes_.tolist()],
        "counts": (model.n_rounds_, model.n_mistakes_, model.n_updates_, model.n_novel_),
        "dual": model.dual_,
        "coef": (model.coef_.dtype, model.coef_.shape, model.coef_.tobytes()),
        "scores": model.decision_function(probes).tobytes(),
        "confidence": model.confidence(probes).tobytes(),
        "predictions": list(model.predict(probes)),
        "reasons": model.explain(probes[0], model.classes_[0], top=None),
    }
    if hasattr(model, "shared_coef_"):
        shown["shared"] = model.shared_coef_.tobytes()
    return shown


def saved(model, path, **given):
    model.save(path)
    return hinged.load(path, **given)


# ------------------------------------------------------------------ there and back
@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_comes_back_bit_for_bit_and_goes_on_learning_the_same(name, tmp_path):
    X, y = stream(1)
    model = hinged.Classifier(**SETTINGS[name]).partial_fit(X[:40], y[:40])
    again = saved(model, tmp_path / "model", **GIVEN.get(name, {}))
    assert facts(again, X) == facts(model, X)
    flags = [progressive(m, np.hstack([X, X[:, :2]])[40:], [*y[40:79], "new"]).flags.tolist() for m in (model, again)]
    assert flags[0] == flags[1]
    wide = np.hstack([X, X[:, :2]])
    assert facts(again, wide) == facts(model, wide)


def test_a_model_of_a_thousand_names_and_labels_comes_back(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {f"name {j}": float(v) for j, v in zip(rng.integers(0, 3000, 6), rng.integers(1, 4, 6), strict=True)}
        for _ in range(900)
    ]
    y = [f"label {r}" for r in rng.integers(0, 130, 900)]
    for settings in ({"scaling": "idf"}, {"sharing": "hybrid", "features": "frequency", "average": True}):
        model = hinged.Classifier(**settings)
        for x, label in zip(rows[:600], y[:600], strict=True):
            model.learn_one(x, label)
        again = saved(model, tmp_path / "model")
        assert facts(again, rows[:50]) == facts(model, rows[:50])
        for m in (model, again):
            m.partial_fit(rows[600:], y[600:])
        assert facts(again, rows[:50]) == facts(model, rows[:50])


@pytest.mark.parametrize("labels", [
    ["text", "", "naïve ☕", "a\0b", "line\nbreak", "\ud800"],
    [3, -1, 2**80, 0],
    [0.1, -0.0, float("inf"), 5e-324],
    [True, False],
    [None, "None"],
    [b"bytes", b"", b"\xff\0"],
    [("a", 1), ("a", (None, b"x", 2.5)), ()],
    ["1", 2, 3.5, b"1", None, ("1",)],
], ids=str)  # fmt: skip
def test_labels_of_every_kind_that_can_be_saved_come_back_as_they_were(labels, tmp_path):
    X = np.eye(len(labels))
    model = hinged.Classifier().partial_fit(np.vstack([X, X]), labels * 2)
    again = saved(model, tmp_path / "model")
    assert again.classes_.tolist() == labels
    assert [type(label) for label in again.known_labels()] == [type(label) for label in labels]
    assert again.predict(X).tolist() == labels


def test_names_of_every_kind_come_back_as_they_were(tmp_path):
    names = ["text", 3, 2.5, True, None, b"x", ("subject", "tax")]
    model = hinged.Classifier()
    for i, name in enumerate(names * 2):
        model.learn_one({name: 1.0}, i % len(names))
    again = saved(model, tmp_path / "model")
    assert [again.predict_one({name: 1.0}) for name in names] == list(range(len(names)))
    assert [again.explain({name: 1.0}, i, top=1)[0][0] for i, name in enumerate(names)] == names


def test_a_ranker_comes_back_with_its_kind_of_answer(tmp_path):
    X, _ = stream(3)
    sets = [{r for r in range(3) if row[r] > 0} for row in X]
    for y in (sets, np.array([[r in s for r in range(3)] for s in sets], int)):
        model = hinged.Ranker(rule="simproj").fit(X, y)
        again = saved(model, tmp_path / "model")
        assert isinstance(again, hinged.Ranker)
        answers = [m.predict(X) for m in (again, model)]
        assert type(answers[0]) is type(answers[1])
        np.testing.assert_array_equal(*answers)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        for m in (model, again):
            m.partial_fit(X[:5], y[:5])
        np.testing.assert_array_equal(again.coef_, model.coef_)


def test_the_columns_of_an_indicator_come_back_with_their_labels(tmp_path):
    import pandas as pd

    X, _ = stream(3)
    table = pd.DataFrame(X[:, :3] > 0, columns=["p", "q", "r"])
    model = hinged.Ranker().fit(X, table).rename_label("p", "z").merge_labels("q", into="r")
    again = saved(model, tmp_path / "model")
    for m in (model, again):
        m.partial_fit(X, table)
    assert again.classes_.tolist() == model.classes_.tolist() == ["z", "r"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_an_edited_model_comes_back_edited(tmp_path):
    X, y = stream(4)
    model = hinged.Classifier().fit(X, y).merge_labels("a", "b").rename_label("c", "z")
    again = saved(model, tmp_path / "model")
    assert again.dual_ is None
    assert facts(again, X) == facts(model, X)


def test_a_renamed_label_of_groups_comes_back_with_its_weights(tmp_path):
    X, y = stream(5)
    model = hinged.Classifier(**SETTINGS["groups"]).fit(X, y).rename_label("a", "z")
    assert facts(saved(model, tmp_path / "model"), X) == facts(model, X)


def test_the_names_of_a_frame_come_back(tmp_path):
    import pandas as pd

    X, y = stream(6)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    model = hinged.Classifier().fit(frame, y)
    again = saved(model, tmp_path / "model")
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert again.predict(frame).tolist() == model.predict(frame).tolist()


def test_a_changed_setting_means_the_same_before_and_after(tmp_path):
    X, y = stream(7)
    model = hinged.Classifier(C=1.0).partial_fit(X[:40], y[:40]).set_params(C=0.01)
    again = saved(model, tmp_path / "model")
    for m in (model, again):
        m.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_a_model_may_be_saved_over_itself_again_and_again(tmp_path):
    X, y = stream(8)
    path = tmp_path / "model"
    model = hinged.Classifier(scaling="idf")
    for x, label in zip(X[:10], y[:10], strict=True):
        model.learn_one(x, label)
        model = saved(model, path)
    assert facts(model, X) == facts(hinged.Classifier(scaling="idf").partial_fit(X[:10], y[:10]), X)
    assert os.listdir(tmp_path) == ["model"]


def test_a_path_may_be_text(tmp_path):
    X, y = stream(10)
    hinged.Classifier().fit(X, y).save(str(tmp_path / "model"))
    assert hinged.load(str(tmp_path / "model")).n_rounds_ == 80


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_saved_model_is_as_readable_as_any_new_file(tmp_path):
    X, y = stream(11)
    hinged.Classifier().fit(X, y).save(tmp_path / "model")
    (tmp_path / "plain").write_bytes(b"")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_pickle_from_before_targets_could_be_scaled_goes_on():
    X, y = np.eye(4), np.arange(4.0)
    model = plain.Regressor().partial_fit(X, y)
    del model.__dict__["target_scaling"]
    model._set_to = model._set_to[:-1]  # of one setting less
    loaded = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert (loaded.coef_ == plain.Regressor().partial_fit(X, y).partial_fit(X, y).coef_).all()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("road", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_pickle_and_deepcopy_make_an_independent_model(name, road):
    X, y = stream(12)
    model = hinged.Classifier(**SETTINGS[name]).partial_fit(X[:40], y[:40])
    again = road(model)
    before = facts(model, X)
    assert facts(again, X) == before
    again.partial_fit(X[40:], [*y[40:79], "new"])
    assert facts(model, X) == before
    model.partial_fit(X[40:], [*y[40:79], "new"])
    assert facts(again, X) == facts(model, X)


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - {"own rule"}))
def test_equal_models_make_equal_files(name, tmp_path):
    X, y = stream(21)
    model = hinged.Classifier(**SETTINGS[name]).partial_fit(X, y)
    model.save(tmp_path / "first")
    again = hinged.load(tmp_path / "first", **GIVEN.get(name, {}))
    again.save(tmp_path / "second")
    hinged.Classifier(**SETTINGS[name]).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).save(tmp_path / "third")
    first = (tmp_path / "first").read_bytes()
    assert first == (tmp_path / "second").read_bytes()
    assert first == (tmp_path / "third").read_bytes()


SAVE = """
import sys
import numpy as np, hinged
sets = [{"a", 1, (2, "b")}, {None, "a"}, {1, "c"}, {"c", (2, "b"), 0.5}]
hinged.Ranker(sharing="hybrid", features="frequency", class_weight={"a": 2.0, 1: 0.5}).partial_fit(
    np.eye(4), sets, classes={"a", "b", 3, None}
).save(sys.argv[1])
"""


def test_a_file_does_not_depend_on_the_hash_seed(tmp_path):
    contents = set()
    for seed in "13":  # under these two, each of the sets above lists its members in another order
        path = tmp_path / seed
        run = [sys.executable, "-c", SAVE, str(path)]
        env = os.environ | {"PYTHONHASHSEED": seed, "NUMBA_DISABLE_JIT": "1"}
        subprocess.run(run, env=env, check=True, timeout=300)
        contents.add(path.read_bytes())
    assert len(contents) == 1


# ------------------------------------------------------------------ callables
@pytest.mark.parametrize("name", GIVEN)
def test_a_function_is_kept_by_name_and_asked_for_again(name, tmp_path):
    X, y = stream(13)
    ((setting, function),) = GIVEN[name].items()
    hinged.Classifier(**SETTINGS[name]).fit(X, y).save(tmp_path / "model")
    words = rf"saved with {setting}={function.__name__}, a function.*pass it again: hinged.load\(path, {setting}="
    with pytest.raises(ValueError, match=words):
        hinged.load(tmp_path / "model")


def test_each_set_of_groups_gets_its_own_function_back(tmp_path):
    X, y = stream(14)
    groups = Groups([set(LABELS), set(LABELS)], [phi, other_phi])
    model = hinged.Classifier(sharing=groups).fit(X, y)
    model.save(tmp_path / "model")
    again = hinged.load(tmp_path / "model", sharing=groups)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_setting_that_was_not_asked_for_is_refused(tmp_path):
    X, y = stream(15)
    hinged.Classifier().fit(X, y).save(tmp_path / "model")
    with pytest.raises((TypeError, ValueError), match="rulee"):
        hinged.load(tmp_path / "model", rulee=half_of_pa)


# ------------------------------------------------------------------ what cannot be saved
class Thing:
    def __eq__(self, other):
        return isinstance(other, Thing)

    def __hash__(self):
        return 7

    def __repr__(self):
        return "<a thing>"


@pytest.mark.parametrize(
    "label", [frozenset({1}), Thing(), ("a", frozenset()), 1j, np.datetime64("2006-01-01")], ids=repr
)
def test_a_label_that_cannot_be_saved_is_named_and_the_old_file_stays(label, tmp_path):
    X, y = stream(16)
    path = tmp_path / "model"
    model = hinged.Classifier().fit(X, y)
    model.save(path)
    before = path.read_bytes()
    model.learn_one(X[0], label)
    with pytest.raises(
        TypeError, match=r"labels can be saved where they are str, int.*; got .*Rename that one, or pickle"
    ):
        model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]
    assert pickle.loads(pickle.dumps(model)).classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("label", [10**4300, -(10**5000), ("a", 10**4300)], ids=["long", "negative", "in a tuple"])
def test_a_number_too_long_to_be_read_back_is_refused_and_the_old_file_stays(label, tmp_path):
    path = tmp_path / "model"
    model = hinged.Classifier().fit(np.eye(2), [10**4300 - 1, 0])
    model.save(path)
    before = path.read_bytes()
    assert hinged.load(path).classes_.tolist() == [0, 10**4300 - 1]
    model.learn_one([1.0, 0.0], label)
    with pytest.raises(ValueError, match=r"labels.*up to 4,300 digits; got one of about [45],\d\d\d\. Rename"):
        model.save(path)
    assert path.read_bytes() == before


def test_a_feature_name_that_cannot_be_saved_is_named(tmp_path):
    model = hinged.Classifier()
    model.learn_one({frozenset({1}): 1.0}, "a")
    with pytest.raises(TypeError, match=r"features can be saved where they are str, int.*; got frozenset"):
        model.save(tmp_path / "model")


def test_a_model_that_has_learnt_nothing_has_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match=r"nothing to save.*learn_one"):
        hinged.Classifier().save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    model = hinged.Classifier().fit(*stream(17))
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "nowhere")):
        model.save(tmp_path / "nowhere" / "model")


# ------------------------------------------------------------------ written whole or not at all
@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(where, tmp_path, monkeypatch):
    X, y = stream(18)
    path = tmp_path / "model"
    model = hinged.Classifier().fit(X, y)
    model.save(path)
    before = path.read_bytes()
    model.partial_fit(X, y)

    def full(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, where, full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_tensors_that_cannot_be_made_leave_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    X, y = stream(19)
    path = tmp_path / "model"
    model = hinged.Classifier().fit(X, y)
    model.save(path)
    before = path.read_bytes()

    def fails(*args):
        yield b"begun"
        raise MemoryError("no room for the tensors")

    monkeypatch.setattr("hinged.io.model_file.pieces", fails)
    with pytest.raises(MemoryError):
        model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("text", ["{}", 'a "b" \\ \n\t ü 日本 \x1f'])
def test_a_file_is_written_as_safetensors_writes_it(text):
    arrays = {f"{2 * i}.ü {name}": np.arange(i, dtype=name).reshape(-1, 1) % 2 for i, name in enumerate(TYPES)}
    arrays |= {f"{name} b": np.array(1, name) for name in TYPES}
    assert b"".join(map(bytes, pieces(arrays, {"about": text}))) == safetensors_save(arrays, metadata={"about": text})


# ------------------------------------------------------------------ what is not a model
def one_sentence(path, words, problem=ValueError):
    with pytest.raises(problem, match=words) as caught:
        hinged.load(path)
    assert type(caught.value) is problem
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def a_file(tmp_path, **settings):
    X, y = stream(20)
    path = tmp_path / "model"
    hinged.Classifier(**settings).fit(X, y).save(path)
    return path


def test_a_missing_file_is_missing(tmp_path):
    one_sentence(tmp_path / "nothing here", "no model at", FileNotFoundError)


def test_a_folder_is_no_model(tmp_path):
    one_sentence(tmp_path, "not a.*hinged model|folder|directory")


def test_a_file_cut_short_anywhere_gets_one_sentence(tmp_path):
    content = a_file(tmp_path).read_bytes()
    cut = tmp_path / "cut"
    head = 8 + int.from_bytes(content[:8], "little")
    lengths = {0, 1, 7, 8, 9, 100, head - 1, head, head + 1, len(content) // 2, len(content) - 1}
    for length in sorted(lengths | set(range(0, len(content), max(1, len(content) // 60)))):
        cut.write_bytes(content[:length])
        one_sentence(cut, "not a whole hinged model file|not a hinged model")


def test_a_file_with_something_at_its_end_gets_one_sentence(tmp_path):
    path = a_file(tmp_path)
    path.write_bytes(path.read_bytes() + b"more")
    one_sentence(path, "not a whole hinged model")


@pytest.mark.parametrize("content", [
    b"",
    b"hello",
    b"\x00" * 1000,
    b"\xff" * 1000,
    b"PK\x03\x04" + b"\x00" * 100,
    b"{}" * 50,
    (2).to_bytes(8, "little") + b"{}",
    (2**62).to_bytes(8, "little") + b"{}",
    pickle.dumps({"a": [1, 2, 3]}),
], ids=lambda content: repr(content[:12]))  # fmt: skip
def test_what_is_no_model_gets_one_sentence(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    one_sentence(path, "not a (whole )?hinged model")


def test_a_pickle_is_refused_and_not_opened(tmp_path):
    opened = tmp_path / "opened"

    class Trap:
        def __reduce__(self):
            return (open, (str(opened), "w"))

    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(Trap()))
    one_sentence(path, "not a (whole )?hinged model")
    assert not opened.exists()


def test_a_model_file_holds_no_pickle(tmp_path):
    content = a_file(tmp_path, sharing="hybrid", features="frequency").read_bytes()
    assert b"sklearn" not in content
    assert b"hinged.estimators" not in content
    assert b"__reduce__" not in content


def test_somebody_elses_safetensors_are_refused(tmp_path):
    path = tmp_path / "other"
    for metadata in (None, {}, {"format": "pt"}):
        save_file({"weight": np.zeros(3, np.float32)}, path, metadata=metadata)
        one_sentence(path, "not a hinged model; it was written by another program")


def state_of(model):
    about, arrays, names = model._state()
    return about, {name: array.tobytes() for name, array in arrays.items()}, names


@pytest.mark.parametrize("bits", [1, 8 * 64], ids=["one bit", "a block of zeros"])
def test_a_damaged_file_is_refused(bits, tmp_path):
    path = a_file(tmp_path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    good = state_of(hinged.load(path))
    for at in rng.choice(np.flatnonzero(np.frombuffer(whole, np.uint8)), 60).tolist():
        data = bytearray(whole)
        if bits == 1:
            data[at] ^= 1 << int(rng.integers(8))
        else:
            data[at : at + 64] = bytes(len(data[at : at + 64]))
        path.write_bytes(data)
        again = None
        with suppress(ValueError, OSError):
            again = hinged.load(path)
        # where it is read, what was damaged says nothing: blanks behind the header, zeros that were zeros
        assert again is None or state_of(again) == good
        refused += again is None
    assert refused > 40


def test_a_file_without_a_checksum_is_read(tmp_path):
    path = a_file(tmp_path)
    assert b"checksum" in path.read_bytes()
    tampered(path, lambda stated: stated)
    assert b"checksum" not in path.read_bytes()
    hinged.load(path)


# ------------------------------------------------------------------ almost a model
def parts(path):
    """The tensors and the metadata of a model file, without the checksum, which files did not always have.

    Whoever wants to harm can write a checksum too, so loading must not rely on it.
    """
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata())
    if "hinged-model" in metadata:
        stated = json.loads(metadata["hinged-model"])
        stated.pop("checksum", None)
        metadata["hinged-model"] = json.dumps(stated, sort_keys=True)
    return load_file(path), metadata


def tampered(path, change):
    """Change what the metadata of a file say."""
    tensors, metadata = parts(path)
    ((key, stated),) = metadata.items()
    save_file(tensors, path, metadata={key: change(stated)})


def test_a_newer_file_asks_for_a_newer_hinged(tmp_path):
    path = a_file(tmp_path)
    tampered(path, lambda stated: stated.replace('"version": 2', '"version": 999'))
    one_sentence(path, r"newer hinged \(file version 999.*upgrade")


def test_the_version_is_read_before_anything_else(tmp_path):
    path = a_file(tmp_path)
    tampered(path, lambda stated: '{"version": 999, "about": {"something": "else"}}')
    one_sentence(path, r"newer hinged \(file version 999.*upgrade")


def as_version_one(path, **about):
    """Write a file as the first version did: a key for each of the metadata, and no names of columns."""
    tensors, metadata = parts(path)
    stated = json.loads(metadata["hinged-model"])
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("column")}
    about = json.dumps(stated["about"] | about)
    save_file(tensors, path, metadata={"format": "hinged-model", "version": "1", "about": about})


def test_files_of_the_first_version_are_read(tmp_path):
    X, y = stream(22)
    model, path = hinged.Classifier(scaling="idf").fit(X, y), tmp_path / "model"
    model.save(path)
    as_version_one(path)
    assert facts(hinged.load(path), X) == facts(model, X)
    table = (X[:, :3] > 0).astype(int)
    ranker = hinged.Ranker().fit(X, table)
    ranker.save(path)
    as_version_one(path, indicator=3)
    again = hinged.load(path)
    np.testing.assert_array_equal(again.partial_fit(X, table).predict(X), ranker.partial_fit(X, table).predict(X))


@pytest.mark.parametrize("version", ["one", "-1", "0", "", "999"])
def test_a_key_for_each_of_the_metadata_does_not_make_a_file_sound(version, tmp_path):
    path = a_file(tmp_path)
    as_version_one(path)
    tensors, metadata = parts(path)
    save_file(tensors, path, metadata=metadata | {"version": version})
    one_sentence(path, "newer hinged" if version == "999" else "not a sound hinged model")


NONSENSE = {
    "a word for a version": ('"version": 2', '"version": "one"'),
    "text for a version": ('"version": 2', '"version": "1"'),
    "a truth for a version": ('"version": 2', '"version": true'),
    "no version": ('"version"', '"conversion"'),
    "a negative version": ('"version": 2', '"version": -1'),
    "nothing about it": ('"about"', '"around"'),
    "an unknown estimator": ("Classifier", "Perceptron"),
    "another name of the package": ("Classifier", "load"),
    "a module of the package": ("Classifier", "datasets"),
    "an unknown setting": ('"C":', '"no such setting":'),
    "an unknown rule": ('"rule": "auto"', '"rule": "pa9"'),
    "an unknown object": ('"rule": "auto"', '"rule": {"object": "Evil", "with": {}}'),
    "half an object": ('"rule": "auto"', '"rule": {"object": "Mira"}'),
    "an unknown choice": ('"rule": "optimal"', '"rule": "pa9"'),
    "a choice of no setting": ('"chosen": {', '"chosen": {"no such setting": 1, '),
    "no choices": ('"chosen": {', '"chosen": 1, "was": {'),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_metadata_that_make_no_sense_get_one_sentence(what, tmp_path):
    path = a_file(tmp_path)
    old, new = NONSENSE[what]
    assert old in parts(path)[1]["hinged-model"]
    tampered(path, lambda stated: stated.replace(old, new))
    one_sentence(path, "hinged")


@pytest.mark.parametrize("stated", ["", "{", "[]", "{}", "3", "[" * 100_000], ids=lambda stated: stated[:9])
def test_metadata_that_are_no_metadata_get_one_sentence(stated, tmp_path):
    path = a_file(tmp_path)
    tampered(path, lambda _: stated)
    one_sentence(path, "hinged")


@pytest.mark.parametrize("settings", [{}, {"sharing": "hybrid", "features": "frequency"}], ids=["multi", "hybrid"])
def test_a_file_that_lacks_a_tensor_gets_one_sentence(settings, tmp_path):
    path = a_file(tmp_path, **settings)
    tensors, metadata = parts(path)
    for name in tensors.keys() - {"experts.growth", "experts.by_best"}:  # older files lack these
        save_file({other: value for other, value in tensors.items() if other != name}, path, metadata=metadata)
        one_sentence(path, "hinged")


TAMPERED = {
    "a block beyond the pages": ("store0.table", lambda a: a + 100_000),
    "a negative block": ("store0.table", lambda a: a - 1000),
    "more blocks than pages": ("store0.blocks", lambda a: a + 10**6),
    "a feature beyond the table": ("store0.owners", lambda a: a + 10**6),
    "a negative feature": ("store0.owners", lambda a: -a - 5),
    "the same feature twice": ("store0.owners", lambda a: a * 0 + 1),
    "a page too wide": ("store0.page0", lambda a: np.repeat(a, 64, axis=1)),
    "a page too short": ("store0.page0", lambda a: a[:10].copy()),
    "a page of another type": ("store0.page0", lambda a: a.astype(np.int8)),
    "weights that are NaN": ("store0.page0", lambda a: a * np.nan),
    "fewer features than owners": ("store0.features", lambda a: a * 0),
    "negative counts": ("ledger.counts", lambda a: a * 0 - 1),
    "too few counts": ("ledger.counts", lambda a: a[:2].copy()),
    "more labels than names": ("ledger.counts", lambda a: a + 10**6),
    "offsets that fall": ("labels.offsets", lambda a: a[::-1].copy()),
    "labels that are no text": ("labels.bytes", lambda a: a * 0 + 255),
    "fewer labels": ("labels.offsets", lambda a: a[:2].copy()),
    "rows of labels too few": ("label_rows", lambda a: a[:0].copy()),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_numbers_that_point_nowhere_are_refused_before_they_are_followed(what, tmp_path):
    """A model reads memory by the numbers in its file: loading must not trust them."""
    path = a_file(tmp_path)
    tensors, metadata = parts(path)
    name, change = TAMPERED[what]
    tensors[name] = change(tensors[name])
    save_file(tensors, path, metadata=metadata)
    one_sentence(path, "hinged")


def test_what_a_killed_program_left_beside_a_model_is_removed_at_the_next_save(tmp_path):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    dead = int(ended.stdout)
    old = [f".m.hinged.{dead}.0123abcd"]
    kept = [
        f".m.hinged.{os.getpid()}.0123abcd",  # its process runs
        f".n.hinged.{dead}.0123abcd",  # of another model
        f".m.hinged.{dead}.backup",  # not a name of ours
        f"m.hinged.{dead}.0123abcd",
    ]
    young = f".m.hinged.{dead}.4567cdef"
    for name in (*old, *kept, young):
        (tmp_path / name).write_bytes(b"x")
        if name != young:
            os.utime(tmp_path / name, (time.time() - 3600,) * 2)
    write(tmp_path / "m.hinged", {}, {"a": np.zeros(1)}, {})
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*kept, young, "m.hinged"])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "m.hinged"
    path.touch()
    path.chmod(mode)
    write(path, {}, {"a": np.zeros(1)}, {})
    assert path.stat().st_mode & 0o777 == mode
