"""An assistant that begins with a model that learnt elsewhere."""

import json

import pytest
from tests.journal.models import same
from tests.mail.letters import letter, make_maildir, message

import hinged
from hinged.cli.main import main
from hinged.mail import Assistant, Filed, Thresholds
from hinged.mail.features import fields_of
from hinged.mail.replaying import PastInMemory

SOON = Thresholds(messages=4)
COLUMNS = ("from", "to", "cc", "subject", "body")
MAIL = [("ann@example.com", "tax form", "Work"), ("bob@example.org", "cake", "Home")] * 4


def elsewhere(fields=COLUMNS):
    """What a frame of mail with these columns teaches."""
    rows = [
        {"from": who, "to": "me@example.net", "cc": "", "subject": subject, "body": "hello"} for who, subject, _ in MAIL
    ]
    model = hinged.TextClassifier().partial_fit(
        [{name: row.get(name, "") for name in fields} for row in rows], [folder for *_, folder in MAIL]
    )
    model.notes = {"fields": list(fields)}
    return model


def test_it_suggests_from_the_first_message_on_and_learns_on(tmp_path):
    twin = elsewhere()
    new = message("the tax", "ann@example.com", name="new")
    with Assistant(tmp_path, model=elsewhere(), thresholds=SOON) as one:
        assert one.suggest(new).best == "Work"
        assert one.known() == ["Home", "Work"]
        filed = [Filed(message("cake", "ann@example.com", name=str(i)), "Home") for i in range(3)]
        past = PastInMemory()
        for each in filed:
            twin.learn_one(fields_of(each.message, past), each.folder)
            past.note(each.message, each.folder)
        assert one.learn(filed) == 3
        assert one.model.n_rounds_ == len(MAIL) + 3
        assert same(one.model, twin)
        one.rename("Home", "Kitchen")
        assert one.known() == ["Kitchen", "Work"]
        one.forget("Work")
        assert one.known() == ["Kitchen"]
    with Assistant(tmp_path) as one:
        assert one.known() == ["Kitchen"]


def test_what_it_cannot_begin_with_is_said(tmp_path):
    texts = ["tax", "cake"] * 2
    numbered, untaught = hinged.TextClassifier().partial_fit(texts, [1, 2] * 2), hinged.TextClassifier()
    elsewhere_named = elsewhere(("subject",))
    elsewhere_named.notes = {"fields": ["headline"]}
    for model, words in [
        (hinged.Regressor(), "got a Regressor"),
        (untaught, "that has learnt nothing"),
        (numbered, "the model has 1"),
        (elsewhere_named, "reads headline, none of which a message has"),
    ]:
        with pytest.raises(ValueError, match=words):
            Assistant(tmp_path / "new", model=model)
    assert not (tmp_path / "new").exists()
    Assistant(tmp_path / "old").close()
    with pytest.raises(ValueError, match="has an assistant already"):
        Assistant(tmp_path / "old", model=elsewhere())


def test_the_command_begins_with_a_model_file(tmp_path, capsys):
    elsewhere().save(tmp_path / "u1.hinged")
    source = make_maildir(tmp_path / "Maildir", {"Work": [letter("tax")], "Home": [letter("cake", name="2")]})
    command = ["mail", "learn", str(source), "--state", str(tmp_path / "state"), "--json"]
    with pytest.raises(SystemExit) as end:
        main([*command, "--begin-with", str(tmp_path / "u1.hinged")])
    said = capsys.readouterr()
    assert end.value.code == 0, said.err
    assert json.loads(said.out)["learnt"] == 2
    with Assistant(tmp_path / "state") as one:
        assert one.model.n_rounds_ == len(MAIL) + 2
    with pytest.raises(SystemExit) as end:
        main([*command, "--begin-with", str(tmp_path / "u1.hinged")])
    assert end.value.code == 1
    assert "has an assistant already" in capsys.readouterr().err
