"""Tagging from the command line: learn CoNLL files, tag what is piped in, judge."""

import json
import random

import pytest
from tests.cli.conftest import is_one_sentence

import hinged
from hinged.text import window

WORDS = {"DET": ["the", "a"], "NOUN": ["cat", "dog", "saw"], "VERB": ["sat", "saw", "ran"], "NAME": ["Ann", "Bob"]}
PATTERNS = ("DET NOUN VERB", "NAME VERB DET NOUN", "DET NOUN VERB NAME", "NAME VERB")


def sentences(n, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        tags = rng.choice(PATTERNS).split()
        yield [rng.choice(WORDS[tag]) for tag in tags], tags


def write_conll(path, n, seed=0):
    text = "\n\n".join(
        "\n".join(f"{w} {len(w)} {t}" for w, t in zip(words, tags, strict=True)) for words, tags in sentences(n, seed)
    )
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def learnt(call, tmp_path):
    path, model = write_conll(tmp_path / "train.conll", 120), tmp_path / "m.hinged"
    code, out, err = call("learn", path, "--task", "sequence", "--model", model, "--passes", 2, "--json")
    assert (code, err) == (0, "")
    return model, json.loads(out)


def test_the_counts_are_those_of_progressive_validation(learnt):
    _, result = learnt
    model = hinged.SequenceTagger(average=True)
    X = [window([(w, str(len(w))) for w in words]) for words, _ in sentences(120)]
    first, second = (hinged.evaluate.progressive(model, X, [tags for _, tags in sentences(120)]) for _ in range(2))
    assert [one["mistakes"] for one in result["passes"]] == [first.mistakes, second.mistakes]
    assert (result["estimator"], result["labels"], result["rounds"]) == ("SequenceTagger", 4, 240)
    assert result["certificate"] == pytest.approx(model.dual_)


def test_tagging_what_is_piped_in(call, learnt):
    model, _ = learnt
    code, out, err = call("predict", "--model", model, stdin="the 3\nsaw 3\nran 3\n\nAnn 3\nsaw 3\n")
    assert (code, err) == (0, "")
    assert out == "the 3 DET\nsaw 3 NOUN\nran 3 VERB\n\nAnn 3 NAME\nsaw 3 VERB\n\n"
    assert call("predict", "--model", model, stdin="Ann 3 X\nsaw 3 X\n")[1] == "Ann 3 NAME\nsaw 3 VERB\n\n"  # tagged
    out = call("predict", "--model", model, "--top", 2, "--json", stdin="Bob 3\nran 3\n")[1]
    said = json.loads(out)
    assert (said["words"], said["tags"], len(said["ranking"])) == (["Bob", "ran"], ["NAME", "VERB"], 2)
    out = call("predict", "--model", model, "--top", 2, stdin="Bob 3\nran 3\n")[1]
    assert out.split("\n")[0].startswith("Bob 3 NAME ")


def test_going_on_and_judging(call, learnt, tmp_path):
    model, _ = learnt
    path = write_conll(tmp_path / "test.conll", 60, seed=1)
    judged = json.loads(call("evaluate", path, "--model", model, "--json")[1])
    assert judged["accuracy"] > 0.95
    assert (judged["sentences"], judged["span_f1"]) == (60, None)
    assert {row["label"] for row in judged["labels"]} == set(WORDS)
    assert "tokens right" in call("evaluate", path, "--task", "sequence")[1]
    assert "kept from learning" in call("evaluate", path, "--task", "sequence", "--holdout", 0.25, "--passes", 2)[1]
    out = call("learn", path, "--model", model)[1]
    assert "60 examples learnt" in out
    assert "SequenceTagger, 300 rounds in all" in out


@pytest.mark.parametrize(("arguments", "stdin", "says"), [
    (["learn", "--task", "sequence", "--sharing", "hybrid"], "a b\n", "sharing is no setting for the task sequence"),
    (["learn", "--task", "sequence", "--format", "csv"], "a b\n", "does not apply to tagged sentences"),
    (["learn", "--task", "sequence"], "a b\nc\n", "stdin:2: the line has 1 columns"),
    (["learn", "--task", "sequence"], "\n\n", "holds no examples"),
])  # fmt: skip
def test_what_cannot_be_learnt_is_named(call, tmp_path, arguments, stdin, says):
    code, _, err = call(*arguments, "--model", tmp_path / "m.hinged", stdin=stdin)
    assert code in (1, 2)
    assert says in err
    assert is_one_sentence(err)
    assert not (tmp_path / "m.hinged").exists()


@pytest.mark.parametrize(("arguments", "stdin", "says"), [
    (["predict"], "word\n", "taught 2 columns a token"),
    (["predict", "--confidence"], "a b\n", "a tagger has none"),
    (["evaluate", "--report", "x.html"], "a 1 DET\n", "leave it out for sequences"),
    (["learn", "--task", "classify"], "a 1 DET\n", "was learnt to sequence"),
    (["learn"], "a DET\n", "has 1 columns and a tag"),
])  # fmt: skip
def test_what_a_tagger_is_not_for_is_named(call, learnt, arguments, stdin, says):
    code, _, err = call(*arguments, "--model", learnt[0], stdin=stdin)
    assert code in (1, 2)
    assert says in err
    assert is_one_sentence(err)


def test_a_tagger_is_explained_word_by_word_and_inspected(call, learnt):
    model, _ = learnt
    code, out, err = call("explain", "--model", model, "the/3 cat/3 ran/3")
    assert (code, err, len(out.splitlines())) == (0, "", 3)
    assert out.split()[:2] == ["the", "DET"]
    said = json.loads(call("explain", "--model", model, "--json", "the/3 cat/3 ran/3")[1])
    assert [one["tag"] for one in said] == ["DET", "NOUN", "VERB"]
    assert sum(f["share"] for f in said[0]["features"]) > 0
    for wrong in ("the cat", " "):
        code, _, err = call("explain", "--model", model, wrong)
        assert code == 1
        assert is_one_sentence(err)
    assert call("explain", "--model", model, "--label", "DET", "the/3")[0] == 2
    facts = json.loads(call("inspect", model, "--json")[1])
    assert (facts["estimator"], len(facts["labels"])) == ("SequenceTagger", 4)
    assert facts["features"] > 20
