"""Tables of numbers, categories and text from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import is_one_sentence
from tests.cli.tickets import as_csv, as_jsonl, tickets

import hinged

ROWS = 400


def numbers(n=200, seed=0):
    """Rows of three columns of very different sizes, and a label that two of them decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 1000.0, 0.01] + [0.0, 5000.0, 1.0]
    y = np.where(X[:, 0] + (X[:, 1] - 5000) / 1000 > 0, "wet", "dry")
    return X, y


def as_table(X, y, cell=repr):
    return "a,b,c,label\n" + "".join(
        f"{','.join(cell(float(v)) for v in x)},{label}\n" for x, label in zip(X, y, strict=True)
    )


def same(path, other):
    """Whether two model files hold the same weights for the same features."""
    one, two = hinged.load(path), hinged.load(other)
    assert type(one) is type(two)
    assert (one.coef_ == two.coef_).all()
    return one.n_rounds_ == two.n_rounds_


def test_columns_of_numbers_get_the_learner_for_numbers(call, tmp_path):
    X, y = numbers()
    (tmp_path / "a.csv").write_text(as_table(X, y))
    code, out, err = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")
    assert (code, err) == (
        0,
        f"reading {tmp_path / 'a.csv'}: 3 columns of numbers ('a', 'b', 'c'), standardised; label 'label'; C='auto'\n",
    )
    twin = hinged.Classifier()
    told = hinged.evaluate.progressive(twin, X, y)
    assert f"{told.mistakes} mistakes" in out
    assert (hinged.load(tmp_path / "m").coef_ == twin.coef_).all()
    judged = json.loads(call("evaluate", tmp_path / "a.csv", "--json")[1])
    assert judged["mistakes"] == told.mistakes
    assert judged["columns"]["numbers"] == ["a", "b", "c"]
    assert (judged["settings"]["scaling"], len(judged["settings"]["C"])) == ("standard", 2)
    assert told.rate < 0.2


def test_what_the_user_sets_is_not_chosen(call, tmp_path):
    X, y = numbers(60)
    (tmp_path / "a.csv").write_text(as_table(X, y))
    for given, expected in {
        ("--scaling", "none", "--C", "1"): (None, 1.0, 0.0),
        ("--C", "0.3"): ("standard", 0.3, 1 / np.sqrt(3)),
        ("--bias", "0"): ("standard", [10**-0.5, 10**0.5], 0.0),
        ("--sharing", "hybrid"): ("idf", 1.0, 0.0),
        ("--geometry", "entropy", "--margin", "0.1"): (None, 1.0, 0.0),
        ("--geometry", "adaptive", "--C", "1"): ("standard", 1.0, 1 / np.sqrt(3)),
        ("--half-life", "statistics:50"): ("standard", [10**-0.5, 10**0.5], 1 / np.sqrt(3)),
    }.items():
        settings = json.loads(call("evaluate", tmp_path / "a.csv", *given, "--json")[1])["settings"]
        assert (settings["scaling"], settings["C"], settings["bias"]) == expected


def test_half_lives_are_given_for_all_or_for_a_part(call, tmp_path):
    X, y = numbers(60)
    (tmp_path / "a.csv").write_text(as_table(X, y))
    for given, half_life in (
        ("200", 200.0),
        ("statistics:50", hinged.geometry.HalfLife(statistics=50.0)),
        ("weights:1e3", hinged.geometry.HalfLife(weights=1000.0)),
    ):
        learning = ("learn", tmp_path / "a.csv", "--model", tmp_path / given, "--half-life", given)
        assert [call(*learning)[0] for _ in range(2)] == [0, 0]  # the second goes on with the same settings
        assert hinged.load(tmp_path / given).half_life == half_life
    for wrong, why in (("speed:5", "statistics:50 or weights:1000"), (":5", "weights:1000"), ("soon", "such as 1000")):
        code, _, err = call("evaluate", tmp_path / "a.csv", "--half-life", wrong)
        assert code == 2
        assert why in " ".join(err.split())
    code, _, err = call("evaluate", tmp_path / "a.csv", "--half-life", "0")
    assert code == 1
    assert is_one_sentence(err)
    assert "half_life must be between" in err


def test_kernels_are_given_by_name_and_size(call, tmp_path):
    X, y = numbers(60)
    (tmp_path / "a.csv").write_text(as_table(X, y))
    for given, kernel in (
        ("fourier", hinged.mercer.Fourier()),
        ("fourier:64", hinged.mercer.Fourier(64)),
        ("products", hinged.mercer.Products()),
        ("products:10", hinged.mercer.Products(bits=10)),
        ("gaussian", hinged.mercer.Gaussian("scale")),
        ("gaussian:0.5", hinged.mercer.Gaussian(0.5)),
    ):
        learning = ("learn", tmp_path / "a.csv", "--model", tmp_path / given, "--kernel", given)
        assert [call(*learning)[0] for _ in range(2)] == [0, 0]  # the second goes on with the same settings
        assert hinged.load(tmp_path / given).kernel == kernel
    for wrong, why in (("cubic", "fourier:128, products:16, gaussian:0.5"), ("gaussian:wide", "takes a gamma")):
        code, _, err = call("evaluate", tmp_path / "a.csv", "--kernel", wrong)
        assert code == 2
        assert why in " ".join(err.split())
    code, _, err = call("evaluate", tmp_path / "a.csv", "--kernel", "products:99")
    assert code == 1
    assert is_one_sentence(err)
    assert "bits must be a whole number from 4 to 22" in err


@pytest.mark.parametrize("table", [as_csv, as_jsonl])
def test_numbers_categories_and_text_stand_side_by_side(call, tmp_path, table):
    path, model = tmp_path / "tickets", tmp_path / "m"
    path.write_text(table(tickets(ROWS)))
    code, _, err = call("learn", path, "--label", "team", "--model", model)
    assert code == 0
    assert err == (
        f"reading {path}: 2 columns of numbers ('minutes', 'hour'), standardised; 1 category ('plan'); "
        "1 column of text ('subject'), by idf; label 'team'\n"
    )
    twin = hinged.TextClassifier()
    rows = [{name: row[name] for name in ("minutes", "hour", "subject", "plan")} for row in tickets(ROWS)]
    told = hinged.evaluate.progressive(twin, rows, [row["team"] for row in tickets(ROWS)])
    saved = hinged.load(model)
    assert (saved.n_mistakes_, saved.n_known_features) == (told.mistakes, twin.n_known_features)
    without = [{name: row[name] for name in ("subject", "plan")} for row in rows]
    assert told.mistakes < hinged.evaluate.progressive(hinged.TextClassifier(), without, saved_labels()).mistakes


def saved_labels():
    return [row["team"] for row in tickets(ROWS)]


def test_a_model_of_a_table_predicts_explains_and_is_described(call, tmp_path):
    path, model = tmp_path / "tickets.csv", tmp_path / "m"
    path.write_text(as_csv(tickets(ROWS)))
    assert call("learn", path, "--label", "team", "--model", model)[0] == 0
    code, out, err = call("predict", path, "--model", model)
    assert (code, err) == (0, "")
    assert np.mean([a == b for a, b in zip(out.split(), saved_labels(), strict=True)]) >= 0.9
    no_label = as_csv(tickets(ROWS)).replace("team,", "x,", 1)
    assert call("predict", "-", "--model", model, "--format", "csv", stdin=no_label)[1] == out
    assert call("predict", "-", "--model", model, stdin=as_jsonl(tickets(ROWS)))[1] == out
    shown = call("explain", "--model", model, '{"subject": "invoice zebra", "hour": 21, "minutes": null}')[1]
    assert "hour" in shown
    assert "never learnt: subject:zebra" in shown
    code, _, err = call("explain", "--model", model, "an invoice")
    assert code == 1
    assert is_one_sentence(err)
    assert "JSON object of its columns" in err
    assert "columns of numbers minutes, hour; the fields subject, plan" in call("inspect", model)[1]
    assert json.loads(call("evaluate", path, "--model", model, "--json")[1])["accuracy"] >= 0.9
    code, out, _ = call("learn", path, "--model", model, "--json")  # goes on
    assert (code, json.loads(out)["total_rounds"]) == (0, 2 * ROWS)


@pytest.mark.parametrize("task", ["classify", "binary", "regress", "ordinal", "rank"])
@pytest.mark.parametrize("mixed", [False, True])
def test_every_task_takes_every_table(call, tmp_path, task, mixed):
    rows = [row for row in tickets(300) if task != "binary" or row["team"] != "account"]
    for row in rows:
        row["hours"] = row.pop("hour")
        if not mixed:
            row["subject"], row["plan"] = len(row["subject"]), len(row["plan"])
        label = {"regress": row["hours"] / 10, "ordinal": str(row["hours"] // 6), "rank": [row["team"]]}
        row["label"] = label.get(task, row["team"])
    path, model = tmp_path / "a.jsonl", tmp_path / "m"
    path.write_text(as_jsonl({name: v for name, v in row.items() if name != "team"} for row in rows))
    more = ("--order", "0,1,2,3") if task == "ordinal" else ()
    code, out, _ = call("evaluate", path, "--task", task, *more, "--json")
    assert code == 0
    judged = json.loads(out)
    assert judged["R²"] > 0.3 if task == "regress" else judged["accuracy"] > 0.5
    assert call("learn", path, "--task", task, *more, "--model", model)[0] == 0
    code, out, err = call("predict", path, "--model", model)
    assert (code, err, len(out.splitlines())) == (0, "", len(rows))
    assert call("explain", "--model", model, '{"hours": 3, "minutes": 5}')[0] == 0


def test_the_same_table_in_any_format_gives_the_same_model(call, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = list(tickets(200))
    (tmp_path / "a.csv").write_text(as_csv(rows))
    (tmp_path / "a.jsonl").write_text(as_jsonl(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in ("csv", "jsonl", "parquet"):
        assert (
            call("learn", tmp_path / f"a.{name}", "--label", "team", "--model", tmp_path / name, "--sharing", "multi")[
                0
            ]
            == 0
        )
    assert same(tmp_path / "csv", tmp_path / "jsonl")
    assert same(tmp_path / "csv", tmp_path / "parquet")
    for name in ("jsonl", "csv", "parquet"):
        converted = tmp_path / f"again.{name}"
        assert call("convert", tmp_path / "a.parquet", converted, "--label", "team")[0] == 0
        assert call("learn", converted, "--model", tmp_path / f"again-{name}", "--sharing", "multi")[0] == 0
        assert same(tmp_path / f"again-{name}", tmp_path / "csv")


def test_a_word_after_ten_thousand_numbers_is_named(call, tmp_path):
    X, y = numbers(10_000)
    (tmp_path / "a.csv").write_text(as_table(X, y) + "1,none,3,wet\n")
    code, _, err = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")
    assert code == 1
    assert is_one_sentence(err)
    assert "a.csv:10002: the value 'none' in column 'b' is not a finite number" in err
    assert "--numbers" in err
    assert not (tmp_path / "m").exists()
    code, _, err = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m", "--on-error", "skip")
    assert code == 0
    assert "skipped 1 malformed line" in err


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "1e39", "1,5"])
def test_what_is_no_finite_number_is_named(call, tmp_path, cell):
    (tmp_path / "a.csv").write_text(f'a,b,label\n1,2,x\n2,"{cell}",y\n')
    code, _, err = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")
    assert code == 1
    assert f"a.csv:3: the value '{cell}' in column 'b' is not a finite number" in err


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"two"', "[1]", "{}"])
def test_what_is_no_finite_number_is_named_in_json_too(call, tmp_path, value):
    (tmp_path / "a.jsonl").write_text(f'{{"a": 1, "b": 2, "label": "x"}}\n{{"a": 1, "b": {value}, "label": "y"}}\n')
    code, _, err = call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m")
    assert code == 1
    assert "a.jsonl:2: the value" in err
    assert "of 'b' is not a finite number" in err


def test_missing_numbers_are_left_out_and_zeros_are_not(call, tmp_path):
    X, y = numbers(100)
    X[::7, 0], X[::5, 1] = np.nan, 0.0
    text = as_table(X, y).replace("nan", "")
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "quoted.csv").write_text(as_table(X, y, lambda v: f'" {v!r}"').replace('" nan"', '""'))
    header, *lines = text.splitlines()
    wider = [f"{header},empty", *(f"{line}," for line in lines)]
    (tmp_path / "empty.csv").write_text("\n".join(wider) + "\n")
    for name in ("a", "quoted", "empty"):
        assert call("learn", tmp_path / f"{name}.csv", "--model", tmp_path / name, "--bias", 1)[0] == 0
    assert same(tmp_path / "a", tmp_path / "quoted")
    model = hinged.load(tmp_path / "a")
    assert (model.coef_ == hinged.load(tmp_path / "empty").coef_[:, :3]).all()
    rows = [{name: v for name, v in zip("abc", x, strict=True) if not np.isnan(v)} for x in X.tolist()]
    twin = hinged.Classifier(scaling="standard", C="auto", bias=1.0).partial_fit(rows, y)
    order = [twin.feature_names_.index(name) for name in model.feature_names_]
    np.testing.assert_allclose(model.coef_, twin.coef_[:, order], rtol=1e-9)


def test_a_column_that_is_empty_at_first_may_hold_anything(call, tmp_path):
    (tmp_path / "a.csv").write_text("a,note,label\n1,,x\n2,it is broken again,y\n3,,x\n")
    (tmp_path / "b.csv").write_text("a,b,label\n1,,x\n2,5,y\n3,,x\n")
    told = json.loads(call("learn", tmp_path / "a.csv", "--model", tmp_path / "m", "--json")[1])["columns"]
    assert (told["numbers"], told["texts"]) == (["a"], ["note"])
    told = json.loads(call("learn", tmp_path / "b.csv", "--model", tmp_path / "n", "--json")[1])["columns"]
    assert told["numbers"] == ["a", "b"]


def test_one_row_is_a_table_too(call, tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1,2,7\n")
    code, out, _ = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m", "--json")
    assert (code, json.loads(out)["rounds"]) == (0, 1)
    assert hinged.load(tmp_path / "m").classes_.tolist() == ["7"]
    assert call("predict", tmp_path / "a.csv", "--model", tmp_path / "m")[1] == "7\n"


def test_a_model_of_a_table_wants_its_columns(call, tmp_path):
    X, y = numbers(50)
    (tmp_path / "a.csv").write_text(as_table(X, y))
    call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")
    (tmp_path / "other.csv").write_text("a,d\n1,2\n")
    code, _, err = call("predict", tmp_path / "other.csv", "--model", tmp_path / "m")
    assert code == 1
    assert "other.csv has no column 'b'; its columns are 'a', 'd'." in err
    (tmp_path / "words.csv").write_text("a,b,c\n1,2,3\n1,two,3\n")
    code, _, err = call("predict", tmp_path / "words.csv", "--model", tmp_path / "m")
    assert code == 1
    assert "words.csv:3: the value 'two' in column 'b' is not a finite number" in err
    code, out, _ = call("predict", "-", "--model", tmp_path / "m", "--format", "csv", stdin="c,b,a,more\n1,,2,x\n")
    assert (code, len(out.splitlines())) == (0, 1)
    for given, format in (("plain text", "lines"), ("1 1:2 3:4", "svmlight"), ('{"z": 1}', "jsonl")):
        code, _, err = call("predict", "-", "--model", tmp_path / "m", "--format", format, stdin=given + "\n")
        assert code == 1
        assert is_one_sentence(err)


def test_columns_can_be_named(call, tmp_path):
    (tmp_path / "a.csv").write_text("zip,size,note,label\n8001,1.5,a,x\n8002,2.5,b,y\nA-1010,0.5,a,x\n")
    code, _, err = call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")
    assert code == 1
    assert "'A-1010' in column 'zip'" in err
    code, out, _ = call(
        "learn", tmp_path / "a.csv", "--model", tmp_path / "m", "--numbers", "size", "--text", "zip", "--json"
    )
    assert code == 0
    told = json.loads(out)["columns"]
    assert (told["numbers"], [*told["categories"], *told["texts"]], told["unused"]) == (["size"], ["zip"], ["note"])
    assert call("predict", tmp_path / "a.csv", "--model", tmp_path / "m")[0] == 0


def test_a_table_with_text_cannot_become_vw(call, tmp_path):
    (tmp_path / "a.csv").write_text(as_csv(tickets(5)))
    for format in ("vw", "lines", "svmlight"):
        code, _, err = call("convert", tmp_path / "a.csv", tmp_path / "b", "--to", format, "--label", "team")
        assert code == 1
        assert is_one_sentence(err)


def test_the_first_line_of_the_guide_is_what_the_command_says(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tickets.csv").write_text(as_csv(tickets(600)))
    err = call("learn", "tickets.csv", "--label", "team", "--model", "tickets.hinged")[2]
    guide = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert err in guide
    assert "\n".join((tmp_path / "tickets.csv").read_text().splitlines()[:4]) in guide


def test_objects_of_numbers_with_few_keys_in_common_are_sparse_features(call, tmp_path):
    rng = np.random.default_rng(0)
    words = [sorted(rng.choice(300, 5, replace=False).tolist()) for _ in range(200)]
    lines = [json.dumps({"y": "ab"[row[0] > 30], **{f"w{i}": 1 for i in row}}) for row in words]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    code, out, _ = call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m", "--json")
    assert (code, json.loads(out)["estimator"]) == (0, "TextClassifier")
    code, out, _ = call("predict", tmp_path / "a.jsonl", "--model", tmp_path / "m")
    assert code == 0
    assert call("predict", "-", "--model", tmp_path / "m", stdin=lines[7] + "\n")[1] == out.splitlines()[7] + "\n"
    assert call("explain", "--model", tmp_path / "m", lines[7])[0] == 0
    rows = [{"y": "a", "text": "it is so", "n": i, **({"rare": 1} if i == 3 else {})} for i in range(40)]
    (tmp_path / "b.jsonl").write_text(as_jsonl(rows))
    told = json.loads(call("learn", tmp_path / "b.jsonl", "--model", tmp_path / "n", "--json")[1])["columns"]
    assert (told["numbers"], told["unused"]) == (["n"], ["rare"])


def test_a_model_that_goes_on_or_is_judged_says_what_it_reads(call, tmp_path):
    X, y = numbers(40)
    (tmp_path / "a.csv").write_text(as_table(X, y))
    lines = [call("learn", tmp_path / "a.csv", "--model", tmp_path / "m")[2] for _ in range(2)]
    assert lines[0] == lines[1] == call("evaluate", tmp_path / "a.csv", "--model", tmp_path / "m")[2]
    assert lines[0].startswith("reading ")
