"""A model that begins with what a model file holds, sent by a client."""

import pytest
from tests.journal.models import same
from tests.service.test_endpoints import KINDS, TEXTS

import hinged
from hinged.client import ServiceError

OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def file(tmp_path):
    """A model file, and its learner."""
    model = hinged.TextClassifier()
    for x, y in TEXTS[:4]:
        model.learn_one(x, y)
    model.save(tmp_path / "u1.hinged")
    return tmp_path / "u1.hinged", model


def test_a_model_goes_on_from_a_file(client, file, tmp_path):
    path, twin = file
    model = client.create_from("from-a-file", path)
    assert model.status().rounds == 4
    assert model.predict("a tax question") == twin.predict_one("a tax question")
    for x, y in TEXTS[4:]:
        model.learn(x, y)
        twin.learn_one(x, y)
    model.snapshot()
    (tmp_path / "back").write_bytes(model.download())
    assert same(hinged.load(tmp_path / "back"), twin)


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_of_one_model_begins_another(kind, client, tmp_path):
    settings, x, y, other_x, other_y = KINDS[kind]
    first = client.create(f"first-{kind}", kind, **settings)
    for _ in range(2):
        first.learn(x, y)
        first.learn(other_x, other_y)
    first.snapshot()
    (tmp_path / "m").write_bytes(first.download())
    second = client.create_from(f"second-{kind}", tmp_path / "m")
    assert second.status()[1:8] == first.status()[1:8]
    assert second.status().journal == 0
    for model in (first, second):
        model.learn(x, y)
        model.snapshot()
    assert second.predict(other_x) == first.predict(other_x)
    for name, model in (("a", first), ("b", second)):
        (tmp_path / name).write_bytes(model.download())
    one, two = (hinged.load(tmp_path / name).get_state() for name in "ab")
    assert one.names == two.names
    assert {n: a.tobytes() for n, a in one.arrays.items()} == {n: a.tobytes() for n, a in two.arrays.items()}


def test_a_model_that_exists_is_not_replaced(client, file):
    path, _ = file
    client.create("taken", "TextClassifier").learn("goal", "sport")
    with pytest.raises(ServiceError, match="a model 'taken' exists") as refused:
        client.create_from("taken", path)
    assert refused.value.status == 409
    assert client.model("taken").status().labels == ["sport"]
    client.create_from("once", path)
    with pytest.raises(ServiceError, match="exists"):
        client.create_from("once", path)


def test_what_no_model_can_begin_with_is_refused_and_leaves_nothing(client, ask, server, file, tmp_path):
    path, _ = file
    odd = tmp_path / "odd.hinged"
    hinged.TextClassifier().partial_fit(["a", "b"], [b"x", b"y"]).save(odd)
    for body, words in [
        (b"", "the body is not"),
        (b"no model", "the body is not"),
        (path.read_bytes()[:-9], "the body"),
        (odd.read_bytes(), "a label is a text"),
    ]:
        status, _, said = ask("PUT", "/v1/models/refused/snapshot", body, **OCTETS)
        assert status == 422, said
        assert words in said["error"]
        assert str(server.folder) not in said["error"]
    assert ask("PUT", "/v1/models/.hidden/snapshot", path.read_bytes(), **OCTETS)[0] == 422
    assert "refused" not in client.models()
    assert not [one for one in (server.folder / "models").iterdir() if one.name.startswith(".")]


def test_only_an_admin_may(ask, server, file):
    from hinged.service.access import create_token

    path, _ = file
    token = create_token(server.folder / "tokens.json", "mine", "write")
    assert ask("PUT", "/v1/models/mine/snapshot", path.read_bytes(), token, **OCTETS)[0] == 403


def test_a_file_beyond_the_memory_for_models_is_too_large(tmp_path, file):
    from hinged.client import Client
    from hinged.service import Settings, serving

    path, _ = file
    with serving(Settings(tmp_path / "small", memory=1000)) as (url, token), Client(url, token, tries=1) as client:
        with pytest.raises(ServiceError, match="1,000 bytes are allowed") as refused:
            client.create_from("m", path)
        assert refused.value.status == 413
