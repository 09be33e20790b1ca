"""`hinged learn`: the table, the model, going on, and what is refused."""

import gzip
import json

import pytest
from tests.cli.conftest import is_one_sentence
from tests.cli.streams import examples, write_jsonl, write_sets, write_svmlight

import hinged


def rows_of(out):
    """Numbers of the table: rounds → the other columns."""
    lines = [line.split() for line in out.split("\n\n")[0].splitlines()[1:]]
    return {int(cells[0].replace(",", "")): cells[1:] for cells in lines}


def test_a_row_comes_at_every_power_of_two_and_at_the_end(call, tmp_path):
    code, out, err = call("learn", write_jsonl(tmp_path / "a.jsonl", 100), "--model", tmp_path / "m.hinged")
    assert code == 0
    assert err == f"reading {tmp_path / 'a.jsonl'}: 1 column of text ('text'), by idf; label 'label'\n"
    assert list(rows_of(out)) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert "100 examples learnt" in out
    assert "m.hinged" in out


def test_the_counts_are_those_of_progressive_validation(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 300)
    out = call("learn", path, "--model", tmp_path / "m.hinged", "--json")[1]
    result = json.loads(out)
    labels, texts = zip(*examples(300), strict=True)
    model = hinged.TextClassifier()
    progress = hinged.evaluate.progressive(model, list(texts), list(labels))
    assert (result["mistakes"], result["updates"], result["labels"]) == (progress.mistakes, progress.updates, 4)
    assert result["rounds"] - result["counted"] == progress.novel
    for row in result["rows"]:
        assert row["mistakes"] == progress.curve[row["rounds"] - 1]
    assert result["certificate"] == pytest.approx(model.dual_)
    saved = hinged.load(tmp_path / "m.hinged")
    assert saved.rank_one("the invoice on friday") == model.rank_one("the invoice on friday")


def test_the_example_that_brings_a_label_is_learnt_or_skipped(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 120)
    labels, texts = zip(*examples(120), strict=True)
    for novel in ("learn", "skip"):
        told = json.loads(call("learn", path, "--model", tmp_path / novel, "--novel", novel, "--json")[1])
        judged = json.loads(call("evaluate", path, "--novel", novel, "--json")[1])
        expected = hinged.evaluate.progressive(hinged.TextClassifier(novel=novel), list(texts), list(labels))
        counts = {name: getattr(expected, name) for name in ("mistakes", "updates", "novel")}
        assert {name: told[name] for name in counts} == counts
        assert judged["mistakes"] == expected.mistakes
        assert hinged.load(tmp_path / novel).novel == novel
    code, _, err = call("learn", path, "--model", tmp_path / "skip", "--novel", "learn")
    assert code != 0
    assert "novel" in err
    assert call("learn", path, "--model", tmp_path / "x", "--novel", "maybe")[0] != 0
    assert call("learn", path, "--model", tmp_path / "x", "--novel", "skip", "--task", "regress")[0] != 0


def test_learning_goes_on_where_it_stopped(call, tmp_path):
    first, second = write_jsonl(tmp_path / "a.jsonl", 60, 1), write_jsonl(tmp_path / "b.jsonl", 60, 2)
    assert call("learn", first, second, "--model", tmp_path / "once.hinged")[0] == 0
    assert call("learn", first, "--model", tmp_path / "twice.hinged")[0] == 0
    code, out, _ = call("learn", second, "--model", tmp_path / "twice.hinged")
    assert code == 0
    assert "120 rounds in all" in out
    once, twice = (hinged.load(tmp_path / f"{name}.hinged") for name in ("once", "twice"))
    assert (once.coef_ == twice.coef_).all()


def test_a_fresh_model_forgets_the_old_one(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 20)
    for _ in range(2):
        call("learn", path, "--model", tmp_path / "m.hinged", "--fresh")
    assert hinged.load(tmp_path / "m.hinged").n_rounds_ == 20


def test_settings_reach_the_learner(call, tmp_path):
    options = (
        *("--rule", "pa2", "--C", "0.5", "--sharing", "single", "--features", "tfidf", "--margin", "2"),
        *("--scaling", "none", "--no-normalize", "--average", "--bias", "0.1", "--class-weight", "work=2"),
        *("--words", "1-2", "--chars", "3-4", "--values", "log", "--no-lowercase", "--bits", "12", "--seed", "7"),
        *("--signed", "--class-weight", "a=b=0.5", "--field-limit", "0"),
    )
    assert call("learn", write_jsonl(tmp_path / "a.jsonl", 20), "--model", tmp_path / "m.hinged", *options)[0] == 0
    learnt = hinged.load(tmp_path / "m.hinged").get_params()
    expected = {
        **{"rule": "pa2", "C": 0.5, "sharing": "single", "features": "tfidf", "margin": 2.0, "scaling": None},
        **{"normalize": False, "average": True, "bias": 0.1, "class_weight": {"work": 2.0, "a=b": 0.5}},
        **{
            "words": (1, 2),
            "chars": (3, 4),
            "values": "log",
            "lowercase": False,
            "field_limit": None,
            "bits": 12,
            "seed": 7,
            "signed": True,
        },
    }
    assert {name: learnt[name] for name in expected} == expected


def test_the_same_settings_do_not_contradict_and_others_do(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 20)
    call("learn", path, "--model", tmp_path / "m.hinged", "--words", "1-2", "--rule", "pa1")
    assert call("learn", path, "--model", tmp_path / "m.hinged", "--words", "1-2", "--rule", "pa1")[0] == 0
    for option in (("--words", "1-1"), ("--rule", "pa"), ("--task", "rank")):
        code, out, err = call("learn", path, "--model", tmp_path / "m.hinged", *option)
        assert code == 1
        assert out == ""
        assert is_one_sentence(err)
        assert "m.hinged was learnt" in err


def test_lists_of_labels_are_ranked(call, tmp_path):
    path = write_sets(tmp_path / "a.jsonl", 80)
    assert call("learn", path, "--model", tmp_path / "m.hinged")[0] == 0
    assert isinstance(hinged.load(tmp_path / "m.hinged"), hinged.TextRanker)
    code, _, err = call("learn", path, "--model", tmp_path / "c.hinged", "--task", "classify")
    assert code == 1
    assert "labels; expected one" in err


def test_numbered_columns_are_learnt_and_may_widen(call, tmp_path):
    path = write_svmlight(tmp_path / "a.svm", 60)
    (tmp_path / "b.svm").write_text("1 500:1\n2 2:1\n")
    assert call("learn", path, tmp_path / "b.svm", "--model", tmp_path / "m.hinged")[0] == 0
    model = hinged.load(tmp_path / "m.hinged")
    assert isinstance(model, hinged.Classifier)
    assert (model.n_features_in_, model.n_rounds_) == (501, 62)


def test_passes_and_averages(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 50)
    out = call("learn", path, "--model", tmp_path / "m.hinged", "--passes", "3", "--average", "--json")[1]
    result = json.loads(out)
    assert [one["rounds"] for one in result["passes"]] == [50, 50, 50]
    assert result["rounds"] == result["total_rounds"] == 150
    assert result["passes"][2]["mistakes"] <= result["passes"][0]["mistakes"]


def test_standard_input_and_packed_files(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 40)
    text = (tmp_path / "a.jsonl").read_text()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    call("learn", path, "--model", tmp_path / "plain.hinged")
    assert call("learn", tmp_path / "a.jsonl.gz", "--model", tmp_path / "gz.hinged")[0] == 0
    assert call("learn", "-", "--model", tmp_path / "dash.hinged", stdin=text)[0] == 0
    assert call("learn", "--model", tmp_path / "piped.hinged", stdin=text)[0] == 0
    plain = hinged.load(tmp_path / "plain.hinged").coef_
    for name in ("gz", "dash", "piped"):
        assert (hinged.load(tmp_path / f"{name}.hinged").coef_ == plain).all()


def test_columns_chosen_once_are_remembered(call, tmp_path):
    lines = [json.dumps({"where": y, "a": x, "b": "noise of no use"}) for y, x in examples(60)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    options = "--text", "a", "--label", "where"
    assert call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged", *options)[0] == 0
    words = hinged.load(tmp_path / "m.hinged").text_space_.get_feature_names_out().tolist()
    assert "b:noise" not in words
    assert "a:invoice" in words
    assert call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged")[0] == 0
    assert hinged.load(tmp_path / "m.hinged").text_space_.get_feature_names_out().tolist() == words
    assert json.loads(call("evaluate", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged", "--json")[1])["examples"]
    hidden = [json.dumps({"a": x}) for _, x in examples(60)]
    (tmp_path / "new.jsonl").write_text("\n".join(hidden))
    assert call("predict", tmp_path / "new.jsonl", "--model", tmp_path / "m.hinged")[0] == 0


def test_a_malformed_line_is_named_and_nothing_is_written(call, tmp_path):
    path = tmp_path / "a.jsonl"
    write_jsonl(path, 3)
    path.write_text(path.read_text() + "{oops\n" + path.read_text())
    code, _, err = call("learn", path, "--model", tmp_path / "m.hinged")
    assert code == 1
    assert is_one_sentence(err)
    assert f"{path}:4:" in err
    assert "--on-error skip" in err
    assert not (tmp_path / "m.hinged").exists()
    code, out, err = call("learn", path, "--model", tmp_path / "m.hinged", "--on-error", "skip")
    assert code == 0
    assert "6 examples" in out
    assert "skipped 1 malformed line" in err
    assert f"{path}:4:" in err


def test_what_was_learnt_from_a_pipe_before_a_malformed_line_is_saved(call, tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "m.hinged"
    write_jsonl(path, 6)
    good = path.read_text()
    code, _, err = call("learn", "--model", model, stdin=good + "{oops\n" + good)
    assert code == 1
    assert is_one_sentence(err.replace(err[: err.index("hinged: ")], ""))
    assert "stdin:7:" in err
    assert f"The model {model} was saved with 6 examples learnt before it" in err
    assert hinged.load(model).n_rounds_ == 6
    code, _, err = call("learn", "--model", model, stdin="{oops\n" + good)  # nothing learnt: the model stays as it was
    assert code == 1
    assert f"The model {model} was not written" in err
    assert hinged.load(model).n_rounds_ == 6
    code, _, err = call("learn", "--model", model, stdin=good + "{oops\n")
    assert "saved with 6 examples" in err
    assert hinged.load(model).n_rounds_ == 12


def test_examples_without_a_label_are_left_out_and_counted(call, tmp_path):
    path = tmp_path / "a.jsonl"
    write_jsonl(path, 5)
    path.write_text(path.read_text() + '{"text": "who knows"}\n' * 2)
    code, out, _ = call("learn", path, "--model", tmp_path / "m.hinged")
    assert code == 0
    assert "2 examples without a label" in out
    assert (
        json.loads(call("learn", path, "--model", tmp_path / "m.hinged", "--passes", "3", "--json")[1])["unlabelled"]
        == 2
    )
    path.write_text('{"text": "who knows"}\n')
    code, _, err = call("learn", path, "--model", tmp_path / "n.hinged")
    assert code == 1
    assert "--label" in err
    assert is_one_sentence(err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learn", "none.jsonl", "--model", "m.hinged"), "none.jsonl"),
        (("learn", "empty.jsonl", "--model", "m.hinged"), "no examples"),
        (("learn", "a.jsonl", "--model", "nowhere/m.hinged"), "nowhere"),
        (("learn", "a.jsonl", "--model", "."), "is a folder"),
        (("learn", "a.jsonl", "--model", "a.jsonl"), "a.jsonl"),
        (("learn", "a.jsonl", "--model", "a.jsonl", "--fresh"), "a.jsonl"),
        (("learn", "a.jsonl"), "--model"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--format", "xml"), "xml"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--format", "parquet"), "a.jsonl"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--format", "folders"), "not a folder"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--words", "many"), "--words"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--class-weight", "spam"), "--class-weight"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--C", "-1"), "C must be"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--bits", "99"), "bits"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--passes", "0"), "--passes"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--sharing", "multi", "--features", "tfidf"), "features"),
        (("learn", "a.jsonl", "--model", "m.hinged", "--text", "nothing"), "nothing"),
        (("learn", "a.svm", "--model", "m.hinged", "--words", "1-2"), "words"),
        (("learn", "a.svm", "--model", "m.hinged", "--label", "y"), "label"),
        (("learn", "-", "-", "--model", "m.hinged"), "once"),
        (("learn", "-", "--model", "m.hinged", "--passes", "2"), "--passes 2"),
    ],
)
def test_what_cannot_be_learnt_gets_one_sentence(call, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", 3)
    write_svmlight(tmp_path / "a.svm", 3)
    (tmp_path / "empty.jsonl").write_text("")
    before = (tmp_path / "a.jsonl").read_bytes()
    code, _, err = call(*arguments, stdin="")
    assert code in (1, 2)
    assert said in err
    assert is_one_sentence(err)
    assert (tmp_path / "a.jsonl").read_bytes() == before
    assert not (tmp_path / "m.hinged").exists()


def test_text_and_columns_do_not_mix(call, tmp_path):
    words, columns = write_jsonl(tmp_path / "a.jsonl", 10), write_svmlight(tmp_path / "a.svm", 10)
    call("learn", words, "--model", tmp_path / "words.hinged")
    call("learn", columns, "--model", tmp_path / "columns.hinged")
    for path, model in ((words, "columns"), (columns, "words")):
        for command in ("learn", "predict", "evaluate"):
            code, _, err = call(command, path, "--model", tmp_path / f"{model}.hinged")
            assert code == 1
            assert "was taught" in err
            assert is_one_sentence(err)


def test_labels_in_one_cell_are_told_apart_again(call, tmp_path):
    (tmp_path / "a.csv").write_text("label,text\n" + '"a,b",x y\nb,y z\na,x x\n' * 5)
    (tmp_path / "heavy.csv").write_text("label,text,w\na,x y,3\nb,y z,0\n")
    assert call("learn", tmp_path / "a.csv", "--model", tmp_path / "m.hinged", "--label-sep", ",")[0] == 0
    assert call("learn", tmp_path / "a.csv", "--model", tmp_path / "m.hinged")[0] == 0
    assert hinged.load(tmp_path / "m.hinged").classes_.tolist() == ["a", "b"]
    assert call("learn", tmp_path / "heavy.csv", "--model", tmp_path / "w.hinged", "--weight", "w")[0] == 0
    assert hinged.load(tmp_path / "w.hinged").classes_.tolist() == ["a"]


def test_the_columns_that_were_taken_are_told(call, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,Folder,kind,subject\n" + "1,work,NORM,pay the bill\n2,home,NORM,eat the cake\n" * 3)
    code, _, err = call("learn", path, "--model", tmp_path / "m.hinged", "--label", "folder")
    assert code == 0
    assert err == f"reading {path}: 1 category ('kind'); 1 column of text ('subject'), by idf; label 'Folder'\n"
    told = json.loads(call("evaluate", path, "--json")[1])
    assert (told["columns"]["label"], told["columns"]["texts"]) == ("Folder", ["subject"])
    assert (told["columns"]["categories"], told["settings"]["scaling"]) == (["kind"], "idf")


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_missing_column_is_told_with_those_there_are(call, tmp_path, name, on_error):
    rows = {"a.csv": "kind,subject\nx,pay the bill\n", "a.jsonl": '{"kind": "x", "subject": "pay the bill"}\n'}
    (tmp_path / name).write_text(rows[name])
    arguments = (tmp_path / name, "--model", tmp_path / "m.hinged", "--label", "folder", "--on-error", on_error)
    code, _, err = call("learn", *arguments)
    assert code == 1
    assert is_one_sentence(err.replace(". It has", "; it has"))
    assert "'kind', 'subject'" in err
    assert "--on-error" not in err


def test_a_model_without_a_feature_is_not_written(call, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": "x", "text": ""}\n{"label": "y", "text": "!"}\n')
    code, _, err = call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged")
    assert code == 1
    assert is_one_sentence(err)
    assert "--text" in err
    assert not (tmp_path / "m.hinged").exists()


def test_tagged_sentences_are_recognised(call, tmp_path):
    (tmp_path / "a.txt").write_text("He PRP B-NP\nsat VBD B-VP\n\nShe PRP B-NP\nran VBD B-VP\n")
    code, _, err = call("learn", tmp_path / "a.txt", "--model", tmp_path / "m.hinged")
    assert code == 1
    assert "--task sequence" in err


def test_sets_that_nobody_can_get_wrong_are_told_apart(call, tmp_path):
    sets = [["a"], ["b"], [], ["a"], [], ["a", "b"]]
    rows = [json.dumps({"labels": labels, "text": f"word{i} x"}) for i, labels in enumerate(sets)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    told = json.loads(call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged", "--json")[1])
    assert (told["rounds"], told["novel"], told["unopposed"], told["counted"]) == (6, 2, 3, 1)
