"""`hinged scale`: its commands on real files."""

import json

import pytest
from tests.scale.test_mixing import bits, mail

import hinged
from hinged.cli.main import main
from hinged.scale import Lessons

NAMES = ("body", "subject", "label")


@pytest.fixture(scope="module")
def place(spark, tmp_path_factory):
    """A folder with a file of JSON lines, two users' mail."""
    folder = tmp_path_factory.mktemp("commands")
    rows = [{"user": f"u{i % 2}", "at": i} | dict(zip(NAMES, row, strict=True)) for i, row in enumerate(mail(120))]
    (folder / "mail.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder, rows


@pytest.fixture
def run(capsys):
    """Run a command in this process; what it printed as JSON, or its error."""

    def called(*arguments, code=0):
        with pytest.raises(SystemExit) as end:
            main(["scale", *map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert end.value.code == code, said.err
        return json.loads(said.out) if code == 0 else said.err

    return called


def test_one_model_is_learnt_and_answers(run, place):
    folder, _ = place
    model, wanted = folder / "m.hinged", ("--features", "body,subject")
    told = run("learn", folder / "mail.jsonl", "--model", model, "--partitions", 1, *wanted)
    assert told["estimator"] == "TextClassifier"
    assert [told["rounds"][0][name] for name in ("rows", "parts")] == [120, 1]
    learner = hinged.load(model)
    answers = run("predict", folder / "mail.jsonl", "--model", model, "--output", folder / "answers")
    assert (answers["rows"], answers["unread"]) == (120, 0)
    pq = pytest.importorskip("pyarrow.parquet")
    found = pq.read_table(folder / "answers").to_pylist()
    texts = [{name: row[name] for name in ("body", "subject")} for row in found]
    assert [row["prediction"] for row in found] == learner.predict(texts).tolist()


def test_a_model_for_each_key_is_that_of_its_rows(run, place):
    folder, rows = place
    asked = ("--key", "user", "--order", "at", "--states", folder / "models", "--buckets", 2)
    told = run("keyed", folder / "mail.jsonl", *asked)
    assert (told["keys"], told["rows"], told["skipped"]) == (2, 120, 0)
    pq = pytest.importorskip("pyarrow.parquet")
    model = hinged.TextClassifier()
    model.notes = {"fields": ["body", "subject"]}
    for row in pq.read_table(folder / "models").to_pylist():
        mine = [one for one in rows if one["user"] == row["user"]]
        local = hinged.TextClassifier()
        local.notes = model.notes
        local.partial_fit([{n: one[n] for n in ("body", "subject")} for one in mine], [one["label"] for one in mine])
        assert bits(Lessons.from_bytes(row["model"]).learner(model)) == bits(local)


def test_an_error_is_one_sentence(run, place):
    folder, _ = place
    said = run("learn", folder / "mail.jsonl", "--model", folder / "x.hinged", "--label", "folder", code=1)
    (line,) = [line for line in said.splitlines() if line.startswith("hinged:")]
    assert "there is no column 'folder'; the columns are at, body, label, subject, user." in line
    assert not (folder / "x.hinged").exists()
