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


def test_models_by_key_go_on_from_what_an_earlier_call_wrote(run, place):
    folder, _ = place
    first, second = folder / "first", folder / "second"
    asked = ("keyed", folder / "mail.jsonl", "--key", "user", "--order", "at", "--features", "body,subject")
    run(*asked, "--states", first)
    told = run(*asked, "--states", second, "--known", first, "--buckets", 1)
    assert (told["keys"], told["rows"], told["skipped"]) == (2, 240, 0)
    assert f"{second} exists already" in run(*asked, "--states", second, code=1)


def test_learning_goes_on_from_a_model_file_and_reads_other_formats(spark, run, place):
    folder, rows = place
    table, model = (
        spark.createDataFrame([tuple(row.values()) for row in rows], list(rows[0])).coalesce(1),
        folder / "on",
    )
    wanted = ("--features", "body,subject", "--partitions", 1)
    for total, ending in enumerate(("parquet", "csv", "orc"), start=1):
        writer = table.write.option("header", True)
        writer.format({"parquet": "parquet", "csv": "csv", "orc": "orc"}[ending]).save(str(folder / f"mail.{ending}"))
        told = run("learn", folder / f"mail.{ending}", "--model", model, *wanted)
        assert told["total_rounds"] == 120 * total
    local = hinged.TextClassifier()
    local.notes = {"fields": ["body", "subject"]}
    for _ in range(3):
        local.partial_fit([{n: row[n] for n in ("body", "subject")} for row in rows], [row["label"] for row in rows])
    assert bits(hinged.load(model)) == bits(local)


MAIL, KEYED = "{}/mail.jsonl", ("--key", "user", "--order", "at", "--states", "{}/s")


@pytest.mark.parametrize(("asked", "words"), [
    (("learn", "nowhere.jsonl", "--model", "{}/m"), "hinged: Path does not exist: file:"),
    (("learn", MAIL, "--model", "{}/m", "--master", "local[zwei]"), "master must be local[N], local[*], spark"),
    (("keyed", MAIL, *KEYED, "--known", "nowhere"), "Path does not exist"),
    (("keyed", MAIL, *KEYED, "--known", "{}/other"), "known has no column 'user'"),
    (("keyed", MAIL, *KEYED, "--known", "{}/damaged"), "hinged: the model of the key 'u0' cannot go on: these bytes"),
    (("predict", MAIL, "--model", "nowhere", "--output", "{}/a"), "nowhere"),
])  # fmt: skip
def test_what_spark_says_is_one_sentence_too(spark, run, place, asked, words):
    folder, _ = place
    if not (folder / "other").exists():
        spark.createDataFrame([("a", 1)], "name string, n int").write.parquet(str(folder / "other"))
        damaged = spark.createDataFrame([("u0", bytearray(b"zz"))], "user string, model binary")
        damaged.write.parquet(str(folder / "damaged"))
    said = run(*(one.format(folder) for one in asked), code=1)
    lines = [line for line in said.splitlines() if line.startswith("hinged:")]
    assert len(lines) == 1
    assert words in lines[0]
    assert "Traceback" not in said


def test_rows_left_out_are_written_aside(run, place):
    folder, _ = place
    lines = [json.dumps({"n": float(i), "label": y}) for i, y in enumerate((1.0, 2.0, None, 3.0))]
    lines.insert(1, json.dumps({"n": 1.0, "label": 1e60}))
    (folder / "numbers.jsonl").write_text("\n".join(lines) + "\n")
    asked = ("learn", folder / "numbers.jsonl", "--model", folder / "n.hinged", "--task", "regress", "--partitions", 1)
    assert "use both" in run(*asked, "--rejected", folder / "aside", code=2)
    told = run(*asked, "--on-error", "skip", "--rejected", folder / "aside")
    assert (told["rounds"][0]["rows"], told["unlabelled"], told["skipped"]) == (3, 1, 1)
    (written,) = [
        json.loads(line) for path in (folder / "aside").glob("*.json") for line in path.read_text().splitlines()
    ]
    assert (written["n"], written["label"]) == (1.0, 1e60)
    assert "1e+50" in written["problem"]
    assert "aside exists already" in run(*asked, "--on-error", "skip", "--rejected", folder / "aside", code=1)
