"""A key's model leaves Spark as a model file, and the service and the mail assistant begin with it."""

import pytest
from tests.journal.models import same
from tests.mail.letters import message
from tests.scale.test_mixing import bits

import hinged
from hinged.mail import Assistant, Filed, Thresholds
from hinged.mail.features import fields_of
from hinged.mail.replaying import PastInMemory
from hinged.scale import Lesson, Lessons

COLUMNS = ("from", "to", "cc", "subject", "body")
SCHEMA = "user string, at int, `from` string, `to` string, cc string, subject string, body string, folder string"


@pytest.fixture(scope="module")
def learnt(spark, tmp_path_factory):
    """A model file of one user of several, and what that user was taught."""
    mine = [
        ("u1", i, who, "u1@example.net", "", f"{subject} {i}", "hello", folder)
        for i in range(6)
        for who, subject, folder in (("ann@example.com", "tax form", "Work"), ("bob@example.org", "cake", "Home"))
    ]
    others = [("u2", i, "cy@example.com", "u2@example.net", "", "goal", "hello", "Sport") for i in range(4)]
    df = spark.createDataFrame(mine + others, SCHEMA)
    model = hinged.TextClassifier()
    found = hinged.scale.learn_keyed(
        df, model, key="user", order=["at", "from"], features=list(COLUMNS), label="folder"
    )
    row = found.where("user = 'u1'").first()
    path = tmp_path_factory.mktemp("starting") / "u1.hinged"
    model.notes = {"fields": list(COLUMNS)}
    Lessons.from_bytes(row["model"]).learner(model).save(path)
    local = hinged.TextClassifier()
    local.notes = model.notes
    local.partial_fit([dict(zip(COLUMNS, one[2:7], strict=True)) for one in mine], [one[7] for one in mine])
    return path, local


def test_the_file_is_the_local_learner(learnt):
    path, local = learnt
    assert bits(hinged.load(path)) == bits(local)


def test_the_service_begins_with_it(learnt, tmp_path):
    pytest.importorskip("uvicorn")
    from hinged.client import Client
    from hinged.service import Settings, serving

    path, _ = learnt
    new = {"from": "ann@example.com", "to": "", "cc": "", "subject": "tax", "body": "late"}
    with serving(Settings(tmp_path)) as (url, token), Client(url, token) as client:
        model = client.create_from("u1", path)
        assert model.predict(new) == "Work"
        model.learn(new, "Home")
        model.snapshot()
        (tmp_path / "back").write_bytes(model.download())
    twin = hinged.load(path)
    twin.learn_one(new, "Home")
    assert same(hinged.load(tmp_path / "back"), twin)
    back = Lessons.of(hinged.load(tmp_path / "back")).after([Lesson(new, "Work")])  # and it goes in again
    twin.learn_one(new, "Work")
    assert same(
        Lessons.from_bytes(back.to_bytes()).compacted(hinged.TextClassifier()).learner(hinged.TextClassifier()), twin
    )


def test_the_mail_assistant_begins_with_it(learnt, tmp_path):
    path, _ = learnt
    new = message("the tax form", "ann@example.com", name="new")
    twin = hinged.load(path)
    with Assistant(tmp_path / "state", model=hinged.load(path), thresholds=Thresholds(messages=4)) as assistant:
        found = assistant.suggest(new)
        assert found.best == "Work"
        assert found.candidates[0].reasons
        assert assistant.learn([Filed(new, "Home")]) == 1
        twin.learn_one(fields_of(new, PastInMemory()), "Home")
        assert same(assistant.model, twin)
