"""`hinged predict`, `evaluate`, `explain`, `inspect` and `convert`."""

import json
import re

import pytest
from tests.cli.conftest import is_one_sentence
from tests.cli.streams import examples, write_jsonl, write_sets, write_svmlight

import hinged


@pytest.fixture
def model(call, tmp_path):
    """A model of four folders."""
    call("learn", write_jsonl(tmp_path / "mail.jsonl", 200), "--model", tmp_path / "m.hinged")
    return tmp_path / "m.hinged"


@pytest.fixture
def ranker(call, tmp_path):
    """A model of sets of folders."""
    call("learn", write_sets(tmp_path / "sets.jsonl", 200), "--model", tmp_path / "r.hinged")
    return tmp_path / "r.hinged"


# ------------------------------------------------------------------ predict
def test_predictions_come_a_line_each_in_order(call, tmp_path, model):
    texts = [x for _, x in examples(30, seed=9)]
    code, out, err = call("predict", "--model", model, stdin="".join(json.dumps({"text": x}) + "\n" for x in texts))
    assert code == 0
    assert err == ""
    assert out.splitlines() == hinged.load(model).predict(texts).tolist()


def test_the_best_labels_come_with_their_scores(call, model):
    out = call("predict", "--model", model, "--top", "2", "--confidence", stdin='{"text": "the invoice"}')[1]
    best, first, other, second, sure = out.rstrip("\n").split("\t")
    ranking = hinged.load(model).rank_one("the invoice")
    assert [best, other] == ranking[:2]
    assert float(first) >= float(second)
    assert float(sure) == pytest.approx(hinged.load(model).confidence(["the invoice"])[0], abs=1e-3)


def test_predictions_as_json_lines(call, model):
    lines = '{"id": "x1", "text": "the invoice"}\n\n{"id": "x2", "text": "grandma"}\n'
    found = [json.loads(line) for line in call("predict", "-", "-m", model, "--json", stdin=lines)[1].splitlines()]
    assert [(one["line"], one["tag"]) for one in found] == [(1, "x1"), (3, "x2")]
    assert [one["label"] for one in found] == ["finance", "family"]
    assert all(len(one["ranking"]) == 4 for one in found)


def test_plain_text_is_read_a_line_each(call, model):
    assert call("predict", "-m", model, stdin="pay the invoice\ncake for grandma\n")[1] == "finance\nfamily\n"


def test_a_ranker_says_sets(call, ranker):
    out = call("predict", "-m", ranker, stdin='{"text": "invoice tax grandma cake"}\n{"text": "train hotel"}')[1]
    said = [set(line.split(",")) for line in out.splitlines()]
    assert said == hinged.load(ranker).predict(["invoice tax grandma cake", "train hotel"])


def test_columns_never_met_are_welcome(call, tmp_path):
    call("learn", write_svmlight(tmp_path / "a.svm", 80), "--model", tmp_path / "m.hinged")
    code, out, _ = call("predict", "-m", tmp_path / "m.hinged", stdin="1 1:1 7:1 900:3\n2:1 4:2\n")
    assert code == 0
    assert len(out.splitlines()) == 2


def test_a_model_of_fields_wants_those_fields(call, tmp_path):
    lines = [json.dumps({"folder": y, "subject": x, "body": "see above " + x}) for y, x in examples(80)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    call("learn", tmp_path / "a.jsonl", "--model", tmp_path / "m.hinged")
    out = call("predict", "-m", tmp_path / "m.hinged", "--top", "1", stdin='{"subject": "tax invoice"}')[1]
    assert out.startswith("finance\t")
    assert float(out.split("\t")[1]) != 0
    code, _, err = call("predict", "-m", tmp_path / "m.hinged", stdin='{"title": "tax invoice"}')
    assert code == 1
    assert "subject" in err
    code, _, err = call("explain", "-m", tmp_path / "m.hinged", "tax invoice")
    assert code == 1
    assert '{"body": "tax invoice"}' in err
    assert "subject:tax" in call("explain", "-m", tmp_path / "m.hinged", '{"subject": "tax invoice"}')[1]


# ------------------------------------------------------------------ evaluate
def test_test_then_train_counts_as_learning_does(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 150)
    learnt = json.loads(call("learn", path, "--model", tmp_path / "m.hinged", "--json")[1])
    judged = json.loads(call("evaluate", path, "--json")[1])
    assert (judged["mistakes"], judged["counted"]) == (learnt["mistakes"], learnt["counted"])
    assert judged["top"]["1"] == pytest.approx(judged["accuracy"])
    assert sum(entry["times"] for entry in judged["confusion"]) == judged["counted"]


def test_a_finished_model_is_judged_without_learning(call, tmp_path, model):
    path = write_jsonl(tmp_path / "new.jsonl", 100, seed=5)
    before = model.read_bytes()
    result = json.loads(call("evaluate", path, "--model", model, "--json")[1])
    labels, texts = zip(*examples(100, seed=5), strict=True)
    assert result["accuracy"] == pytest.approx(hinged.load(model).score(list(texts), list(labels)))
    assert model.read_bytes() == before


def test_a_share_is_held_out(call, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", 100)
    result = json.loads(call("evaluate", path, "--holdout", "0.25", "--passes", "2", "--json")[1])
    assert result["examples"] == result["counted"] == 25
    assert result["accuracy"] > 0.5


def test_the_table_names_labels_and_confusions(call, tmp_path):
    code, out, _ = call("evaluate", write_jsonl(tmp_path / "a.jsonl", 150))
    assert code == 0
    for word in ("precision", "recall", "F1", "support", "macro average", "finance", "taken for", "best 3"):
        assert word in out


def test_label_sets_get_ranking_metrics(call, tmp_path, ranker):
    path = write_sets(tmp_path / "new.jsonl", 60, seed=7)
    for more in ((), ("--model", ranker)):
        out = call("evaluate", path, *more)[1]
        assert all(word in out for word in ("average precision", "one-error", "ranking loss", "coverage"))
    result = json.loads(call("evaluate", path, "--model", ranker, "--json")[1])
    lines = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    score = hinged.load(ranker).score([line["text"] for line in lines], [line["topics"] for line in lines])
    assert result["ranking"]["average_precision"] == pytest.approx(score)


def test_the_report_opens_offline(call, tmp_path, model, ranker):
    for path, more in (("mail.jsonl", ()), ("mail.jsonl", ("-m", model)), ("sets.jsonl", ("-m", ranker))):
        code, out, _ = call("evaluate", tmp_path / path, *more, "--report", tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text("utf-8")
        assert code == 0
        assert "r.html" in out
        assert page.count("<svg") >= 4
        assert not re.search(r"""(?:src|href)\s*=\s*["']?https?:""", page)
        assert "<script" not in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--holdout", "1.5"), "--holdout"),
        (("--holdout", "0.2", "--model", "m.hinged"), "--model"),
        (("--passes", "2"), "--holdout"),
        (("--bound", "--holdout", "0.2"), "--bound is for a new learner that is judged while it learns"),
        (("--bound", "--model", "m.hinged"), "leave --model out"),
        (("--report", "nowhere/r.html"), "nowhere"),
        (("--model", "none.hinged"), "none.hinged"),
        (("--model", "mail.jsonl"), "mail.jsonl"),
        (("--model", "m.hinged", "--rule", "pa"), "rule"),
    ],
)
def test_what_cannot_be_judged_gets_one_sentence(call, tmp_path, monkeypatch, model, options, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("evaluate", "mail.jsonl", *options)
    assert code in (1, 2)
    assert out == ""
    assert said in err
    assert is_one_sentence(err)


@pytest.mark.parametrize("options", [(), ("--holdout", "0.5"), ("--model", "m.hinged")])
def test_examples_without_labels_cannot_be_judged(call, tmp_path, monkeypatch, model, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.jsonl").write_text('{"text": "who knows"}\n' * 3)
    code, out, err = call("evaluate", "new.jsonl", *options)
    assert code == 1
    assert out == ""
    assert "label" in err
    assert is_one_sentence(err)


@pytest.mark.parametrize("more", [(), ("--rule", "pa1", "--sharing", "multi", "--bits", "8")])
def test_a_bound_stands_beside_the_mistakes_as_the_stream_runs(call, tmp_path, more):
    path = write_jsonl(tmp_path / "a.jsonl", 150)
    result = json.loads(call("evaluate", path, "--bound", "--json", "--report", tmp_path / "r.html", *more)[1])
    bound = result["bound"]
    assert (bound["mistakes"], bound["examples"]) == (result["mistakes"], result["examples"])
    labels, texts = zip(*examples(150), strict=True)
    settings = {"rule": "pa1", "sharing": "multi", "features": None, "bits": 8} if more else {}
    seen = hinged.bounds.trace(hinged.TextClassifier(**settings), list(texts), list(labels), h=None)
    assert bound["theorem"] == seen.final.theorem
    assert bound["bound"] == pytest.approx(seen.final.mistakes)
    assert [moment["mistakes"] for moment in bound["moments"]] == seen.mistakes.tolist()
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "What is proven" in page
    assert all(f"<title>{name}: " in page for name in ("mistakes", "certificate", "bound"))
    out = call("evaluate", path, "--bound", *more)[1]
    assert f"at most {seen.final.mistakes:,.0f} by {seen.final.theorem}" in out
    assert "dual allows" in out
    assert ("LR eq. 2 needs" in out) == (seen.final.theorem == "LR eq. 2")


PLAIN = ("--C", "1", "--scaling", "none")  # the learners that the theorems speak of


def test_columns_and_label_sets_have_bounds_too(call, tmp_path):
    for path, rounds in ((write_svmlight(tmp_path / "a.svm", 80), 80), (write_sets(tmp_path / "s.jsonl", 60), 60)):
        bound = json.loads(call("evaluate", path, "--rule", "conproj", *PLAIN, "--bound", "--json")[1])["bound"]
        assert (bound["theorem"], bound["examples"], bound["note"]) == ("SP corollary 1", rounds, "")
        for moment in bound["moments"]:
            assert moment["mistakes"] <= moment["certified"] + 1e-9 <= moment["bound"] + 2e-9


def test_where_there_is_no_bound_a_sentence_says_why(call, tmp_path, monkeypatch):
    path = write_svmlight(tmp_path / "a.svm", 60)
    (tmp_path / "noise.svm").write_text("1 1:1\n2 1:2\n1 1:2\n2 1:1\n" * 5)
    out = call("evaluate", tmp_path / "noise.svm", "--bound", "--rule", "pa", *PLAIN)[1]
    assert "No bound: " in out
    assert "all constraints must be of one length" in out
    assert "No bound: no theorem of the papers covers" in call("evaluate", path, "--bound")[1]
    code, out, _ = call("evaluate", path, "--bound", "--class-weight", "1=2", "--report", tmp_path / "r.html")
    assert code == 0
    assert "No bound: the bounds speak of examples of equal weight" in out
    assert "No bound: the bounds speak" in (tmp_path / "r.html").read_text("utf-8")
    monkeypatch.setattr("hinged.bounds.watching.MOST_WORK", 400)
    assert "of the first 50 of 60 examples" in call("evaluate", path, "--bound", "--rule", "conproj", *PLAIN)[1]


def test_folders_are_labels(call, tmp_path):
    for number, (label, text) in enumerate(examples(40)):
        (tmp_path / "mail" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "mail" / label / f"{number}.txt").write_text(text)
    result = json.loads(call("evaluate", tmp_path / "mail", "--holdout", "0.25", "--json")[1])
    assert result["examples"] == 10
    assert {entry["label"] for entry in result["labels"]} <= {"finance", "family", "travel", "work"}


# ------------------------------------------------------------------ explain
def test_words_for_and_against_are_shown(call, model):
    code, out, _ = call("explain", "-m", model, "the invoice from grandma xyzzy")
    assert code == 0
    best = hinged.load(model).predict_one("the invoice from grandma xyzzy")
    assert out.startswith(best)
    assert "invoice" in out
    assert "never learnt: from, xyzzy" in out
    other = "family" if best != "family" else "finance"
    assert "behind" in call("explain", "-m", model, "the invoice from grandma", "--label", other)[1]


def test_shares_sum_to_the_score(call, model):
    reason = json.loads(call("explain", "-m", model, "--json", stdin="the invoice\tfor the train")[1])
    assert sum(entry["share"] for entry in reason["features"]) == pytest.approx(reason["score"], abs=1e-6)
    assert reason["rank"] == 1


def test_columns_and_named_features_are_explained(call, tmp_path):
    call("learn", write_svmlight(tmp_path / "a.svm", 80), "--model", tmp_path / "s.hinged")
    assert call("explain", "-m", tmp_path / "s.hinged", "1:1 2:0.5")[0] == 0
    (tmp_path / "a.vw").write_text("1 |f tax:2 the |g x\n2 |f cake the |g y\n" * 10)
    call("learn", tmp_path / "a.vw", "--model", tmp_path / "v.hinged")
    assert "f:tax" in call("explain", "-m", tmp_path / "v.hinged", "|f tax |g x")[1]


def test_names_of_features_are_shown_as_they_are(call, tmp_path):
    (tmp_path / "a.vw").write_text("work |f pre-tax\nhome |f e-mail\n" * 4)
    call("learn", tmp_path / "a.vw", "-m", tmp_path / "v.hinged")
    out = call("explain", "-m", tmp_path / "v.hinged", "|f pre-tax e-mail", "--label", "work")[1]
    assert "f:pre-tax" in out
    assert "f:e-mail" in out
    assert "−0." in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("  ",), "empty"),
        (("cake", "--label", "nobody"), "nobody"),
        (("{oops",), "JSON"),
        (("x", "--top", "0"), "--top"),
    ],
)
def test_what_cannot_be_explained_gets_one_sentence(call, model, arguments, said):
    code, _, err = call("explain", "-m", model, *arguments)
    assert code in (1, 2)
    assert said in err
    assert is_one_sentence(err)


# ------------------------------------------------------------------ inspect
def test_a_model_is_described(call, model):
    code, out, _ = call("inspect", model)
    assert code == 0
    for word in ("TextClassifier", "rounds", "mistakes", "certificate", "labels", "finance", "file version", "words"):
        assert word in out
    facts, learnt = json.loads(call("inspect", model, "--json")[1]), hinged.load(model)
    assert (facts["rounds"], facts["mistakes"], facts["updates"]) == (200, learnt.n_mistakes_, learnt.n_updates_)
    assert facts["certificate"] == learnt.dual_
    assert sum(entry["examples"] for entry in facts["labels"]) == 200
    assert facts["settings"]["words"] == [1, 1]


def test_settings_that_differ_from_the_defaults_are_named(call, tmp_path):
    path = write_svmlight(tmp_path / "a.svm", 20)
    call("learn", path, "--model", tmp_path / "m.hinged", "--rule", "pa2", "--C", "0.25")
    code, out, _ = call("inspect", tmp_path / "m.hinged")
    assert code == 0  # although examples of labels are not counted here
    assert "rule='pa2'" in out
    assert "C=0.25" in out
    assert "novel='learn'" in out  # always shown
    assert "columns" in out


def test_several_caps_are_learnt_from_a_file_and_described_without_a_certificate(call, tmp_path):
    path = write_svmlight(tmp_path / "a.svm", 20)
    learn = ("learn", path, "--model", tmp_path / "m.hinged", "--C")
    assert call(*learn, "auto", "--scaling", "standard")[0] == 0
    out = call("inspect", tmp_path / "m.hinged")[1]
    assert "C='auto'" in out
    assert "scaling='standard'" in out
    assert "none for these settings" in out
    code, _, err = call(*learn, "best")
    assert code != 0
    assert "--C is a number or auto; got 'best'" in err


def test_what_a_model_chose_is_shown(call, tmp_path):
    (tmp_path / "a.csv").write_text("label,a,b\n" + "x,2,5\ny,1,9\nx,3,4\ny,0.5,8\n" * 5)
    call("learn", tmp_path / "a.csv", "--model", tmp_path / "m.hinged", "--bias", "0.5", "--rule", "auto")
    out, facts = (
        call("inspect", tmp_path / "m.hinged")[1],
        json.loads(call("inspect", tmp_path / "m.hinged", "--json")[1]),
    )
    (chosen,) = (line for line in out.splitlines() if "chosen" in line)
    for word in (
        "rule='optimal'",
        "C=0.316 (",
        "3.16 (",
        "the mean weights (",
        "scaling='standard'",
        "normalize=False",
    ):
        assert word in chosen
    assert "bias" not in chosen  # it was given
    assert facts["rows"] == facts["features"], "the constant feature is no column"
    learnt = hinged.load(tmp_path / "m.hinged")
    assert facts["settled"]["C"] == list(learnt.settled_["C"])
    assert (facts["settled"]["bias"], facts["settled"]["average"]) == (0.5, "expert")
    assert facts["settled"]["experts"] == {str(cap): share for cap, share in learnt.experts_.items()}


def test_a_model_of_given_settings_chose_nothing(call, tmp_path):
    mail = write_jsonl(tmp_path / "mail.jsonl", 20)
    for given, chosen in (([], "chosen  features=Evidence()"), (["--features", "tfidf"], None)):
        call("learn", mail, "--model", tmp_path / "m.hinged", "--fresh", *given)
        out = call("inspect", tmp_path / "m.hinged")[1]
        assert chosen in out if chosen else "chosen" not in out


@pytest.mark.parametrize("name", ["none.hinged", "mail.jsonl", "."])
def test_what_is_no_model_gets_one_sentence(call, tmp_path, monkeypatch, model, name):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("inspect", name)
    assert code == 1
    assert out == ""
    assert is_one_sentence(err)


# ------------------------------------------------------------------ convert
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl.gz", "txt", "vw", "parquet"])
def test_a_converted_file_teaches_the_same(call, tmp_path, suffix):
    pytest.importorskip("pyarrow")
    path = write_jsonl(tmp_path / "a.jsonl", 60)
    code, _, err = call("convert", path, tmp_path / f"b.{suffix}")
    assert code == 0
    assert "60 examples" in err
    results = [
        json.loads(call("learn", name, "--model", tmp_path / f"{i}.hinged", "--json")[1])
        for i, name in enumerate((path, tmp_path / f"b.{suffix}"))
    ]
    if suffix != "vw":  # there a word that is repeated counts as often
        assert results[0]["mistakes"] == results[1]["mistakes"]
    assert results[0]["rounds"] == results[1]["rounds"]


def test_examples_can_be_piped_through(call, tmp_path):
    code, _, err = call("convert", "-", tmp_path / "b.csv", "--json", stdin='{"label": "a", "text": "x y"}\n')
    assert code == 0
    assert (tmp_path / "b.csv").read_text().splitlines()[1] == "a,x y"
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.jsonl", "a.jsonl"), "input itself"),
        (("a.jsonl", "b"), "format"),
        (("a.jsonl", "-"), "--to"),
        (("a.jsonl", "-", "--to", "csv", "--json"), "--json"),
        (("a.jsonl", "nowhere/b.csv"), "nowhere"),
        (("empty.jsonl", "b.csv"), "no examples"),
        (("a.jsonl", "b.svm"), ""),
    ],
)
def test_what_cannot_be_converted_gets_one_sentence(call, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", 3)
    (tmp_path / "empty.jsonl").write_text("")
    code, out, err = call("convert", *arguments)
    assert code in (1, 2)
    assert out == ""
    assert said in err
    assert is_one_sentence(err)
    assert not (tmp_path / "b.csv").exists()
